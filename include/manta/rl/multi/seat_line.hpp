// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The steps of a seat, one after the other, until they are learnt from. A step of a seat goes from one of its turns to
// its next turn, or to the end: what it is given in between is summed, with the discounts of the game's steps, and the
// step's discount is the product of theirs. So values mean the same to a seat that acts in each step of the game and to
// one that waits for others.
#pragma once

#include <algorithm>
#include <cereal/types/vector.hpp>
#include <cstddef>
#include <span>
#include <vector>

#include "manta/rl/multi/seat_actor.hpp"
#include "manta/rl/workers/worker.hpp"

namespace manta::rl::detail {

/// Steps of one seat by one policy. The last one is open, if the seat has acted and its next turn has not come.
class seat_line {
 public:
  [[nodiscard]] bool is_open() const { return log_probabilities_.size() > rewards_.size(); }
  /// Steps that can be learnt from.
  [[nodiscard]] std::size_t size() const { return rewards_.size(); }
  [[nodiscard]] bool ends() const { return terminated_.back() || truncated_.back(); }
  /// The observation of the open step, as the game gave it.
  [[nodiscard]] std::span<const float> open_observation(std::size_t features) const {
    return std::span(observations_).last(features);
  }
  /// The value of the open step's observation, or of what the seat sees after its last step.
  void set_value_after(float v) {
    values_.resize(size());
    values_.push_back(v);
  }

  /// The seat has acted, as the actor's k-th seat, with these choices allowed.
  MANTA_DECL void open(const learning_actor& a, std::size_t k, mask_view allowed, bool is_first);
  /// What the game's step has given the seat, discounted by what came before.
  void give(double reward, double discount) {
    reward_ += discount_ * reward;
    discount_ *= discount;
  }
  [[nodiscard]] double reward() const { return reward_; }
  [[nodiscard]] double discount() const { return discount_; }

  /// How a step ends.
  enum class ending { next_turn, terminated, truncated };
  /// The open step is complete. next: what the seat sees then, where the program's own collection wants it.
  MANTA_DECL void close(ending e, std::span<const float> next);
  /// The value of the last state of the step that was closed last, which was cut off.
  void set_final_value(float v) { finals_.back() = v; }
  /// The episode was cut off where the seat saw nothing: the open step is left out, and the one before is the last.
  MANTA_DECL void leave_out_open();
  /// What is complete has been taken.
  MANTA_DECL void keep_open();

  /// Writes the steps into a fragment, from this column on: advantages and returns too.
  MANTA_DECL void write(const learning_actor& a, const rollout& how, fragment& to, std::size_t column);
  /// Whether a mask of these steps forbids something.
  [[nodiscard]] bool forbids() const { return std::ranges::find(masks_, 0) != masks_.end(); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(observations_, next_, actions_, masks_, log_probabilities_, values_, finals_, rewards_, discounts_,
            terminated_, truncated_, begins_, reward_, discount_);
  }

 private:
  std::vector<float> observations_, next_, actions_;  ///< a column after the other
  std::vector<unsigned char> masks_;
  std::vector<float> log_probabilities_, values_, finals_;
  std::vector<double> rewards_, discounts_;
  std::vector<char> terminated_, truncated_;
  std::vector<unsigned char> begins_;
  double reward_ = 0, discount_ = 1;  ///< reward and discount of the open step until now
};

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/multi/seat_line.ipp"
#endif
