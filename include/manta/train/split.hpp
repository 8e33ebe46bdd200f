// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Parts of a data set, drawn at random: for training, validation and tests, and for cross-validation.
//
//   const auto parts = train::split(all, {0.8, 0.1, 0.1}, 1);
//   for (const auto& [training, validation] : train::folds(all, 5, 1)) ..
#pragma once

#include <cstdint>
#include <vector>

#include "manta/train/samples.hpp"

namespace manta::train {

/// Parts with these shares of the samples, none of which is in two parts: the same ones for a seed on every machine.
/// Shares add up to 1 at most; the sizes are rounded, so that together they are the rounded sum. Copies the numbers.
/// Throws manta::error for shares that are no such numbers, and for a part that would be empty.
[[nodiscard]] MANTA_DECL std::vector<samples> split(const samples& all, const std::vector<double>& shares,
                                                    std::uint64_t seed);

/// Training and validation data of a cross-validation.
struct fold {
  samples training, validation;
};
/// `k` times training and validation data, where each sample is once among the latter. Copies the numbers. Throws
/// manta::error unless k is from 2 to the number of samples.
[[nodiscard]] MANTA_DECL std::vector<fold> folds(const samples& all, int k, std::uint64_t seed);

}  // namespace manta::train

#ifndef MANTA_COMPILED
#include "manta/train/split.ipp"
#endif
