// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Schedules of the learning rate: values that give, for the number of a step or an epoch, the factor by which the rate
// is multiplied. Whether they count steps or epochs is up to the caller.
//
//   const nn::schedule s = nn::warm_up(100, nn::cosine(10000));
//   optimizer.rate(1e-3 * s(step));
//
// A plateau follows the loss instead of the time.
#pragma once

#include <array>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <vector>

#include "manta/nn/source.hpp"

namespace manta::nn {

/// Any of the schedules below: plain numbers that can be sent and saved. By itself it is 1 at all times.
class schedule {
 public:
  enum class kind { constant, step, cosine, one_cycle, polynomial, restarts, one_cycle_momentum };

  schedule() = default;
  schedule(kind k, double length, double a, double b, double rise = 0)
      : kind_(k), length_(length), a_(a), b_(b), rise_(rise) {}

  /// The factor at `time`, which counts from 0 and may lie between two steps.
  [[nodiscard]] MANTA_DECL double operator()(double time) const;

  /// As this schedule, but begins after `length` in which the factor rises from 1 / length to 1, linearly.
  [[nodiscard]] MANTA_DECL schedule after_warm_up(double length) const;

  bool operator==(const schedule&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(kind_, length_, a_, b_, warm_up_, rise_);
  }

 private:
  /// From the first value to the second in the part `rise` of the length, then to the third, along half cosines.
  [[nodiscard]] double one_cycle(double t, double rise, const std::array<double, 3>& values) const;

  kind kind_ = kind::constant;
  double length_ = 1, a_ = 1, b_ = 1, warm_up_ = 0, rise_ = 0;
};

/// Multiplied by `factor` every so often: PyTorch's StepLR.
MANTA_DECL schedule step_decay(double every, double factor = 0.1);
/// From 1 to `least` along half a cosine, and `least` from then on (Loshchilov, Hutter, 2017, without restarts).
MANTA_DECL schedule cosine(double length, double least = 0);
/// From 1 to `least` as (1 - t / length)^power, and `least` from then on: PyTorch's PolynomialLR, Keras'
/// PolynomialDecay. A power of 1 is a line.
MANTA_DECL schedule polynomial(double length, double power = 1, double least = 0);
/// From 1 to `least` along half a cosine in `first`, then again from 1, each time `growth` times as long as before:
/// PyTorch's CosineAnnealingWarmRestarts (Loshchilov, Hutter, 2017).
MANTA_DECL schedule cosine_restarts(double first, double growth = 1, double least = 0);
/// From 1 / `divisor` up to 1 in the part `rise` of the length, then down to 1 / (divisor * 1e4), both along half
/// cosines: PyTorch's OneCycleLR (Smith, Topin, 2018). The optimiser's rate is the largest one.
MANTA_DECL schedule one_cycle(double length, double rise = 0.3, double divisor = 25);
/// The momentum itself, not a factor, that goes with one_cycle: from `greatest` down to `least` while the rate rises,
/// and back up while it falls, as PyTorch's OneCycleLR(cycle_momentum=True).
///
///   optimizer.momentum(nn::one_cycle_momentum(10000)(step));
MANTA_DECL schedule one_cycle_momentum(double length, double rise = 0.3, double least = 0.85, double greatest = 0.95);
/// Rises to 1 in `length`, and then follows `rest`.
MANTA_DECL schedule warm_up(double length, const schedule& rest = {});

struct plateau_options {
  double factor = 0.1;         ///< factor of the rate, each time that the loss has stopped falling
  int patience = 10;           ///< epochs without a better loss that are let pass
  double least_change = 1e-4;  ///< part of the best loss by which a loss has to be below it to count as better
  int cooldown = 0;            ///< epochs after a change in which no epoch counts as bad
  double least_rate = 0;       ///< below which the rate is not changed
};

/// Lowers the rate when a loss has stopped falling: PyTorch's ReduceLROnPlateau.
///
///   nn::plateau plateau({.factor = 0.5, .patience = 3});
///   optimizer.rate(plateau.next(loss_of_the_validation, optimizer.rate()));   // after each epoch
class plateau {
 public:
  MANTA_DECL explicit plateau(const plateau_options& options = {});
  /// The rate from here on, after an epoch that gave this loss with this rate. To follow a number that ought to grow,
  /// give its negative. A loss that is NaN counts as bad.
  [[nodiscard]] MANTA_DECL double next(double loss, double rate);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(factor_, patience_, least_change_, cooldown_, least_rate_, is_first_, best_, bad_, cooling_);
  }

 private:
  double factor_, least_change_, least_rate_;
  int patience_, cooldown_;
  bool is_first_ = true;
  double best_ = 0;
  int bad_ = 0;      ///< epochs since the best one, or since the last change
  int cooling_ = 0;  ///< epochs of the cooldown that are left
};

}  // namespace manta::nn

#ifndef MANTA_COMPILED
#include "manta/nn/schedule.ipp"
#endif
