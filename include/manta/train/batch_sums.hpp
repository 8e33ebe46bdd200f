// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a recipe says of the predictions for a batch, in training as in an evaluation.
#pragma once

#include <algorithm>

#include "manta/nn/loss.hpp"
#include "manta/train/pass.hpp"
#include "manta/train/samples.hpp"

namespace manta::train::detail {

/// Loss and metrics of the samples of `b`, for which the model gives y. The gradient of the sum of the losses / divisor
/// is written to dy.
template <class T, class Recipe, class Loss>
sums sums_of(const Recipe& recipe, const Loss& loss, const nn::matrix<T>& y, const batch<T>& b, nn::matrix<T>& dy,
             double divisor) {
  const nn::targets<T> targets = b.targets();
  sums s;
  s.samples = static_cast<std::uint64_t>(b.x.cols());
  s.weight = loss.template weight<T>(targets);
  s.loss = static_cast<double>(loss.over(y, targets, dy, divisor)) * divisor;
  if constexpr (requires { loss.ignored(); }) {
    if (loss.ignored() && targets.has_labels()) {
      s.metrics["accuracy"] = static_cast<double>(nn::correct(y, targets.labels()));
      s.metrics[number_of("accuracy")] =
          static_cast<double>(b.labels.size()) - static_cast<double>(std::ranges::count(b.labels, *loss.ignored()));
    }
  }
  if (targets.has_labels() &&
      !s.metrics.contains("accuracy")) {  // more than one where a sample is a sequence with a class for each position
    const double of_a_sample = static_cast<double>(b.labels.size()) / static_cast<double>(b.x.cols());
    s.metrics["accuracy"] = static_cast<double>(nn::correct(y, targets.labels())) / of_a_sample;
  }
  if constexpr (requires { recipe.metrics(y, targets); }) {
    for (const auto& [name, mean] : recipe.metrics(y, targets))
      s.metrics[name] = static_cast<double>(mean) * static_cast<double>(s.samples);
  }
  return s;
}

}  // namespace manta::train::detail
