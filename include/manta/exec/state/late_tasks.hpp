// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Tasks that could start and are not started, because they would not end before
// the run has to. This part learns how long functions take on this rank, and
// keeps the tasks that it is given; it starts and ends none.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "manta/base/text.hpp"
#include "manta/exec/rank/ids.hpp"
#include "manta/exec/state/departure.hpp"
#include "manta/graph/durations.hpp"
#include "manta/graph/node.hpp"

namespace manta::exec {

class late_tasks {
 public:
  static constexpr double short_ns = 1e7;  ///< shorter tasks always fit: some take less time than to look at the clock

  explicit late_tasks(graph::node_table& nodes) : late_(nodes) {}

  /// A task of this function has ended here, after `ns` nanoseconds.
  void learn(function_id function, std::uint64_t ns) { durations_.learn(function, ns); }
  /// How long the task of this node takes, in nanoseconds; below 0 if nobody knows.
  double expected(const graph::node& n) const { return durations_.expected(n); }
  /// Would the task, which is about to run here, take longer than what is left?
  bool is_too_long(const graph::node& n, double left_ns) const { return expected(n) > std::max(short_ns, left_ns); }

  /// Keeps a task that would take too long.
  void set_aside(graph::node& n) { late_.push_back(n); }
  bool empty() const { return late_.empty(); }
  std::uint32_t count() const { return static_cast<std::uint32_t>(late_.size()); }
  bool has(const graph::node& n) {
    return find([&](const graph::node& each) { return &each == &n; }) != nullptr;
  }
  /// The first task for which is(node) holds; null if there is none.
  template <class Is>
  graph::node* find(Is&& is) {
    return late_.find(is);
  }
  /// The task is kept no more.
  void remove(graph::node& n) { late_.remove(n); }
  /// Takes out the task that was set aside first.
  graph::node& take_first() { return late_.pop_front(); }

  /// Why the task is not started. `expected_ns`: what rank 0 expects of it; below 0 if it does not know.
  std::string explain(const graph::node& n, double expected_ns, double left_ns, const departure& end) const {
    const auto seconds = [](double ns) { return base::text("{} s", std::llround(ns * 1e-9)); };
    return "is not started: it takes about " + seconds(std::max(expected(n), expected_ns)) + ", and in " +
           seconds(left_ns) + " the run has to end: " + end.end_text();
  }

 private:
  graph::durations durations_;  // of what has run here; only if it is known when to leave
  graph::node_list late_;
};

}  // namespace manta::exec
