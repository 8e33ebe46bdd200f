// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Replay memory: transitions that a learner draws from, uniformly or by priorities (Schaul et al., 2016). An ordinary
// class, whose methods take and give values, so that it can live as an actor on any rank:
//
//   auto memory = manta::spawn<rl::replay>({.node = 1}, observation_size, action_size, std::size_t(1'000'000), 0.6);
//   manta::async<&rl::replay::add>(memory, transitions);          // a value, or the future of a worker's call
//   auto batch = manta::async<&rl::replay::draw>(memory, 256, 0.4, rl::random(seed, step));
#pragma once

#include <cereal/types/vector.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "manta/eigen.hpp"
#include "manta/nn/module.hpp"
#include "manta/rl/base/random.hpp"
#include "manta/rl/learning/frame_store.hpp"
#include "manta/rl/source.hpp"
#include "manta/rl/workers/transitions.hpp"

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

/// A ring of transitions. Each observation is kept once, and numbers of images as bytes.
class replay {
 public:
  replay() = default;
  /// observation, action, mask: the numbers of each. alpha: how much priorities count; 0: uniform.
  MANTA_DECL replay(int observation, int action, std::size_t capacity, double alpha, int mask = 0);
  /// As above for observations of a space.
  MANTA_DECL replay(const space& observations, int action, std::size_t capacity, double alpha, int mask = 0);

  /// New transitions replace the oldest ones once the memory is full, and have the largest priority.
  void add(const transitions& t) { add_rated(t, {}); }
  /// New transitions whose priorities follow from errors that somebody has estimated, one for each.
  MANTA_DECL void add_rated(const transitions& t, const std::vector<float>& errors);
  [[nodiscard]] std::size_t size() const { return size_; }

  struct sample {
    std::vector<std::size_t> which;
    transitions drawn;
    std::vector<float> weights;  ///< factors that take away the bias of priorities, at most 1
    template <class Archive>
    void serialize(Archive& archive) {
      archive(which, drawn, weights);
    }
  };
  /// beta: how much of the bias the weights take away. The same numbers draw the same. Throws manta::error while the
  /// memory is empty.
  [[nodiscard]] MANTA_DECL sample draw(int count, double beta, const random& numbers) const;
  /// Draws as draw() does, but gives no transitions while the memory is empty.
  [[nodiscard]] sample try_draw(int count, double beta, const random& numbers) const {
    return size_ == 0 ? sample{} : draw(count, beta, numbers);
  }
  /// New priorities, by the size of the errors that the learner made. Places without a transition are left out: a
  /// memory that was lost has them.
  MANTA_DECL void set_priorities(const std::vector<std::size_t>& which, const std::vector<float>& errors);

  /// The state of the memory, for checkpoints.
  [[nodiscard]] MANTA_DECL std::string state() const;
  /// Goes on from a state. A memory of another size or another alpha keeps its own: it has the last transitions, as
  /// many as it has places for.
  MANTA_DECL void restore(const std::string& bytes);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(capacity_, size_, next_, alpha_, largest_, frames_, before_, after_, rest_, tree_);
  }

 private:
  void set_priority(std::size_t place, float error);
  /// The transition at a place as that of column k.
  void read(std::size_t place, transitions& to, std::size_t k) const;

  std::size_t capacity_ = 0, size_ = 0, next_ = 0;
  double alpha_ = 0, largest_ = 1;
  detail::frame_store frames_;
  std::vector<std::uint32_t> before_, after_;  ///< the observations of the transition at a place, by their numbers
  transitions rest_;                           ///< the transitions without their observations
  sum_tree tree_;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/learning/replay.ipp"
#endif
