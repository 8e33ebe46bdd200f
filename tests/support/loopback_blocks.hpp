// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The loopback with nodes and with blocks, for parts that send large values. A
// block is copied when both sides have named it.
#pragma once

#include <algorithm>
#include <cstring>

#include "loopback.hpp"
#include "manta/net/block_sent.hpp"
#include "manta/net/teams.hpp"

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

/// One rank's end of it.
struct block_loopback : loopback {
  block_loopback(std::uint32_t number, block_world& all) : loopback{number, all}, blocks(all) {}

  /// Gangs without communicators: their members meet at once.
  struct teams {
    explicit teams(const block_loopback*) {}
    static bool makes_them_alone() { return false; }
    static bool is_revoked(MPI_Comm) { return false; }
    static MPI_Comm get(const manta::base::list<std::uint32_t>&, std::uint64_t) { return MPI_COMM_WORLD; }
    static manta::net::team_ranks* find(const manta::base::list<std::uint32_t>&) { return nullptr; }
    static bool are_watched_with(std::uint32_t) { return false; }
  };
  const block_loopback* comm() const { return this; }

  int node_of(int rank) const { return rank / static_cast<int>(blocks.ranks_per_node); }
  int node() const { return node_of(static_cast<int>(own)); }
  int bulk_tags() const { return 1000; }
  void pump(bool) {}
  // For loop.hpp, whose thread delivers what is under way itself: a rank that sleeps is back at once.
  void sleep(std::int64_t) {}
  bool is_woken_by_all() const { return true; }
  bool can_be_woken() const { return false; }
  bool oversubscribed() const { return true; }
  int size() const { return 2; }
  std::size_t queued_bytes() const { return 0; }
  std::size_t queued_bytes(int) const { return 0; }
  std::size_t bulk_outstanding() const {
    const auto is_ours = [this](const auto& block) { return block.from == own || block.to == own; };
    return static_cast<std::size_t>(std::count_if(blocks.sent.begin(), blocks.sent.end(), is_ours) +
                                    std::count_if(blocks.wanted.begin(), blocks.wanted.end(), is_ours));
  }
  void send_bulk(int to, int tag, const void* data, std::size_t bytes, manta::net::completion sent) {
    blocks.sent.push_back({own, static_cast<std::uint32_t>(to), tag, data, bytes, sent});
  }
  void receive_bulk(int from, int tag, void* data, std::size_t bytes, std::uint64_t token) {
    blocks.wanted.push_back({static_cast<std::uint32_t>(from), own, tag, data, bytes, token});
  }
  void forget_bulk(int from, int tag) {
    std::erase_if(blocks.wanted, [&](const block_world::wanted_block& w) {
      return w.to == own && static_cast<int>(w.from) == from && w.tag == tag;
    });
  }
  /// lost(token) for the blocks that were to come from a rank that has died.
  template <class Lost>
  void abandon(int rank, Lost&& lost) {
    std::deque<block_world::wanted_block> kept, gone;
    for (const auto& w : blocks.wanted) (w.to == own && static_cast<int>(w.from) == rank ? gone : kept).push_back(w);
    blocks.wanted = kept;
    for (const auto& w : gone) lost(w.token);
  }

  block_world& blocks;
};
