// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A network of several ranks in this process, for parts that send by
// exec/rank/post.hpp. Letters from one rank to another keep their order; which pair
// of ranks is served next follows from a random number.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "manta/exec/rank/dispatch.hpp"
#include "manta/exec/rank/messages.hpp"

struct letter {
  manta::exec::message kind;
  std::vector<std::byte> bytes;
};

/// The letters under way between all pairs of ranks.
class loopback_world {
 public:
  explicit loopback_world(std::uint32_t size) : size_(size), channels_(std::size_t{size} * size) {}

  void put(std::uint32_t from, std::uint32_t to, letter m) { channel(from, to).push_back(std::move(m)); }
  /// Letters from one rank to another stay under way until others are held, or none.
  void hold(std::uint32_t from, std::uint32_t to) { held_ = std::size_t{from} * size_ + to; }
  /// The rank `from` has died: the last letters of a channel, as many as the number says, never left.
  void lose_some(std::uint32_t from, std::uint32_t to, std::uint64_t number) {
    auto& letters = channel(from, to);
    letters.resize(letters.size() - number % (letters.size() + 1));
  }
  /// Has any message not been delivered yet?
  bool has_letters() const {
    return std::any_of(channels_.begin(), channels_.end(), [](const auto& each) { return !each.empty(); });
  }
  void hold_none() { held_ = nothing; }
  /// Takes the oldest letter of one pair of ranks, and calls receive(to, from, letter). False if there is none.
  template <class Random, class Receive>
  bool deliver_one(Random& random, Receive&& receive) {
    std::vector<std::size_t> filled;
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      if (!channels_[i].empty() && i != held_) filled.push_back(i);
    }
    if (filled.empty()) return false;
    const std::size_t at = filled[random() % filled.size()];
    const letter m = std::move(channels_[at].front());
    channels_[at].pop_front();
    receive(static_cast<std::uint32_t>(at % size_), static_cast<std::uint32_t>(at / size_), m);
    return true;
  }

 private:
  std::deque<letter>& channel(std::uint32_t from, std::uint32_t to) {
    return channels_[std::size_t{from} * size_ + to];
  }

  static constexpr std::size_t nothing = ~std::size_t{0};

  std::uint32_t size_;
  std::size_t held_ = nothing;
  std::vector<std::deque<letter>> channels_;  // by sender, then by receiver
};

/// The number of nodes that live on all these ranks, each of which has its own graph.
template <class Ranks>
std::size_t live_nodes(const Ranks& ranks) {
  std::size_t all = 0;
  for (const auto& r : ranks) all += r->graph.nodes.live();
  return all;
}

/// One rank's end of it.
struct loopback {
  std::uint32_t own;
  loopback_world& world;
  letter open{};
  int to_open = -1;

  std::byte* begin(int to, std::uint8_t kind, std::size_t max_bytes) {
    CHECK(to_open == -1);
    to_open = to;
    open = {static_cast<manta::exec::message>(kind), std::vector<std::byte>(max_bytes)};
    return open.bytes.data();
  }
  void commit(int to, std::size_t bytes) {
    CHECK(to == to_open);
    REQUIRE(bytes <= open.bytes.size());
    open.bytes.resize(bytes);
    world.put(own, static_cast<std::uint32_t>(to), std::move(open));
    to_open = -1;
  }
};

/// Hands a letter about references to the part for them. False: it is about something else.
template <class References>
bool receive_reference(References& refs, std::uint32_t from, const letter& l) {
  using namespace manta::exec;
  arrival m{from, l.bytes.data(), l.bytes.size()};
  switch (l.kind) {
    case message::drop: refs.on_drop(from, m.read<drop_message>()); break;
    case message::borrow: refs.on_borrow(from, m.read<borrow_message>()); break;
    case message::claim: refs.on_claim(from, m.read<index_message>()); break;
    case message::lend: refs.on_lend(from, m.read<lend_message>()); break;
    case message::granted: refs.on_granted(m.read<index_message>()); break;
    case message::release: refs.on_release(from, m.read<index_message>()); break;
    case message::released: refs.on_released(m.read<index_message>()); break;
    case message::repaid: refs.on_repaid(m.read<index_message>()); break;
    default: return false;
  }
  return true;
}
