// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The tree-structured Parzen estimator (Bergstra, Bardenet, Bengio, Kégl, NIPS
// 2011): one density of the parameters of good trials, one of the others; the
// next configuration is where their ratio is largest. Conditional parameters are
// learned from the trials that have them, spaces defined by running as well.
//
// With several objectives, the good trials are those of the front, and of those the ones count most that dominate
// much alone (Ozaki, Tanigaki, Watanabe, Onishi, GECCO 2020).
#pragma once

#include "manta/tune/history.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

class tpe {
 public:
  static constexpr bool is_distinct = true;
  struct options {
    std::size_t startup = 10;    ///< trials at random first
    std::size_t candidates = 8;  ///< drawn from the density of the good trials, for each parameter; more explore less
    bool multivariate = false;   ///< parameters are chosen together: those that only work together are found
    double good = 0.1;           ///< this share of the trials is good,
    std::size_t most_good = 25;  ///< but no more good trials than these
  };
  tpe() : tpe(options{}) {}
  MANTA_DECL explicit tpe(options o);

  MANTA_DECL void begin(const space& where, std::uint64_t seed);
  MANTA_DECL std::optional<config> ask(trial_number t);
  MANTA_DECL void again(trial_number t, const config& c);
  void add(trial_number t, const config& c) { history_.began(t, c); }
  void tell(trial_number t, const outcome& o) {
    history_.ended(t, o);
    // So that a suggestion costs the same after a hundred thousand trials: by their number, or by the square of it.
    history_.trim(options_.multivariate ? 300 : 1000);
  }

 private:
  config propose(random& r) const;

  options options_;
  space space_;
  std::uint64_t seed_ = 0, asked_ = 0;
  history history_;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/tpe.ipp"
#endif
