// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Weights where classes have different numbers of samples. There are two remedies: samples of rare classes count more
// in the loss, or they are drawn more often.
//
//   nn::loss loss() const { return nn::cross_entropy({.weights = train::class_weights(labels)}); }
//   // or, in the recipe:
//   std::vector<double> sampling_weights(const train::samples& data) const {
//     return train::sample_weights(data.labels(), train::class_weights(data.labels()));
//   }
#pragma once

#include <span>
#include <vector>

#include "manta/train/source.hpp"

namespace manta::train {

/// For each class from 0 to the largest one of the labels: samples / (classes * samples of the class), so that all
/// classes together weigh alike; 0 for a class without samples, which does not count as a class. scikit-learn's
/// class_weight="balanced". Throws manta::error if a label is below 0.
[[nodiscard]] MANTA_DECL std::vector<double> class_weights(std::span<const int> labels);

/// For each sample the weight of its class. Throws manta::error if a label has no weight.
[[nodiscard]] MANTA_DECL std::vector<double> sample_weights(std::span<const int> labels,
                                                            std::span<const double> class_weights);

}  // namespace manta::train

#ifndef MANTA_COMPILED
#include "manta/train/weighting.ipp"
#endif
