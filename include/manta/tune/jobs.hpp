// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What waits to begin: trials for a free place, and those that go on from a checkpoint that is on its way. Part of the
// conductor.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "manta/tune/course.hpp"

namespace manta::tune::detail {

class jobs {
 public:
  /// A job for the place where its trial is already.
  struct held {
    std::size_t place;
    job what;
  };

  /// A trial was told to save: its checkpoint is on its way, until it has come, or never will.
  void await(trial_number t) { awaited_.insert(t); }
  void await_no_more(trial_number t) { awaited_.erase(t); }
  bool awaits(trial_number t) const { return awaited_.contains(t); }

  bool has_ready() const { return !ready_.empty(); }
  void add(job j) { ready_.push_back(std::move(j)); }
  /// Takes the first job that suits and can begin. What waits for a checkpoint is put aside.
  template <class Suits>
  std::optional<job> take(Suits&& suits) {
    for (;;) {
      const auto next = std::find_if(ready_.begin(), ready_.end(), suits);
      if (next == ready_.end()) return std::nullopt;
      job j = std::move(*next);
      ready_.erase(next);
      if (!j.from || !awaits(*j.from)) return j;
      deferred_.push_back(std::move(j));
    }
  }
  /// Keeps a job for its place until the checkpoint has come.
  void hold(std::size_t place, job j) { held_.push_back({place, std::move(j)}); }
  /// Makes jobs ready whose checkpoint is awaited no more, and takes those that were held.
  std::vector<held> release() {
    std::vector<held> free;
    move_unless(deferred_, ready_, [&](const job& j) { return awaits(*j.from); });
    move_unless(held_, free, [&](const held& h) { return awaits(*h.what.from); });
    return free;
  }

 private:
  template <class T, class Waits>
  static void move_unless(std::vector<T>& from, std::vector<T>& to, Waits&& waits) {
    const auto free = std::stable_partition(from.begin(), from.end(), waits);
    std::move(free, from.end(), std::back_inserter(to));
    from.erase(free, from.end());
  }

  std::vector<job> ready_, deferred_;
  std::vector<held> held_;
  std::set<trial_number> awaited_;
};

}  // namespace manta::tune::detail
