// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What would make a run faster, or safer. Each rule has a threshold that is rarely reached by chance: advice that is
// wrong once is not read again. README.md beside this file lists the rules.
#pragma once

#include <string>

#include "manta/base/vector.hpp"
#include "manta/report/statistics.hpp"

namespace manta::report {

struct advice {
  std::string rule;    ///< the name of the rule, for programs that read it
  std::string what;    ///< a sentence: what was found
  std::string remedy;  ///< a sentence: what helps
  /// The part of the time of the working ranks that is concerned. For a rule about bytes: the part of the bytes times
  /// the part of the time that ranks spent with manta's work and with waiting for values, but at least `least_share`.
  double share = 0;
};

/// Advice for a smaller part of the time is not given.
inline constexpr double least_share = 0.05;
/// A shorter run gets no advice about time, most of which it has spent to start.
inline constexpr double least_seconds_of_advice = 1;
/// More pieces of advice are not given.
inline constexpr std::size_t most_advice = 5;

/// What would help, the largest share first.
MANTA_DECL base::vector<advice> advice_for(const statistics& s);

}  // namespace manta::report

#ifndef MANTA_COMPILED
#include "manta/report/advice.ipp"
#endif
