// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Running means and deviations: observations are brought to mean 0 and deviation 1, rewards to deviation 1. Sums of
// parts are merged in a fixed order, so the number of workers changes nothing.
#pragma once

#include <cereal/types/vector.hpp>
#include <cstddef>
#include <vector>

#include "manta/nn/module.hpp"
#include "manta/rl/source.hpp"

namespace manta::rl {

/// Count, mean and sum of squared differences of vectors (Welford, 1962; merged as Chan et al., 1979, do).
class moments {
 public:
  moments() = default;
  explicit moments(int size) : mean_(static_cast<std::size_t>(size)), squares_(static_cast<std::size_t>(size)) {}

  MANTA_DECL void add(const float* numbers);
  MANTA_DECL void merge(const moments& other);
  /// What was added until now counts as this number of vectors at most, so what is added later soon outweighs it.
  MANTA_DECL void count_at_most(double vectors);
  [[nodiscard]] double count() const { return count_; }
  [[nodiscard]] double mean(std::size_t i) const { return mean_[i]; }
  /// 1 as long as there are fewer than two, or all are equal.
  [[nodiscard]] MANTA_DECL double deviation(std::size_t i) const;
  [[nodiscard]] std::size_t size() const { return mean_.size(); }
  /// Moments of `count` numbers alone, from this one on.
  [[nodiscard]] MANTA_DECL moments part(std::size_t begin, std::size_t count) const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(count_, mean_, squares_);
  }

 private:
  double count_ = 0;
  std::vector<double> mean_, squares_;
};

/// Normalises by moments as they were when it was given them: (x - mean) / deviation, between -10 and 10. Copies where
/// nothing is known yet. Half as many bytes as the moments.
class normaliser {
 public:
  normaliser() = default;
  explicit normaliser(const moments& m) { set(m); }
  MANTA_DECL void set(const moments& m);
  /// Column by column.
  MANTA_DECL void apply(const nn::matrix<float>& x, nn::matrix<float>& to) const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(numbers_);
  }

 private:
  std::vector<float> numbers_;  ///< the means, then what the differences from them are multiplied by
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/policies/filter.ipp"
#endif
