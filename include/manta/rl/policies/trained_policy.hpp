// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What an algorithm has learnt until a moment, as a value that acts without it: copied, sent to other ranks, saved,
// read from any algorithm's checkpoint, deployed (manta/serve/rl.hpp).
//
//   rl::trained_policy policy = algorithm.trained();
//   int a = policy.act(observation);                              // the best action
//   int b = policy.act(observation, {.explore = true});           // drawn, as in training
//   rl::trained_policy same = rl::load_policy("checkpoint");      // of algorithm.save or policy.save
//   rl::evaluate("CartPole-v1", policy, 100, {.seed = 7});
//   nn::save_weights("policy.safetensors", policy.network());
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "manta/rl/environments/environment.hpp"
#include "manta/rl/policies/evaluation.hpp"

namespace manta::rl {

/// An action as the program takes it: an int for a discrete space, a vector for others. A number is read of an action
/// that is one; of another one, the conversion throws manta::error.
class action {
 public:
  explicit action(std::vector<float> numbers) : numbers_(std::move(numbers)) {}
  operator int() const { return whole_number(); }
  /// The number of a box of one.
  template <class T>
    requires(std::is_arithmetic_v<T> && !std::is_same_v<T, int>)
  operator T() const {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(whole_number());
    return static_cast<T>(number());
  }
  operator Eigen::VectorXf() const { return Eigen::Map<const Eigen::VectorXf>(numbers_.data(), std::ssize(numbers_)); }
  [[nodiscard]] const std::vector<float>& numbers() const { return numbers_; }

  friend bool operator==(const action& a, int number) { return static_cast<int>(a) == number; }
  friend bool operator==(const action& a, const action& b) = default;

 private:
  [[nodiscard]] MANTA_DECL float number() const;
  [[nodiscard]] MANTA_DECL int whole_number() const;
  std::vector<float> numbers_;
};
/// Its numbers with spaces between them.
MANTA_DECL std::ostream& operator<<(std::ostream& out, const action& a);

/// How a policy acts.
struct act_options {
  bool explore = false;  ///< the action is drawn as in training; else it is the best one
};

/// Acts by a policy. It has the filter of observations, and needs neither the environment's class nor an algorithm.
class trained_policy {
 public:
  /// Without a policy: of no use until another one is assigned.
  trained_policy() = default;
  explicit trained_policy(acting_policy policy) : policy_(std::move(policy)) {}

  /// False for one without a policy.
  explicit operator bool() const { return static_cast<bool>(policy_.environment()); }

  /// The action for one observation, as the environment gives it: unfiltered; of a dict also rl::dict_values. A policy
  /// with a memory remembers the observations of the calls before, back to begin_episode().
  template <class Observation>
  action act(const Observation& observation, const act_options& o = {}) {
    return action(std::move(actions_for({numbers_of(observation)}, {}, o).front()));
  }
  /// The action that the policy takes of the choices that are allowed: `mask` is a range as an environment's
  /// action_mask() gives it, and must be given if the environment has masks. Throws manta::error if its size is wrong
  /// or if it allows none.
  template <class Observation, detail::mask_range Mask>
  action act(const Observation& observation, const Mask& mask, const act_options& o = {}) {
    std::vector<float> allowed;
    for (const auto& choice : mask) allowed.push_back(static_cast<bool>(choice) ? 1.f : 0.f);
    return action(std::move(actions_for({numbers_of(observation)}, {std::move(allowed)}, o).front()));
  }
  /// One action for each observation, in one pass of the network; each has the bits that it has alone. A policy with a
  /// memory takes them for the next step of as many episodes beside each other. Throws manta::error if an observation
  /// is not one of observations().
  std::vector<std::vector<float>> act(const std::vector<std::vector<float>>& observations, const act_options& o = {}) {
    return actions_for(observations, {}, o);
  }
  /// As above for a caller that keeps the episodes' memories itself: `memories` has one for each observation, which is
  /// empty where an episode begins. Afterwards it has those for the next steps; a policy without a memory leaves them
  /// empty. Each observation has a mask too, which is empty if the environment has none. Episodes of this object's own
  /// are forgotten. Throws manta::error if sizes do not fit.
  MANTA_DECL std::vector<std::vector<float>> act(const std::vector<std::vector<float>>& observations,
                                                 const std::vector<std::vector<float>>& masks,
                                                 std::vector<std::vector<float>>& memories, const act_options& o = {});
  /// The next act() is the first of an episode.
  void begin_episode() { policy_.forget(); }
  /// Where the random numbers of drawn actions begin: after the same seed, the same observations give the same actions.
  void seed(std::uint64_t s) { numbers_ = {s, 0, 0}; }
  /// True for .lstm and .attention: an action depends on the episode's observations before.
  [[nodiscard]] bool remembers() const { return policy_.remembers(); }

