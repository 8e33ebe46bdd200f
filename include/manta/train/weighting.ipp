// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/train/weighting.hpp"

namespace manta::train {

MANTA_DECL std::vector<double> class_weights(std::span<const int> labels) {
  std::vector<double> counts;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0)
      throw error(base::text("manta: train::class_weights: sample {} has the class {}; classes are numbers from 0", i,
                             labels[i]));
    const auto its = static_cast<std::size_t>(labels[i]);
    if (its >= counts.size()) counts.resize(its + 1);
    ++counts[its];
  }
  const auto classes = static_cast<double>(counts.size()) - static_cast<double>(std::ranges::count(counts, 0.));
  for (double& count : counts) count = count > 0 ? static_cast<double>(labels.size()) / (classes * count) : 0;
  return counts;
}

MANTA_DECL std::vector<double> sample_weights(std::span<const int> labels, std::span<const double> class_weights) {
  std::vector<double> all;
  all.reserve(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || static_cast<std::size_t>(labels[i]) >= class_weights.size())
      throw error(
          base::text("manta: train::sample_weights: sample {} has the class {}, and there are weights for the "
                     "classes 0 to {}",
                     i, labels[i], static_cast<int>(class_weights.size()) - 1));
    all.push_back(class_weights[static_cast<std::size_t>(labels[i])]);
  }
  return all;
}

}  // namespace manta::train
