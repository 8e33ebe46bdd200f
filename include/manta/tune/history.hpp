// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What searchers that learn have in common: the configurations that were tried,
// those that have ended with their losses, and those that are under way.
#pragma once

#include <map>

#include "manta/tune/searcher.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

struct tried {
  config parameters;
  double loss = 0;
};

namespace detail {
/// Takes losses in the order of their age, and says which of them are used: the newest ones, three quarters of `most`,
/// and the best ones before those.
MANTA_DECL std::vector<bool> worth_keeping(const std::vector<double>& losses, std::size_t most);
}  // namespace detail

class history {
 public:
  void clear() { *this = history(); }
  void began(trial_number t, const config& c) { under_way_[t] = c; }
  /// A failed trial (NaN) has an infinite loss: as if forgotten, its surroundings would look unknown, and draw the
  /// searcher.
  MANTA_DECL void ended(trial_number t, double loss);
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
