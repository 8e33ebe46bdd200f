// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Where the configurations of new trials come from: first those of .first, then those of the searcher. In a finite
// space no configuration is given out twice while others have not been given out.
#pragma once

#include <optional>
#include <vector>

#include "manta/tune/experiment.hpp"
#include "manta/tune/points.hpp"
#include "manta/tune/ranking.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/stop_reason.hpp"

namespace manta::tune::detail {

/// How the configuration of a trial was found. The journal holds it, so that a continuation asks the searcher as often.
struct origin {
  bool is_first = false;    ///< It is one of .first.
  bool is_instead = false;  ///< It stands for what the searcher gave, which had been given out before.
  bool is_again = false;    ///< All of a finite space have been given out, and this one is the first to come again.
  std::size_t asks = 1;     ///< So often the searcher was asked.
};

class proposals {
 public:
  /// Throws if a configuration of .first does not fit the space.
  MANTA_DECL void begin(const space& where, const experiment& e);
  /// The largest possible number of trials.
  MANTA_DECL std::size_t limit(std::size_t trials);
  const any_searcher& used_searcher() const { return searcher_; }
  /// Why there are no more, for people.
  MANTA_DECL const char* why_no_more();
  /// A line for people about .known; empty if there was nothing.
  const std::string& learned() const { return learned_; }

  /// The configuration of a new trial; nothing if there are no more.
  MANTA_DECL std::optional<config> next(trial_number t, stop_reason& stop, origin& from);
  /// Repeats what `next` did for a trial that the journal has. The trial was given `said`.
  MANTA_DECL void repeat(trial_number t, const config& said, const origin& from, stop_reason& stop);
  /// The trial begins with it.
  MANTA_DECL void given(const config& c);

  /// Tells the searcher the report of a trial.
  MANTA_DECL void reported(trial_number t, double at, double loss, stop_reason& stop);
  MANTA_DECL void ended(const trial_record& r, stop_reason& stop);

 private:
  /// Tells the searcher what is known from elsewhere.
  void learn(const space& where, const std::vector<known_result>& known, const ranking& by);

  any_searcher searcher_;
  std::uint64_t seed_ = 0;
  std::vector<config> first_;   ///< .first, completed
  std::size_t from_first_ = 0;  ///< the number of them that have been given out
  points points_;               ///< points of a finite space: those that have been given out
  bool only_new_ = false;       ///< .stop_all has nothing_new()
  std::string learned_;
};

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/proposals.ipp"
#endif
