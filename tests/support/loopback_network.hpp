// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Several ranks in one process: the class `manta::exec::network` that stands in for MPI's (exec/rank/network.hpp). Letters
// from one rank to another keep their order; which pair of ranks is served next follows from a random number. A block is
// copied when both sides have named it. Who delivers, when, and to what, is the test's (whole_rank.hpp).
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "manta/exec/rank/dispatch.hpp"
#include "manta/exec/rank/messages.hpp"
#include "manta/net/block_sent.hpp"
#include "manta/net/teams.hpp"
#include "manta/net/traffic.hpp"

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

struct block_world : loopback_world {
  struct sent_block {
    std::uint32_t from, to;
    int tag;
    const void* data;
    std::size_t bytes;
    manta::net::completion sent;
  };
  struct wanted_block {
    std::uint32_t from, to;
    int tag;
    void* data;
    std::size_t bytes;
    std::uint64_t token;
  };

  /// `on_one_node` ranks stand on each node.
  explicit block_world(std::uint32_t size, std::uint32_t on_one_node = 1)
      : loopback_world(size), ranks_per_node(on_one_node) {}

  /// Copies the oldest block that both sides have named, and calls arrived(to, token). False if there is none.
  template <class Arrived>
  bool deliver_block(Arrived&& arrived) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      for (std::size_t k = 0; k < sent.size(); ++k) {
        const wanted_block w = wanted[i];
        const sent_block s = sent[k];
        if (w.from != s.from || w.to != s.to || w.tag != s.tag) continue;
        REQUIRE(w.bytes == s.bytes);
        std::memcpy(w.data, s.data, w.bytes);
        wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(i));
        sent.erase(sent.begin() + static_cast<std::ptrdiff_t>(k));
        s.sent.call(s.sent.argument);
        arrived(w.to, w.token);
        return true;
      }
    }
    return false;
  }

  std::uint32_t ranks_per_node;
  std::deque<sent_block> sent;
  std::deque<wanted_block> wanted;
};

namespace manta::exec {

/// One rank's end of it.
class network {
 public:
  struct origin {
    block_world& world;
    std::uint32_t number, size;
  };
  explicit network(const origin& from) : own_(from.number), size_(from.size), world_(from.world) {}
  network(const network&) = delete;
  network& operator=(const network&) = delete;

  /// Gangs without communicators: their members meet at once.
  struct teams {
    explicit teams(const network*) {}
    static bool makes_them_alone() { return false; }
    static bool is_revoked(MPI_Comm) { return false; }
    static MPI_Comm get(const base::list<std::uint32_t>&, std::uint64_t) { return MPI_COMM_WORLD; }
    static net::team_ranks* find(const base::list<std::uint32_t>&) { return nullptr; }
    static bool are_watched_with(std::uint32_t) { return false; }
  };
  const network* comm() const { return this; }
  /// No memory is shared.
  struct topology {
    static int ranks_on_node() { return 1; }
  };
  static network::topology topology() { return {}; }

  int rank() const { return static_cast<int>(own_); }
  int size() const { return static_cast<int>(size_); }
  int node_of(int rank) const { return rank / static_cast<int>(world_.ranks_per_node); }
  int node() const { return node_of(rank()); }
  static bool oversubscribed() { return true; }

  // --- letters

  std::byte* begin(int to, std::uint8_t kind, std::size_t max_bytes) {
    CHECK(to_open_ == -1);
    to_open_ = to;
    open_ = {static_cast<message>(kind), std::vector<std::byte>(max_bytes)};
    return open_.bytes.data();
  }
  void commit(int to, std::size_t bytes) {
    CHECK(to == to_open_);
    REQUIRE(bytes <= open_.bytes.size());
    open_.bytes.resize(bytes);
    world_.put(own_, static_cast<std::uint32_t>(to), std::move(open_));
    to_open_ = -1;
    ++traffic_.messages_sent;
  }
  static std::size_t queued_bytes() { return 0; }
  static std::size_t queued_bytes(int) { return 0; }
  static void pump(bool) {}
  const net::traffic& counters() const { return traffic_; }

  /// What happens elsewhere, and to this rank, while it looks; true if anything did. The test delivers the letters.
  std::function<bool()> at_poll;
  template <class OnMessage>
  bool poll(OnMessage&&) {
    return at_poll && at_poll();
  }
  /// A rank that sleeps is back at once.
  void sleep(std::int64_t ns) { slept_ns = ns; }
  static void wake() { ++wakes; }
  static inline std::atomic<int> wakes{0};  ///< of all ranks
  bool is_woken_by_all() const { return is_rung_by_all; }
  bool can_be_woken() const { return has_bell; }
  std::int64_t slept_ns = -1;                    ///< for how long it wanted to sleep last
  bool is_rung_by_all = true, has_bell = false;  ///< what a test says of the bells
  bool idle() const { return bulk_outstanding() == 0; }

  // --- blocks

  static int bulk_tags() { return 1000; }
  std::size_t bulk_outstanding() const {
    const auto is_ours = [this](const auto& block) { return block.from == own_ || block.to == own_; };
    return static_cast<std::size_t>(std::count_if(world_.sent.begin(), world_.sent.end(), is_ours) +
                                    std::count_if(world_.wanted.begin(), world_.wanted.end(), is_ours));
  }
  void send_bulk(int to, int tag, const void* data, std::size_t bytes, net::completion sent) {
    world_.sent.push_back({own_, static_cast<std::uint32_t>(to), tag, data, bytes, sent});
  }
  void receive_bulk(int from, int tag, void* data, std::size_t bytes, std::uint64_t token) {
    world_.wanted.push_back({static_cast<std::uint32_t>(from), own_, tag, data, bytes, token});
  }
  void forget_bulk(int from, int tag) {
    std::erase_if(world_.wanted, [&](const block_world::wanted_block& w) {
      return w.to == own_ && static_cast<int>(w.from) == from && w.tag == tag;
    });
  }
  template <class OnBulk>
  static bool poll_bulk(OnBulk&&) {
    return false;
  }
  /// lost(token) for the blocks that were to come from a rank that has died.
  template <class Lost>
  void abandon(int rank, Lost&& lost) {
    std::deque<block_world::wanted_block> kept, gone;
    for (const auto& w : world_.wanted) (w.to == own_ && static_cast<int>(w.from) == rank ? gone : kept).push_back(w);
    world_.wanted = kept;
    for (const auto& w : gone) lost(w.token);
  }

 private:
  std::uint32_t own_, size_;
  block_world& world_;
  letter open_{};
  int to_open_ = -1;
  net::traffic traffic_;
};

}  // namespace manta::exec
