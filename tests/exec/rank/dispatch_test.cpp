// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/rank/dispatch.hpp: each kind of message reaches the handler that was set for
// it, with the message as it came, and a table says what it lacks.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "manta/exec/rank/dispatch.hpp"

using manta::exec::arrival;
using manta::exec::dispatch_table;
using manta::exec::message;
using manta::exec::message_kinds;

namespace {

struct fake_rank {
  std::uint32_t from = 0, index = 0;
  std::string rest;
  int handled = 0;
};

template <std::size_t kind>
constexpr void set_one(dispatch_table<fake_rank>& table) {
  table.set(static_cast<message>(kind), [](fake_rank& r, arrival&) { r.handled = static_cast<int>(kind); });
}

template <std::size_t... kinds>
constexpr dispatch_table<fake_rank> table_of(std::index_sequence<kinds...>) {
  dispatch_table<fake_rank> table;
  (set_one<kinds>(table), ...);
  return table;
}

}  // namespace

TEST_CASE("each kind has its own handler") {
  static constexpr auto all = table_of(std::make_index_sequence<message_kinds>());
  static_assert(all.is_complete());
  static_assert(!table_of(std::make_index_sequence<message_kinds - 1>()).is_complete());
  fake_rank r;
  for (std::size_t kind = 0; kind < message_kinds; ++kind) {
    all(static_cast<message>(kind), r, 0, nullptr, 0);
    CHECK(r.handled == static_cast<int>(kind));
  }
}

TEST_CASE("the last kind is the last of the table") {
  CHECK(static_cast<std::size_t>(message::stuck) + 1 == message_kinds);
}

TEST_CASE("a second handler for a kind is refused") {
  dispatch_table<fake_rank> table;
  table.set(message::want, [](fake_rank&, arrival&) {});
  CHECK_THROWS(table.set(message::want, [](fake_rank&, arrival&) {}));
}

TEST_CASE("a handler takes the struct off the front and finds what follows") {
  dispatch_table<fake_rank> table;
  table.set(message::name_gone, [](fake_rank& r, arrival& m) {
    r.from = m.from;
    r.index = m.read<manta::exec::index_message>().index;
    r.rest = m.text();
  });
  std::string bytes(sizeof(manta::exec::index_message), '\0');
  bytes[0] = 7;
  bytes += "a name";
  fake_rank r;
  table(message::name_gone, r, 3, reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
  CHECK(r.from == 3);
  CHECK(r.index == 7);
  CHECK(r.rest == "a name");
}
