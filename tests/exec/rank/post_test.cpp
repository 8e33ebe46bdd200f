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

#include "../../support/loopback_network.hpp"
#include "manta/exec/rank/dispatch.hpp"
#include "manta/exec/rank/post.hpp"

using manta::exec::arrival;
using manta::exec::index_message;
using manta::exec::membership;
using manta::exec::message;
using manta::exec::network;
using manta::exec::post;

namespace {

struct letter_from {
  std::uint32_t from;
  letter l;
};

/// All letters under way to this rank, in the order of each sender.
std::vector<letter_from> letters_to(block_world& world, std::uint32_t rank) {
  std::vector<letter_from> all;
  std::mt19937 random(1);
  while (world.deliver_one(random, [&](std::uint32_t to, std::uint32_t from, const letter& l) {
    CHECK(to == rank);
    all.push_back({from, l});
  }))
    continue;
  return all;
}

}  // namespace

TEST_CASE("rank 0 sends the same message to all others, and none to itself") {
  block_world world(3);
  network net({world, 0, 3});
  post p(net, 3);
  p.send_to_others(message::leave, index_message{7, 0}, "why", 3);
  std::vector<int> got(3);
  std::mt19937 random(1);
  while (world.deliver_one(random, [&](std::uint32_t to, std::uint32_t from, const letter& l) {
    ++got[to];
    CHECK(from == 0);
    CHECK(l.kind == message::leave);
    REQUIRE(l.bytes.size() == sizeof(index_message) + 3);
    CHECK(std::memcmp(l.bytes.data() + sizeof(index_message), "why", 3) == 0);
  }))
    continue;
  CHECK(got == std::vector<int>{0, 1, 1});
}

TEST_CASE("a message arrives with its struct and its tail, also at the sender itself") {
  block_world world(2);
  network net({world, 0, 2});
  post p(net, 2);
  for (const std::uint32_t to : {0u, 1u}) {
    p.send(to, message::name_gone, index_message{7, 9}, "a name", 6);
    const std::vector<letter_from> letters = letters_to(world, to);
    REQUIRE(letters.size() == 1);
    const letter& l = letters.front().l;
    CHECK(l.kind == message::name_gone);
    arrival m{letters.front().from, l.bytes.data(), l.bytes.size()};
    const auto header = m.read<index_message>();
    CHECK(header.index == 7);
    CHECK(header.home_rank == 9);
    CHECK(m.text() == "a name");
  }
}

TEST_CASE("a message may end shorter than it was begun") {
  block_world world(1);
  network net({world, 0, 1});
  post p(net, 1);
  std::memcpy(p.begin(0, message::data, 100), "abc", 3);
  p.commit(0, message::data, 3);
  CHECK(letters_to(world, 0).front().l.bytes.size() == 3);
}

TEST_CASE("housekeeping is not counted, and neither are the dead") {
  block_world world(3);
  network net({world, 0, 3});
  post p(net, 3);
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
  block_world world(ranks);
  std::deque<network> nets;
  std::deque<post> posts;
  for (std::uint32_t r = 0; r < ranks; ++r)
    posts.emplace_back(nets.emplace_back(network::origin{world, r, ranks}), ranks);
  std::uint64_t under_way = 0;
  for (int i = 0; i < 5'000; ++i) {
    const auto rank = static_cast<std::uint32_t>(draw() % ranks);
    if (draw() % 2 == 0) {
      const std::string tail(draw() % 40, 'x');
      posts[rank].send(static_cast<std::uint32_t>(draw() % ranks), message::want,
                       index_message{static_cast<std::uint32_t>(tail.size()), rank}, tail.data(), tail.size());
      ++under_way;
    } else {
      under_way -= world.deliver_one(draw, [&](std::uint32_t to, std::uint32_t from, const letter& l) {
        posts[to].note_received(from, l.kind);
        arrival m{from, l.bytes.data(), l.bytes.size()};
        const auto header = m.read<index_message>();
        CHECK(header.home_rank == from);
        CHECK(m.text() == std::string(header.index, 'x'));
      });
    }
    std::uint64_t sent = 0, received = 0;
    for (const post& p : posts) sent += p.sent(members), received += p.received(members);
    CHECK(sent - received == under_way);
  }
}