  /// True if its environment has action_mask(): each act() takes a mask.
  [[nodiscard]] bool needs_masks() const { return policy_.environment().mask_size() > 0; }

  [[nodiscard]] const space& observations() const { return policy_.environment().observations(); }
  [[nodiscard]] const space& actions() const { return policy_.environment().actions(); }
  /// The name of the environment it was trained in.
  [[nodiscard]] const std::string& environment() const { return policy_.environment().name(); }

  /// The network that acts, which reads filtered observations, for nn's files and other programs.
  [[nodiscard]] const nn::network<float>& network() const { return policy_.network(); }
  /// Means and deviations of the observations: the network reads (observation - mean) / deviation, between -10 and 10.
  /// A filter without observations changes nothing.
  [[nodiscard]] const moments& filter() const { return policy_.filter(); }
  /// The policy as tasks have it.
  [[nodiscard]] const acting_policy& acting() const { return policy_; }

  /// Writes a file for load_policy, at once or not at all.
  MANTA_DECL void save(const std::string& path) const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(policy_);
  }

 private:
  template <class Observation>
  [[nodiscard]] std::vector<float> numbers_of(const Observation& observation) const {
    constexpr bool has_parts = std::is_same_v<Observation, dict_values>;
    static_assert(
        has_parts || detail::readable_observation<Observation>,
        "manta: rl: act() takes an observation as the environment gives it: an Eigen vector, a std::array or a "
        "std::vector of numbers, or a number; of rl::dict also rl::dict_values, the parts by their names");
    if constexpr (has_parts) {
      return numbers_of_parts(observation);
    } else if constexpr (detail::readable_observation<Observation>) {
      std::size_t count = 1;
      if constexpr (requires { observation.size(); }) count = static_cast<std::size_t>(observation.size());
      std::vector<float> numbers(count);
      detail::write_observation(observation, numbers);
      return numbers;
    } else {
      return {};
    }
  }
  /// Throws manta::error if the parts are not those of observations().
  [[nodiscard]] MANTA_DECL std::vector<float> numbers_of_parts(const dict_values& parts) const;
  MANTA_DECL std::vector<std::vector<float>> actions_for(const std::vector<std::vector<float>>& observations,
                                                         const std::vector<std::vector<float>>& masks,
                                                         const act_options& o);
  /// Write observation number i, or its mask, as the policy reads it.
  MANTA_DECL void read_observation(Eigen::Index i, const std::vector<float>& observation);
  MANTA_DECL void read_mask(Eigen::Index i, const std::vector<float>& mask, action_masks& allowed) const;
  [[noreturn]] MANTA_DECL void fail(Eigen::Index i, const std::string& what) const;
  acting_policy policy_;
  acting_policy::draw numbers_;  ///< numbers for the next action that is drawn
  nn::matrix<float> features_;
};

/// Plays episodes by tasks on any ranks, and waits: in any environment with the spaces of the policy. Throws
/// manta::error if the spaces differ, and with environment, episode and step for what the environment does wrong.
MANTA_DECL report evaluate(const any_environment& e, const trained_policy& p, int episodes,
                           const evaluate_options& o = {});

/// The policy in a file of algorithm::save, of any algorithm, or of trained_policy::save. Throws manta::error if the
/// file cannot be read.
MANTA_DECL trained_policy load_policy(const std::string& path);
/// The policy in what algorithm::save_to_bytes gave, such as the checkpoint of a trial.
MANTA_DECL trained_policy load_policy_from_bytes(const std::string& bytes);

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/policies/trained_policy.ipp"
#endif
