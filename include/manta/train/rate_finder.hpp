// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A search for a good rate: steps with a rate that grows from step to step (Smith, 2017).
//
//   const train::rate_curve c = trainer.find_rate();
//   std::cout << "a good rate is " << c.suggested << std::endl;
//   trainer.rate(c.suggested);
#pragma once

#include <vector>

#include "manta/train/source.hpp"

namespace manta::train {

struct rate_search {
  double least = 1e-7, most = 10;  ///< rates of the first and the last step; those between grow by a factor
  int steps = 100;
  double stop = 4;  ///< end when the smoothed loss is this number of times the smallest one; 0: never
};

struct rate_curve {
  std::vector<double> rates;     ///< rates of the steps that were made
  std::vector<double> losses;    ///< losses of their batches
  std::vector<double> smoothed;  ///< means of the losses up to each step, in which a step counts 0.98 of the next one
  double suggested = 0;          ///< rate at which the smoothed loss falls most steeply, without the first ten steps
};

namespace detail {

class any_trainer;
MANTA_DECL rate_curve find_rate(any_trainer& trainer, const rate_search& search);
/// The rate in the middle of the steepest fall of a curve, of which the first steps and the last are left out.
MANTA_DECL double steepest_fall(const rate_curve& c);

}  // namespace detail

}  // namespace manta::train
