// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Shared memory in which the ranks of a node tell each other, without messages, that they sleep and how much memory
// their values take.
//
// MPI cannot wake a process: a rank that waits for a message has to poll. A rank that has polled in vain for a long
// time sleeps instead, and a rank of its node that sends it something rings its bell. It finds messages from other
// nodes when its sleep is over. A bell is a word, a futex, that is 1 while its rank sleeps. A sender reads the word,
// which costs almost nothing as long as it does not change.
#pragma once

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "collectives.hpp"
#include "communicator.hpp"
#include "manta/base/containers.hpp"
#include "manta/base/file.hpp"

namespace manta::net {

class node_board {
 public:
  /// Collective. Where processes may not share memory there is no board, and each sleep lasts its full time.
  node_board(const communicator& comm, const topology& nodes);
  ~node_board() {
    if (places_ != nullptr) munmap(places_, bytes_);
  }
  node_board(const node_board&) = delete;
  node_board& operator=(const node_board&) = delete;

  /// The place where a rank of this node reports how many bytes it holds; null: there is none.
  std::atomic<std::uint64_t>* held_by(int rank) const {
    const int at = places_ == nullptr ? -1 : place_of_[static_cast<std::size_t>(rank)];
    return at < 0 ? nullptr : &places_[at].held;
  }

  /// Whether this rank has a bell.
  bool is_shared() const { return places_ != nullptr; }
  /// Whether every other rank can ring this rank's bell.
  bool all_ring() const { return all_ring_; }

  /// Rings the bell of a rank, after something was sent to it.
  void ring(int rank) {
    if (places_ == nullptr) return;
    const int at = place_of_[static_cast<std::size_t>(rank)];
    if (at < 0) return;
    place& theirs = places_[at];
    if (theirs.asleep.load(std::memory_order_relaxed) == 0) [[likely]]
      return;
    if (theirs.asleep.exchange(0, std::memory_order_relaxed) != 0) futex(theirs, FUTEX_WAKE, INT_MAX, nullptr);
  }

  /// Sleeps until the bell rings, or for that time. Any thread of the rank may call it, after a poll that found
  /// nothing. The first sleep after a ring is short: a sender may have read the bell too early, and its message has
  /// arrived by the next poll.
  void sleep(std::int64_t ns) {
    if (places_ == nullptr) return nap(ns);
    constexpr std::int64_t enough_to_be_seen = 50'000;
    place& mine = places_[mine_];
    if (mine.asleep.exchange(1, std::memory_order_relaxed) == 0) ns = std::min(ns, enough_to_be_seen);
    const timespec length = as_timespec(ns);
    futex(mine, FUTEX_WAIT, 1, &length);
  }

 private:
  /// The part of the board that belongs to one rank.
  struct place {
    alignas(64) std::atomic<std::uint32_t> asleep;
    alignas(64) std::atomic<std::uint64_t> held;
  };
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);

  static timespec as_timespec(std::int64_t ns) { return {ns / 1'000'000'000, ns % 1'000'000'000}; }
  static void nap(std::int64_t ns) {
    const timespec length = as_timespec(ns);
    nanosleep(&length, nullptr);
  }
  static void futex(place& b, int what, int value, const timespec* length) {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&b.asleep), what, value, length, nullptr, 0);
  }

  place* places_ = nullptr;
  std::size_t bytes_ = 0;
  base::array<int> place_of_;  // the place of each rank; -1: it has none, or is on another node
  int mine_ = 0;
  bool all_ring_ = false;
};

inline node_board::node_board(const communicator& comm, const topology& nodes)
    : place_of_(static_cast<std::size_t>(comm.size())) {
  const int me = comm.rank();
  int first = me, count = 0;
  for (int r = 0; r < comm.size(); ++r) {
    if (nodes.node_of(r) != nodes.node()) continue;
    first = std::min(first, r);
    mine_ = r == me ? count : mine_;
    ++count;
  }
  bytes_ = static_cast<std::size_t>(count) * sizeof(place);

  // The first rank of each node makes the memory, and the other ranks open it through that process.
  struct offer {
    std::uint64_t identity;
    int process, descriptor;
  } mine{};
  base::file memory;
  if (first == me && count > 1) {
    memory = base::file::of_memory(bytes_);
    mine = {memory.identity(), getpid(), memory.get()};
  }
  const std::vector<std::string> offers = all_gather(
      comm.get(), mine.identity != 0 ? std::string(reinterpret_cast<const char*>(&mine), sizeof mine) : std::string());
  const std::string& made = offers[static_cast<std::size_t>(first)];
  if (made.size() == sizeof(offer)) {
    offer theirs;
    std::memcpy(&theirs, made.data(), sizeof theirs);
    if (first != me) memory = base::file::of_process(theirs.process, theirs.descriptor, -1, O_RDWR);
    void* const mapped = memory.is_open() && memory.identity() == theirs.identity
                             ? mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0)
                             : MAP_FAILED;
    if (mapped != MAP_FAILED) places_ = static_cast<place*>(mapped);
  }

  const std::vector<std::string> who =
      all_gather(comm.get(), places_ != nullptr ? "y" : "");  // afterwards no rank needs that process
  all_ring_ = places_ != nullptr;
  for (int r = 0, next = 0; r < comm.size(); ++r) {
    const auto i = static_cast<std::size_t>(r);
    const bool here = nodes.node_of(r) == nodes.node();
    place_of_[i] = here && !who[i].empty() ? next : -1;
    next += here;
    all_ring_ = all_ring_ && place_of_[i] >= 0;
  }
}

}  // namespace manta::net
