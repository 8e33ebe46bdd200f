// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A network of several ranks in this process, for parts that send by
// exec/rank/post.hpp. Letters from one rank to another keep their order; which pair
// of ranks is served next follows from a random number.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "manta/exec/rank/dispatch.hpp"
#include "manta/exec/rank/messages.hpp"

struct letter {
  manta::exec::message kind;
  std::vector<std::byte> bytes;
};

/// The letters under way between all pairs of ranks. What it takes grows with them, not with the number of pairs.
class loopback_world {
 public:
  /// Of one rank, since the world began.
  struct count {
    std::uint64_t sent = 0, received = 0, bytes_sent = 0;
  };

  explicit loopback_world(std::uint32_t size) : counts_(size) {}

  void put(std::uint32_t from, std::uint32_t to, letter m) {
    ++counts_[from].sent;
    counts_[from].bytes_sent += m.bytes.size();
    const auto [at, is_new] = channels_.try_emplace(key(from, to));
    if (is_new) {
      at->second.place = filled_.size();
      filled_.push_back(at->first);
    }
    at->second.letters.push_back(std::move(m));
  }
  const count& of(std::uint32_t rank) const { return counts_[rank]; }
  /// Letters from one rank to another stay under way until others are held, or none.
  void hold(std::uint32_t from, std::uint32_t to) { held_ = key(from, to); }
  /// The rank `from` has died: the last letters of a channel, as many as the number says, never left.
  void lose_some(std::uint32_t from, std::uint32_t to, std::uint64_t number) {
    const auto at = channels_.find(key(from, to));
    if (at == channels_.end()) return;
    auto& letters = at->second.letters;
    letters.resize(letters.size() - number % (letters.size() + 1));
    if (letters.empty()) forget(at);
  }
  /// Has any message not been delivered yet?
  bool has_letters() const { return !filled_.empty(); }
  void hold_none() { held_ = nothing; }
  /// Takes the oldest letter of one pair of ranks, and calls receive(to, from, letter). False if there is none.
  template <class Random, class Receive>
  bool deliver_one(Random& random, Receive&& receive) {
    const std::size_t held = channels_.count(held_);
    if (filled_.size() == held) return false;
    std::uint64_t chosen = filled_[random() % filled_.size()];
    while (chosen == held_) chosen = filled_[random() % filled_.size()];
    const auto at = channels_.find(chosen);
    const letter m = std::move(at->second.letters.front());
    at->second.letters.pop_front();
    if (at->second.letters.empty()) forget(at);
    const auto to = static_cast<std::uint32_t>(chosen);
    ++counts_[to].received;
    receive(to, static_cast<std::uint32_t>(chosen >> 32), m);
    return true;
  }

 private:
  struct channel {
    std::deque<letter> letters;
    std::size_t place = 0;  // in filled_
  };
  using channels = std::unordered_map<std::uint64_t, channel>;

  static std::uint64_t key(std::uint32_t from, std::uint32_t to) { return std::uint64_t{from} << 32 | to; }
  void forget(channels::iterator empty) {
    const std::size_t place = empty->second.place;
    filled_[place] = filled_.back();
    channels_.find(filled_[place])->second.place = place;
    filled_.pop_back();
    channels_.erase(empty);
  }

  static constexpr std::uint64_t nothing = ~std::uint64_t{0};

  std::uint64_t held_ = nothing;
  channels channels_;                  // by sender and receiver; only those with letters
  std::vector<std::uint64_t> filled_;  // their keys
  std::vector<count> counts_;          // by rank
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
