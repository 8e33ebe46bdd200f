// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Schedules of the learning rate: values that give, for the number of a step or an epoch, the factor by which the rate
// is multiplied. Whether they count steps or epochs is up to the caller.
//
//   const nn::schedule s = nn::warm_up(100, nn::cosine(10000));
//   optimizer.rate(1e-3 * s(step));
#pragma once

#include <cereal/types/vector.hpp>
#include <cstdint>
#include <vector>

#include "manta/nn/source.hpp"

namespace manta::nn {

/// Any of the schedules below: plain numbers that can be sent and saved. By itself it is 1 at all times.
class schedule {
 public:
  enum class kind { constant, step, cosine, one_cycle };

  schedule() = default;
  schedule(kind k, double length, double a, double b) : kind_(k), length_(length), a_(a), b_(b) {}

  /// The factor at `time`, which counts from 0 and may lie between two steps.
  [[nodiscard]] MANTA_DECL double operator()(double time) const;

  /// As this schedule, but begins after `length` in which the factor rises from 1 / length to 1, linearly.
  [[nodiscard]] MANTA_DECL schedule after_warm_up(double length) const;

  bool operator==(const schedule&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(kind_, length_, a_, b_, warm_up_);
  }

 private:
  kind kind_ = kind::constant;
  double length_ = 1, a_ = 1, b_ = 1, warm_up_ = 0;
};

/// Multiplied by `factor` every so often: PyTorch's StepLR.
MANTA_DECL schedule step_decay(double every, double factor = 0.1);
/// From 1 to `least` along half a cosine, and `least` from then on (Loshchilov, Hutter, 2017, without restarts).
MANTA_DECL schedule cosine(double length, double least = 0);
/// From 1 / `divisor` up to 1 in the part `rise` of the length, then down to 1 / (divisor * 1e4), both along half
/// cosines: PyTorch's OneCycleLR (Smith, Topin, 2018). The optimiser's rate is the largest one.
MANTA_DECL schedule one_cycle(double length, double rise = 0.3, double divisor = 25);
/// Rises to 1 in `length`, and then follows `rest`.
MANTA_DECL schedule warm_up(double length, const schedule& rest = {});

}  // namespace manta::nn

#ifndef MANTA_COMPILED
#include "manta/nn/schedule.ipp"
#endif
