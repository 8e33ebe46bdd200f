// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Many environments of one kind, stepped together: observations are the columns of one matrix. An episode that has
// ended begins anew in the same step, and its last observation is kept.
#pragma once

#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "manta/base/number.hpp"
#include "manta/nn/module.hpp"
#include "manta/rl/environments/environment.hpp"
#include "manta/rl/environments/hang_watch.hpp"

namespace manta::rl {

/// An episode that has ended.
struct episode {
  double total = 0;  ///< the sum of its rewards
  std::uint64_t length = 0;
  std::uint64_t ended = 0;        ///< the step of the training, counted in its environment, at which it ended
  std::uint64_t environment = 0;  ///< the number of the environment
  std::map<std::string, double> figures = {};  ///< figures by the environment or a callback
  template <class Archive>
  void serialize(Archive& archive) {
    archive(total, length, ended, environment, figures);
  }
};

namespace detail {
/// Throws manta::error: what is wrong, and in which environment, episode and step.
[[noreturn]] MANTA_DECL void fail_at(const any_environment& e, std::uint64_t number, std::uint64_t episode,
                                     std::uint64_t step, const std::string& what);

inline constexpr double most_reward = 1e12;
/// Whether learners, which square sums of rewards in 32 bits, can compute with it.
inline bool is_reward(double x) { return base::is_finite(x) && x <= most_reward && x >= -most_reward; }
/// What is wrong with a number that is no reward.
MANTA_DECL std::string mistake_in_reward(double x);
}  // namespace detail

class vector_environment {
 public:
  vector_environment() = default;
  /// The environments with the numbers first, .., first + count - 1 of a run. Random numbers follow from the seed, an
  /// environment's number and its episodes' numbers, so they do not depend on how environments are divided among ranks.
  MANTA_DECL vector_environment(const any_environment& e, std::uint64_t seed, int first, int count);

  [[nodiscard]] int size() const { return static_cast<int>(lanes_.size()); }
  [[nodiscard]] const any_environment& kind() const { return kind_; }
  /// Begins an episode in each environment.
  MANTA_DECL void reset();
  /// Each environment plays one episode, and stays as it is at its end: steps leave it alone. To be
  /// called before reset().
  void play_once() { plays_once_ = true; }
  /// The number of environments whose only episode has not ended yet.
  [[nodiscard]] MANTA_DECL int playing() const;
  /// The only episode of the environment in column i has ended.
  [[nodiscard]] bool is_over(std::size_t i) const { return lanes_[i].is_over; }
  /// Begins the episode of this number in the environment of this number, in column i.
  MANTA_DECL void begin_episode(std::size_t i, std::uint64_t number, std::uint64_t episode);
  /// features x environments, as a network reads them (space::flatten).
  [[nodiscard]] const nn::matrix<float>& observations() const { return observations_; }

  /// One step in each. actions: action_space().size() numbers x environments. Throws manta::error with environment,
  /// episode and step if one throws, or if an observation is NaN, outside its space or of the wrong size, or if
  /// a reward is NaN or above 1e12 in magnitude.
  MANTA_DECL void step(const nn::matrix<float>& actions);
  /// Throws manta::error with environment, episode and step, for the environment in column i.
  [[noreturn]] void fail(Eigen::Index i, const std::string& what) const {
    fail(lanes_[static_cast<std::size_t>(i)], what);
  }
  /// Throws manta::error for an episode that has not ended within that many steps, though it has to.
  [[noreturn]] MANTA_DECL void fail_endless(int steps) const;
  /// Throws manta::error if outputs of a policy's network for the environments, a column each, are not finite.
  MANTA_DECL void require_finite(const nn::matrix<float>& outputs) const;
  [[nodiscard]] const std::vector<double>& rewards() const { return rewards_; }
  [[nodiscard]] const std::vector<char>& terminated() const { return terminated_; }
  [[nodiscard]] const std::vector<char>& truncated() const { return truncated_; }
  /// Where an episode ended in this step, the column is its last observation; else undefined.
  [[nodiscard]] const nn::matrix<float>& last_observations() const { return last_; }

  /// Which choices are allowed in the states of observations() and of last_observations(), a column each; no rows where
  /// environments have no masks.
  [[nodiscard]] const action_masks& masks() const { return masks_; }
  [[nodiscard]] const action_masks& last_masks() const { return last_masks_; }

  /// The episodes that have ended since the last call, in the order of their ends and of the environments.
  MANTA_DECL std::vector<episode> take_episodes();

  /// A picture of the environment in column i (simulation::text).
  [[nodiscard]] std::string text(std::size_t i) const { return lanes_[i].object->text(); }

  [[nodiscard]] bool can_be_saved() const { return lanes_.front().object->can_be_saved(); }
  /// The object and the counts of one environment. Throws if the class has no serialize.
  [[nodiscard]] MANTA_DECL std::string save(std::size_t i) const;
  MANTA_DECL void load(std::size_t i, const std::string& bytes);

 private:
  struct lane {
    std::unique_ptr<simulation> object;
    std::uint64_t number = 0, episode = 0, steps = 0, all_steps = 0;
    double total = 0;
    bool is_over = false;  ///< its only episode has ended
  };
  void begin(std::size_t i);
  /// The step of the environment in column i.
  void step(std::size_t i, std::span<const float> action);
  /// Calls f, which calls the environment, and adds to an error where it happened.
  template <class F>
  void guarded(const lane& l, const char* call, F&& f) const;
  [[noreturn]] MANTA_DECL void fail(const lane& l, const std::string& what) const;
  void check(const lane& l, std::span<const float> observation) const;
  /// Asks the environment in column i what is allowed in its state.
  void ask_mask(std::size_t i, action_masks& to) const;

  any_environment kind_;
  std::uint64_t seed_ = 0;
  bool plays_once_ = false;
  std::vector<lane> lanes_;
  std::unique_ptr<detail::workplace> workplace_;
  std::vector<float> raw_;  ///< an observation as the environment gives it
  nn::matrix<float> observations_, last_;
  action_masks masks_, last_masks_;
  std::vector<double> rewards_;
  std::vector<char> terminated_, truncated_;
  std::vector<episode> ended_;
};

namespace detail {
/// A split of environments over workers: the first and the number of each part, in order, equal but for one.
MANTA_DECL std::vector<std::pair<int, int>> shares(int environments, int workers);
}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/environments/vector_environment.ipp"
#endif
