// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The policies of a training of several: those that learn, and those that stay as they are.
#pragma once

#include <cereal/types/optional.hpp>
#include <optional>
#include <string>

#include "manta/rl/algorithms/ppo.hpp"
#include "manta/rl/policies/trained_policy.hpp"
#include "manta/rl/seats/seat_player.hpp"

namespace manta::rl {

/// A policy that does not learn: one that was trained, or a player of the program's own.
class frozen_policy {
 public:
  frozen_policy() = default;
  explicit frozen_policy(trained_policy p, const act_options& how) : trained_(std::move(p)), explores_(how.explore) {}
  explicit frozen_policy(own_seat_player p) : player_(std::move(p)) {}

  [[nodiscard]] const trained_policy& trained() const { return trained_; }
  [[nodiscard]] const own_seat_player& player() const { return player_; }
  [[nodiscard]] bool explores() const { return explores_; }
  /// In words, for messages and for comparing checkpoints.
  [[nodiscard]] MANTA_DECL std::string description() const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(trained_, player_, explores_);
  }

 private:
  trained_policy trained_;
  own_seat_player player_;
  bool explores_ = true;
};

/// A policy that acts and does not learn. Its actions are drawn as in training, or are the best ones; those of dqn, sac
/// and td3, which have no distribution, are the best ones always.
inline frozen_policy frozen(trained_policy p, const act_options& how = {.explore = true}) {
  return frozen_policy(std::move(p), how);
}
/// A frozen policy from a file that an algorithm or a trained policy has saved.
inline frozen_policy frozen(const std::string& file, const act_options& how = {.explore = true}) {
  return frozen_policy(load_policy(file), how);
}
/// A heuristic of the program's own, such as rl::own<greedy>(). Each episode has an object of its own, which should
/// keep nothing from one turn to the next: it is not part of a checkpoint.
inline frozen_policy frozen(own_seat_player p) { return frozen_policy(std::move(p)); }
template <class C, class... Args>
frozen_policy frozen(const own_value<C, Args...>& p) {
  return frozen_policy(own_seat_player(p));
}

/// What multi_options say of a policy: how it learns, or that it does not.
class multi_policy {
 public:
  /// Learns by PPO. Workers, environments and fragment are those of multi_options; a seed of 0 follows from theirs.
  multi_policy(ppo_options o = {}) : learning_(std::move(o)) {}
  multi_policy(frozen_policy p) : frozen_(std::move(p)) {}

  [[nodiscard]] bool learns() const { return learning_.has_value(); }
  [[nodiscard]] const ppo_options& learning() const { return *learning_; }
  [[nodiscard]] const frozen_policy& frozen() const { return frozen_; }

 private:
  std::optional<ppo_options> learning_;
  frozen_policy frozen_;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/multi/multi_policy.ipp"
#endif
