// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What learns: networks with their optimisers and filters, apart from where the steps come from that it learns from. An
// algorithm brings them to its learner, or to several: from workers, from a memory, from files, or from a model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "manta/rl/policies/acting_policy.hpp"

namespace manta::rl {

class learner {
 public:
  virtual ~learner() = default;
  learner(const learner&) = delete;
  learner& operator=(const learner&) = delete;

  /// The policy of this moment.
  [[nodiscard]] virtual acting_policy acting() const = 0;
  /// What the steps change, of which an algorithm wants that it stays finite.
  [[nodiscard]] virtual std::vector<std::span<const float>> parameters() const = 0;
  /// The networks in words: a checkpoint is of one description.
  [[nodiscard]] virtual std::string description() const = 0;
  /// All that it needs to go on.
  [[nodiscard]] virtual std::string state() const = 0;
  /// Goes on from a state of the same description, with the settings of its own, such as rates. Changes nothing
  /// if it throws.
  virtual void restore(const std::string& state) = 0;

  [[nodiscard]] const any_environment& environment() const { return environment_; }
  /// The steps of environments that it has been brought.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  void count_steps(std::uint64_t n) { steps_ += n; }

 protected:
  /// environment: that of the policy, of which the spaces count.
  explicit learner(const any_environment& environment) : environment_(environment) {}

  any_environment environment_;
  std::uint64_t steps_ = 0;
};

namespace detail {
/// The network of a policy with which a training begins, for one of this description. Throws manta::error if it
/// is another one.
MANTA_DECL const nn::network<float>& network_to_begin_with(const acting_policy& p, const std::string& description);
}  // namespace detail

}  // namespace manta::rl
