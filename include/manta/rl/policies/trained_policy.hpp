// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What an algorithm has learnt until a moment, as a value that acts without it: copied, sent to other ranks, saved,
// read from any algorithm's checkpoint, deployed (manta/serve/rl.hpp).
//
//   rl::trained_policy policy = algorithm.trained();
//   int a = policy.act(observation);
//   rl::trained_policy same = rl::load_policy("checkpoint");      // of algorithm.save or policy.save
#pragma once

#include <iosfwd>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "manta/rl/environments/environment.hpp"
#include "manta/rl/policies/evaluation.hpp"

namespace manta::rl {

/// An action as the program takes it: an int for a discrete space, a vector for others.
class action {
 public:
  explicit action(std::vector<float> numbers) : numbers_(std::move(numbers)) {}
  operator int() const { return static_cast<int>(numbers_.front()); }
  /// The number of a box of one.
  template <class T>
    requires(std::is_arithmetic_v<T> && !std::is_same_v<T, int>)
  operator T() const { return static_cast<T>(numbers_.front()); }
  operator Eigen::VectorXf() const { return Eigen::Map<const Eigen::VectorXf>(numbers_.data(), std::ssize(numbers_)); }
  [[nodiscard]] const std::vector<float>& numbers() const { return numbers_; }

  friend bool operator==(const action& a, int number) { return static_cast<int>(a) == number; }
  friend bool operator==(const action& a, const action& b) = default;

 private:
  std::vector<float> numbers_;
};
/// Its numbers with spaces between them.
MANTA_DECL std::ostream& operator<<(std::ostream& out, const action& a);

/// Takes the best actions of a policy. It has the filter of observations, and needs neither the environment's class nor
/// an algorithm.
class trained_policy {
 public:
  /// Without a policy: of no use until another one is assigned.
  trained_policy() = default;
  explicit trained_policy(detail::best_policy policy) : policy_(std::move(policy)) {}

  /// The best action for one observation, as the environment gives it: unfiltered. A policy with a memory remembers the
  /// observations of the calls before, back to begin_episode().
  template <class Observation>
  action act(const Observation& observation) {
    return action(std::move(act(std::vector<std::vector<float>>{numbers_of(observation)}).front()));
  }
  /// Likewise, of the choices that are allowed: `mask` is a range as an environment's action_mask() gives it, and has
  /// to be there if the environment has masks. Throws manta::error if its size is wrong or if it allows none.
  template <class Observation, class Mask>
  action act(const Observation& observation, const Mask& mask) {
    std::vector<float> allowed;
    for (const auto& choice : mask) allowed.push_back(static_cast<bool>(choice) ? 1.f : 0.f);
    return action(std::move(best_actions({numbers_of(observation)}, {std::move(allowed)}).front()));
  }
  /// One action for each observation, in one pass of the network; each has the bits that it has alone. A policy with a
  /// memory takes them for the next step of as many episodes beside each other. Throws manta::error if an observation
  /// is not one of observations().
  std::vector<std::vector<float>> act(const std::vector<std::vector<float>>& observations) {
    return best_actions(observations, {});
  }
  /// As above for a caller that keeps the episodes' memories itself: `memories` has one for each observation, which is
  /// empty where an episode begins. Afterwards it has those for the next steps; a policy without a memory leaves them
  /// empty. Each observation has a mask too, which is empty if the environment has none. Episodes of this object's own
  /// are forgotten. Throws manta::error if sizes do not fit.
  MANTA_DECL std::vector<std::vector<float>> act(const std::vector<std::vector<float>>& observations,
                                                 const std::vector<std::vector<float>>& masks,
                                                 std::vector<std::vector<float>>& memories);
  /// The next act() is the first of an episode.
  void begin_episode() { policy_.forget(); }
  /// True for .lstm and .attention: an action depends on the episode's observations before.
  [[nodiscard]] bool remembers() const { return policy_.remembers(); }

  /// True if its environment has action_mask(): each act() takes a mask.
  [[nodiscard]] bool needs_masks() const { return policy_.environment().mask_size() > 0; }

  [[nodiscard]] const space& observations() const { return policy_.environment().observations(); }
  [[nodiscard]] const space& actions() const { return policy_.environment().actions(); }
  /// The name of the environment it was trained in.
  [[nodiscard]] const std::string& environment() const { return policy_.environment().name(); }

  /// Writes a file for load_policy, at once or not at all.
  MANTA_DECL void save(const std::string& path) const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(policy_);
  }

 private:
  template <class Observation>
  static std::vector<float> numbers_of(const Observation& observation) {
    std::size_t count = 1;
    if constexpr (requires { observation.size(); }) count = static_cast<std::size_t>(observation.size());
    std::vector<float> numbers(count);
    detail::write_observation(observation, numbers);
    return numbers;
  }
  MANTA_DECL std::vector<std::vector<float>> best_actions(const std::vector<std::vector<float>>& observations,
                                                          const std::vector<std::vector<float>>& masks);
  /// Write observation number i, or its mask, as the policy reads it.
  MANTA_DECL void read_observation(Eigen::Index i, const std::vector<float>& observation);
  MANTA_DECL void read_mask(Eigen::Index i, const std::vector<float>& mask, detail::masks& allowed) const;
  [[noreturn]] MANTA_DECL void fail(Eigen::Index i, const std::string& what) const;
  detail::best_policy policy_;
  nn::matrix<float> features_;
};

/// The policy in a file of algorithm::save, of any algorithm, or of trained_policy::save. Throws manta::error if the
/// file cannot be read.
MANTA_DECL trained_policy load_policy(const std::string& path);
/// Likewise from what algorithm::save_to_bytes gave, such as the checkpoint of a trial.
MANTA_DECL trained_policy load_policy_from_bytes(const std::string& bytes);

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/policies/trained_policy.ipp"
#endif
