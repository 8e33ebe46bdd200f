// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Transitions: what workers of off-policy algorithms make, and a replay memory keeps.
#pragma once

#include <cereal/types/vector.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "manta/eigen.hpp"
#include "manta/nn/module.hpp"
#include "manta/rl/environments/action_mask.hpp"
#include "manta/rl/workers/observation_code.hpp"

namespace manta::rl {

/// Transitions over one or more steps, a column each. They travel with each observation once, and images as bytes.
struct transitions {
  nn::matrix<float> observations, actions;
  nn::matrix<float> next;        ///< the observations after them
  action_masks next_masks;       ///< choices allowed after them; no rows: all
  std::vector<float> rewards;    ///< discounted sums over the steps
  std::vector<float> discounts;  ///< discounts of the value after them; 0 where the episode has terminated
  observation_code code = {};    ///< how observations travel; empty: as floats
  [[nodiscard]] std::size_t size() const { return rewards.size(); }
  MANTA_DECL void resize(Eigen::Index observation, Eigen::Index action, std::size_t count, Eigen::Index mask = 0);
  /// All members have size() columns; those of observations and actions have these numbers.
  [[nodiscard]] MANTA_DECL bool has_shape(Eigen::Index observation, Eigen::Index action) const;

  template <class Archive>
  void save(Archive& archive) const {
    const packed p = pack();
    archive(its_code(), p.frames, p.after, actions, next_masks, rewards, discounts);
  }
  template <class Archive>
  void load(Archive& archive) {
    packed p;
    archive(code, p.frames, p.after, actions, next_masks, rewards, discounts);
    unpack(p);
  }

 private:
  /// The observations of all transitions, then those after them that are none of these.
  struct packed {
    std::vector<unsigned char> frames;
    std::vector<std::uint32_t> after;  ///< which of the frames is the one after a transition
  };
  [[nodiscard]] observation_code its_code() const {
    return code.features() > 0 ? code : observation_code(static_cast<int>(observations.rows()));
  }
  [[nodiscard]] MANTA_DECL packed pack() const;
  MANTA_DECL void unpack(const packed& p);
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/workers/transitions.ipp"
#endif
