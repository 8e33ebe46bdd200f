// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the tests of all searchers that learn share.
#pragma once

#include <doctest/doctest.h>

#include "problems.hpp"

namespace manta::testing {

/// Whatever was asked before a kill is not asked again, and the search goes on as it would have: trials report at 1
/// and at 3, two run at any time, and one fails.
template <class Searcher>
void check_continues(const Searcher& s, const problem& p = branin_problem) {
  constexpr std::size_t trials = 40;
  const auto advance = [&](tune::any_searcher& searcher, std::size_t from, std::size_t to,
                           std::vector<tune::config>& asked, bool again) {
    for (std::size_t t = from; t < to; ++t) {
      if (again) searcher->again(t, asked[t]);
      else asked.push_back(*searcher->ask(t));
      if (t == 0) continue;
      const double loss = p.f(asked[t - 1]);
      searcher->report(t - 1, 1, loss + 1);
      searcher->report(t - 1, 3, loss);
      searcher->tell(t - 1, t == 7 ? std::nan("") : loss);
    }
  };
  std::vector<tune::config> undisturbed;
  tune::any_searcher one = s;
  one->begin(p.where, 5);
  advance(one, 0, trials, undisturbed, false);
  for (const std::size_t killed : {1U, 6U, 18U, 33U}) {
    CAPTURE(killed);
    std::vector<tune::config> asked(undisturbed.begin(), undisturbed.begin() + static_cast<std::ptrdiff_t>(killed));
    tune::any_searcher continued = s;
    continued->begin(p.where, 5);
    advance(continued, 0, killed, asked, true);
    advance(continued, killed, trials, asked, false);
    CHECK((asked == undisturbed));
  }
}

}  // namespace manta::testing
