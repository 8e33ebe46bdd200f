// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/rank/post.hpp: a message arrives as it was sent, struct and tail, at any rank
// and at the sender itself, and all but housekeeping is counted. The network is
// a loopback of several ranks in this process.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "manta/exec/rank/dispatch.hpp"
#include "manta/exec/rank/post.hpp"

using manta::exec::arrival;
using manta::exec::index_message;
using manta::exec::membership;
using manta::exec::message;
using manta::exec::post;

namespace {

struct letter {
  std::uint32_t from;
  message kind;
  std::vector<std::byte> bytes;
};

/// One rank's end of the loopback.
struct loopback {
  std::uint32_t own;
  std::vector<std::deque<letter>>& inboxes;  // by receiver
  letter open{};
  int to_open = -1;

  std::byte* begin(int to, std::uint8_t kind, std::size_t max_bytes) {
    CHECK(to_open == -1);
    to_open = to;
    open = {own, static_cast<message>(kind), std::vector<std::byte>(max_bytes)};
    return open.bytes.data();
  }
  void commit(int to, std::size_t bytes) {
    CHECK(to == to_open);
    REQUIRE(bytes <= open.bytes.size());
    open.bytes.resize(bytes);
    inboxes[static_cast<std::size_t>(to)].push_back(open);
    to_open = -1;
  }
};

}  // namespace

TEST_CASE("rank 0 sends the same message to all others, and none to itself") {
  std::vector<std::deque<letter>> inboxes(3);
  loopback net{0, inboxes};
  post<loopback> p(net, 3);
  p.send_to_others(message::leave, index_message{7, 0}, "why", 3);
  CHECK(inboxes[0].empty());
  for (const std::size_t r : {1U, 2U}) {
    REQUIRE(inboxes[r].size() == 1);
    CHECK(inboxes[r][0].kind == message::leave);
    CHECK(inboxes[r][0].bytes.size() == sizeof(index_message) + 3);
    CHECK(std::memcmp(inboxes[r][0].bytes.data() + sizeof(index_message), "why", 3) == 0);
  }
}

TEST_CASE("a message arrives with its struct and its tail, also at the sender itself") {
  std::vector<std::deque<letter>> inboxes(2);
  loopback net{0, inboxes};
  post<loopback> p(net, 2);
  for (const std::uint32_t to : {0u, 1u}) {
    p.send(to, message::name_gone, index_message{7, 9}, "a name", 6);
    REQUIRE(inboxes[to].size() == 1);
    const letter& l = inboxes[to].front();
    CHECK(l.kind == message::name_gone);
    arrival m{l.from, l.bytes.data(), l.bytes.size()};
    const auto header = m.read<index_message>();
    CHECK(header.index == 7);
    CHECK(header.home_rank == 9);
    CHECK(m.text() == "a name");
  }
}

TEST_CASE("a message may end shorter than it was begun") {
  std::vector<std::deque<letter>> inboxes(1);
  loopback net{0, inboxes};
  post<loopback> p(net, 1);
  std::memcpy(p.begin(0, message::data, 100), "abc", 3);
  p.commit(0, message::data, 3);
  CHECK(inboxes[0].front().bytes.size() == 3);
}

TEST_CASE("housekeeping is not counted, and neither are the dead") {
  std::vector<std::deque<letter>> inboxes(3);
  loopback net{0, inboxes};
  post<loopback> p(net, 3);
  membership members(3);
  for (const std::uint32_t to : {0u, 1u, 2u}) p.send(to, message::drop, index_message{});
  p.send(1, manta::exec::first_housekeeping, index_message{});
  p.note_received(2, message::drop);
  p.note_received(2, message::stuck);
  CHECK(p.sent(members) == 3);
  CHECK(p.received(members) == 1);
  members.note_death(2, {});
  CHECK(p.sent(members) == 2);
  CHECK(p.received(members) == 0);
}

TEST_CASE("random messages between ranks: when all have been delivered, as many have come as were sent") {
  const char* const given = std::getenv("MANTA_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  MESSAGE("post: MANTA_TEST_SEED=" << seed);
  std::mt19937_64 draw(seed);
  constexpr std::uint32_t ranks = 4;
  const membership members(ranks);
  std::vector<std::deque<letter>> inboxes(ranks);
  std::vector<loopback> nets;
  for (std::uint32_t r = 0; r < ranks; ++r) nets.push_back({r, inboxes});
  std::vector<post<loopback>> posts;
  for (loopback& net : nets) posts.emplace_back(net, ranks);
  const auto in_all = [&](auto count) {
    std::uint64_t sum = 0;
    for (const post<loopback>& p : posts) sum += count(p);
    return sum;
  };
  const auto sent = [&] { return in_all([&](const post<loopback>& p) { return p.sent(members); }); };
  const auto received = [&] { return in_all([&](const post<loopback>& p) { return p.received(members); }); };
  const auto under_way = [&] {
    std::size_t count = 0;
    for (const auto& inbox : inboxes) count += inbox.size();
    return count;
  };
  for (int i = 0; i < 5'000; ++i) {
    const auto rank = static_cast<std::uint32_t>(draw() % ranks);
    if (draw() % 2 == 0) {
      const std::string tail(draw() % 40, 'x');
      posts[rank].send(static_cast<std::uint32_t>(draw() % ranks), message::want,
                       index_message{static_cast<std::uint32_t>(tail.size()), rank}, tail.data(), tail.size());
    } else if (!inboxes[rank].empty()) {
      const letter l = inboxes[rank].front();
      inboxes[rank].pop_front();
      posts[rank].note_received(l.from, l.kind);
      arrival m{l.from, l.bytes.data(), l.bytes.size()};
      const auto header = m.read<index_message>();
      CHECK(header.home_rank == l.from);
      CHECK(m.text() == std::string(header.index, 'x'));
    }
    CHECK(sent() - received() == under_way());
  }
}
