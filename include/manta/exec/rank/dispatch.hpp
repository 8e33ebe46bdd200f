// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The way of a message from its kind to the function that handles it: a table
// which is made when the program is compiled, and which has each kind once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "manta/exec/rank/messages.hpp"

namespace manta::exec {

/// A message that has arrived.
struct arrival {
  rank_id from;
  const std::byte* data;
  std::size_t bytes;

  /// Takes the struct off the front. What follows it is left in `data` and `bytes`.
  template <class Message>
  Message read() {
    Message m;
    std::memcpy(&m, data, sizeof m);
    data += sizeof m;
    bytes -= sizeof m;
    return m;
  }
  /// What is left, as text.
  std::string text() const { return {reinterpret_cast<const char*>(data), bytes}; }
};

template <class Rank>
class dispatch_table {
 public:
  /// `handle(rank, arrival)` handles the messages of a kind; it is a lambda without captures. In a constant expression,
  /// the compiler refuses a second handler for a kind.
  template <class Handle>
  constexpr void set(message kind, Handle) {
    const auto at = static_cast<std::size_t>(kind);
    if (is_set_[at]) throw "two handlers for one kind";
    is_set_[at] = true;
    entries_[at] = [](Rank& rank, rank_id from, const std::byte* data, std::size_t bytes) {
      arrival m{from, data, bytes};
      Handle{}(rank, m);
    };
  }
  /// Does each kind have its handler?
  constexpr bool is_complete() const {
    for (const bool each : is_set_) {
      if (!each) return false;
    }
    return true;
  }
  void operator()(message kind, Rank& rank, rank_id from, const std::byte* data, std::size_t bytes) const {
    entries_[static_cast<std::size_t>(kind)](rank, from, data, bytes);
  }

 private:
  using entry = void (*)(Rank& rank, rank_id from, const std::byte* data, std::size_t bytes);  // four registers

  entry entries_[message_kinds] = {};
  bool is_set_[message_kinds] = {};  // g++ 12 compares functions with nullptr in no constant under -fsanitize=undefined
};

}  // namespace manta::exec
