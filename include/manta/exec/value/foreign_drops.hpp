// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Handles that die where the engine must not be touched: on a thread of the
// program, or between runs. Their nodes are left here, and the rank's own thread
// releases them in the run that goes on or comes next.
#pragma once

#include <pthread.h>

#include <atomic>

#include "manta/base/containers.hpp"
#include "manta/graph/task_graph.hpp"

namespace manta::exec {

class foreign_drops {
 public:
  /// `wake(rank)` is called from the other thread, so that the rank looks here.
  foreign_drops(const graph::node_table& nodes, void (*wake)(void* rank), void* rank)
      : nodes_(nodes), wake_(wake), rank_(rank) {}
  foreign_drops(const foreign_drops&) = delete;
  foreign_drops& operator=(const foreign_drops&) = delete;

  /// From now on `leave` finds this rank.
  void open() {
    const locked all;
    all_.push_back(this);
  }
  /// Handles that die from now on do not reach this rank any more.
  void close() {
    const locked all;
    all_.remove(this);
  }
  /// From any thread: a handle of this node has died. Its rank is one of those of this process.
  static void leave(graph::node& n) {
    const locked all;
    for (foreign_drops* const each : all_) {
      if (all_.size() > 1 && !each->nodes_.owns(n)) continue;
      each->nodes_left_.push_back(&n);
      each->has_some_.store(true, std::memory_order_release);
      return each->wake_(each->rank_);
    }
  }

  bool empty() const { return !has_some_.load(std::memory_order_relaxed); }
  /// Takes out what was left.
  base::list<graph::node*> take() {
    base::list<graph::node*> taken;
    if (!has_some_.load(std::memory_order_acquire)) return taken;
    const locked all;
    taken.swap(nodes_left_);
    has_some_.store(false, std::memory_order_relaxed);
    return taken;
  }

 private:
  struct locked {
    locked() { pthread_mutex_lock(&mutex_); }
    ~locked() { pthread_mutex_unlock(&mutex_); }
    locked(const locked&) = delete;
    locked& operator=(const locked&) = delete;
  };

  static inline base::list<foreign_drops*> all_;  // of this process
  static inline pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;

  const graph::node_table& nodes_;
  void (*wake_)(void*);
  void* rank_;
  base::list<graph::node*> nodes_left_;
  std::atomic<bool> has_some_{false};
};

}  // namespace manta::exec
