// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How the value of a joint action is made of the values of what each seat does: their sum (Sunehag et al., 2018), or a
// network that rises with each of them and whose weights are given by other networks, from the state of the whole
// (Rashid et al., 2018). Either way the best joint action is the best action of each seat.
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <span>

#include "manta/nn/network.hpp"
#include "manta/rl/source.hpp"

namespace manta::rl {

/// none: each seat learns by itself, as if what the others do were chance.
enum class mixing { monotone, sum, none };

namespace detail {

class q_mixer {
 public:
  q_mixer() = default;
  /// `units` of the mixing network, `hidden` of the network that gives its weights from `state` numbers.
  MANTA_DECL q_mixer(mixing how, int seats, int state, int units, int hidden, std::uint64_t seed);

  /// q: seats x samples; state: numbers x samples. The values of the joint actions, 1 x samples.
  MANTA_DECL const nn::matrix<float>& forward(const nn::matrix<float>& q, const nn::matrix<float>& state);
  /// The gradient by q, for that by the last forward's result. Adds to the gradients of the network.
  MANTA_DECL const nn::matrix<float>& backward(const nn::matrix<float>& by_total);

  /// Gives the weights; without parameters for a sum.
  nn::network<float>& net() { return net_; }
  [[nodiscard]] const nn::network<float>& net() const { return net_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(how_, seats_, units_, net_);
  }

 private:
  /// The network's outputs that are weights of a seat's value.
  [[nodiscard]] auto weights_of(const nn::matrix<float>& outputs, Eigen::Index seat) const {
    return outputs.middleRows(seat * units_, units_).array();
  }

  mixing how_ = mixing::sum;
  int seats_ = 0, units_ = 0;
  nn::network<float> net_;
  nn::matrix<float> q_, outputs_, hidden_, total_, by_outputs_, by_hidden_, by_q_;
};

}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/multi/q_mixer.ipp"
#endif
