// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Replay memory: transitions that a learner draws from, uniformly or by priorities (Schaul et al., 2016).
#pragma once

#include <cereal/types/vector.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "manta/nn/module.hpp"
#include "manta/rl/random.hpp"
#include "manta/rl/source.hpp"

namespace manta::rl {

/// Sums of weights over ranges, in a tree: a draw and a change cost the logarithm of the size.
class sum_tree {
 public:
  sum_tree() = default;
  MANTA_DECL explicit sum_tree(std::size_t size);
  MANTA_DECL void set(std::size_t i, double weight);
  [[nodiscard]] double get(std::size_t i) const { return sums_[leaves_ + i]; }
  [[nodiscard]] double total() const { return sums_.size() > 1 ? sums_[1] : 0; }
  /// The index whose range of the sum `at` falls into, for at in [0, total()).
  [[nodiscard]] MANTA_DECL std::size_t find(double at) const;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(leaves_, sums_);
  }

 private:
  std::size_t leaves_ = 0;
  std::vector<double> sums_;
};

/// A ring of transitions of plain numbers.
class replay {
 public:
  replay() = default;
  /// alpha: how much priorities count; 0: uniform.
  MANTA_DECL replay(int observation, int action, std::size_t capacity, double alpha);

  /// A transition over one or more steps. discount: of the value after it; 0 where the episode has terminated.
  MANTA_DECL void add(const float* observation, const float* action, float reward, float discount, const float* next);
  [[nodiscard]] std::size_t size() const { return size_; }

  struct sample {
    std::vector<std::size_t> which;
    nn::matrix<float> observations, actions, next;
    std::vector<float> rewards, discounts;
    std::vector<float> weights;  ///< against the bias of priorities, at most 1
  };
  /// beta: how much of the bias the weights take away.
  MANTA_DECL sample draw(int count, double beta, random& numbers) const;
  /// New priorities, by the size of the errors that the learner made.
  MANTA_DECL void set_priorities(std::span<const std::size_t> which, std::span<const float> errors);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(observation_, action_, capacity_, size_, next_, alpha_, largest_, observations_, actions_, rewards_,
            discounts_, nexts_, tree_);
  }

 private:
  int observation_ = 0, action_ = 0;
  std::size_t capacity_ = 0, size_ = 0, next_ = 0;
  double alpha_ = 0, largest_ = 1;
  std::vector<float> observations_, actions_, rewards_, discounts_, nexts_;
  sum_tree tree_;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/replay.ipp"
#endif
