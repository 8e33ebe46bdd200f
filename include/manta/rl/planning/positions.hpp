// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Positions of games with what a search found in them: what a network for a search learns from.
#pragma once

#include <cereal/types/vector.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "manta/eigen.hpp"
#include "manta/nn/module.hpp"
#include "manta/rl/environments/action_mask.hpp"

namespace manta::rl {

/// A column for each position.
struct positions {
  nn::matrix<float> observations;  ///< features, as a network reads them
  nn::matrix<float> policies;      ///< how good the actions are as shares (searched::policy)
  action_masks masks;
  std::vector<float> values;  ///< the results for the seats that acted

  [[nodiscard]] std::size_t size() const { return values.size(); }
  MANTA_DECL void resize(Eigen::Index features, Eigen::Index actions, std::size_t count);
  /// Copies column `from` of other positions to column `to`.
  MANTA_DECL void copy(const positions& other, std::size_t from, std::size_t to);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(observations, policies, masks, values);
  }
};

/// A ring of positions.
class position_memory {
 public:
  position_memory() = default;
  MANTA_DECL position_memory(int features, int actions, std::size_t capacity);

  /// New positions replace the oldest ones once the memory is full.
  MANTA_DECL void add(const positions& p);
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Each as probable as the others. The memory must not be empty.
  MANTA_DECL void draw(random numbers, positions& to) const;

  /// For checkpoints. A memory of another size keeps its own: it has the last positions, as many as it has places for.
  [[nodiscard]] MANTA_DECL std::string state() const;
  MANTA_DECL void restore(const std::string& bytes);

 private:
  positions all_;
  std::size_t size_ = 0, next_ = 0;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/planning/positions.ipp"
#endif
