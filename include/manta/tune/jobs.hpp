// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What waits to begin: trials for a free place, and those that go on from a checkpoint that is on its way. Part
// of the conductor.
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
  /// Takes the first job that suits and can begin. What has to wait for a checkpoint is put aside.
  template <class Suits>
  std::optional<job> take(Suits&& suits) {
    for (;;) {
      const auto next = std::find_if(ready_.begin(), ready_.end(), suits);
      if (next == ready_.end()) return std::nullopt;
      job j = std::move(*next);
      ready_.erase(next);
      if (!has_to_wait(j)) return j;
      deferred_.push_back(std::move(j));
    }
  }
  /// Keeps a job for its place until the checkpoint has come.
  void hold(std::size_t place, job j) { held_.push_back({place, std::move(j)}); }
  /// Makes jobs ready that need not wait any more, in their order, and takes those that were held.
  std::vector<held> release() {
    for (job& j : std::exchange(deferred_, {})) (has_to_wait(j) ? deferred_ : ready_).push_back(std::move(j));
    std::vector<held> free;
    const auto is_free = [&](const held& h) { return !awaits(*h.what.from); };
    std::copy_if(held_.begin(), held_.end(), std::back_inserter(free), is_free);
    std::erase_if(held_, is_free);
    return free;
  }

 private:
  /// A job waits for the checkpoint that it goes on from. It waits for its own trial's, too: that comes from the place
  /// where the trial was before, and must not replace a later one. And it waits for jobs before it that go on from its
  /// trial, until they have begun: these take the checkpoint that is there now.
  bool has_to_wait(const job& j) const {
    if (!j.from) return false;
    return awaits(*j.from) || awaits(j.trial) ||
           std::any_of(deferred_.begin(), deferred_.end(),
                       [&](const job& before) { return before.trial != j.trial && before.from == j.trial; });
  }

  std::vector<job> ready_, deferred_;
  std::vector<held> held_;
  std::set<trial_number> awaited_;
};

}  // namespace manta::tune::detail
