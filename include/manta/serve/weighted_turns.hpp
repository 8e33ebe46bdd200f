// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Whose turn it is, where several parts share the requests by weights: the parts of serve::split, a version
// and its canary.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/serve/source.hpp"

namespace manta::serve::detail {

class weighted_turns {
 public:
  weighted_turns() = default;
  /// Throws manta::error if a weight is no number of at least 0, or all are 0.
  explicit weighted_turns(std::vector<double> weights) : weights_(std::move(weights)) {
    for (const double w : weights_) {
      if (!(w >= 0) || !base::is_finite(w)) throw error(base::text("a weight is {}; it has to be at least 0", w));
      total_ += w;
    }
    if (!(total_ > 0)) throw error("a weight above 0 is needed");
  }
  /// Each part gets its share of any long run of turns: the golden ratio's multiples spread evenly.
  std::size_t next() {
    double at = std::fmod(static_cast<double>(count_++) * 0.6180339887498949, 1.0) * total_;
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (weights_[i] <= 0) continue;
      chosen = i;
      if (at < weights_[i]) break;
      at -= weights_[i];
    }
    return chosen;
  }
  [[nodiscard]] double share(std::size_t i) const { return weights_[i] / total_; }

 private:
  std::vector<double> weights_;
  double total_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace manta::serve::detail
