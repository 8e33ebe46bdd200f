// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Rank 0: tasks that are to be sent ahead of their inputs to a rank which has no
// room for them yet.
//
// This part keeps the lists, by rank; who sends is the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "manta/base/containers.hpp"
#include "manta/exec/rank/ids.hpp"

namespace manta::exec {

class waiting_ahead {
 public:
  explicit waiting_ahead(std::uint32_t size) : size_(size) {}

  bool empty() const { return ranks_.empty(); }
  /// The task waits for room on the rank `to`.
  void add(rank_id to, const task_place& t) {
    if (queues_.size() == 0) queues_ = base::array<queue>(size_);
    if (!std::exchange(queues_[to].listed, true)) ranks_.push_back(to);
    queues_[to].tasks.push_back(t);
  }
  /// send(to, task) for the tasks of each rank in their order, until it returns false: that rank has no room still. The
  /// function may add tasks, also for that rank.
  template <class Send>
  void send_on(Send&& send) {
    for (std::size_t i = ranks_.size(); i-- > 0;) {
      const std::uint32_t to = ranks_[i];
      base::ring<task_place>& waiting = queues_[to].tasks;
      while (!waiting.empty()) {
        const task_place next = waiting.front();
        if (!send(to, next)) break;
        waiting.pop_front();
      }
      if (!waiting.empty()) continue;
      queues_[to].listed = false;
      ranks_.remove_unordered(i);
    }
  }

 private:
  struct queue {
    base::ring<task_place> tasks;
    bool listed = false;  // the rank stands in ranks_
  };

  std::uint32_t size_;
  base::array<queue> queues_;        // by rank; empty until a task waits
  base::list<std::uint32_t> ranks_;  // those with tasks in their queues
};

}  // namespace manta::exec
