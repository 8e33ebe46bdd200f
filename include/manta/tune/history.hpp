// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What searchers that learn have in common: the configurations that were tried,
// those that have ended with what they came to, and those that are under way.
#pragma once

#include <map>
#include <vector>

#include "manta/tune/outcome.hpp"
#include "manta/tune/searcher.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

struct tried {
  config parameters;
  outcome result;

  /// Infinite if the trial failed: as if forgotten, its surroundings would look unknown, and draw the searcher.
  double loss() const { return is_finite(result.loss) ? result.loss : infinity; }
};

namespace detail {
/// Takes losses in the order of their age, and says which of them are used: the newest ones, three quarters of `most`,
/// and the best ones before those.
MANTA_DECL std::vector<bool> worth_keeping(const std::vector<double>& losses, std::size_t most);

/// A trial with the loss by which it is compared with others.
struct compared {
  const tried* which;
  double loss;
};
/// The trials that can be compared, in the order of their ends. If a scheduler has stopped some, they are compared at
/// one time of training: the largest one that a share of all trials has reached. Those that were stopped before it are
/// left out: they do not tell what is good later, and as bad ones they would draw the searcher to what learns fast.
MANTA_DECL std::vector<compared> comparable(const std::vector<tried>& all);
/// The time of training at which trials are compared, where at least `fewest` of them are; infinite: at their ends.
MANTA_DECL double comparable_time(const std::vector<tried>& all, std::size_t fewest = 10);
/// The trials that have come to this time, with their losses there.
MANTA_DECL std::vector<compared> compared_at(const std::vector<tried>& all, double time);
/// These trials, best first. Those that keep the constraints come before those that break them, and failed ones come
/// last. Of several objectives, the front comes first, and what lies alone in it.
MANTA_DECL std::vector<const tried*> ranked(const std::vector<tried>& all);
}  // namespace detail

class history {
 public:
  void clear() { *this = history(); }
  void began(trial_number t, const config& c) { under_way_[t] = c; }
  MANTA_DECL void ended(trial_number t, const outcome& o);
  /// The ended trials, in the order of their ends.
  const std::vector<tried>& done() const { return done_; }
  /// The number of trials that are done and did not fail.
  std::size_t succeeded() const { return succeeded_; }
  /// Forgets what is not worth keeping, once a quarter more than `most` has come.
  MANTA_DECL void trim(std::size_t most);
  const std::map<trial_number, config>& under_way() const { return under_way_; }

 private:
  std::vector<tried> done_;
  std::size_t succeeded_ = 0;
  std::map<trial_number, config> under_way_;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/history.ipp"
#endif
