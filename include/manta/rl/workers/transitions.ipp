// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/rl/workers/transitions.hpp"

namespace manta::rl {

MANTA_DECL void transitions::resize(Eigen::Index observation, Eigen::Index action, std::size_t count,
                                    Eigen::Index mask) {
  const auto columns = static_cast<Eigen::Index>(count);
  observations.resize(observation, columns);
  next.resize(observation, columns);
  actions.resize(action, columns);
  next_masks.resize(mask, columns);
  rewards.resize(count);
  discounts.resize(count);
}

MANTA_DECL bool transitions::has_shape(Eigen::Index observation, Eigen::Index action) const {
  const auto is = [&](const nn::matrix<float>& m, Eigen::Index rows) {
    return m.rows() == rows && static_cast<std::size_t>(m.cols()) == size();
  };
  return is(observations, observation) && is(actions, action) && is(next, observation) && discounts.size() == size() &&
         (next_masks.rows() == 0 || static_cast<std::size_t>(next_masks.cols()) == size());
}

/// The observation after a transition is mostly that of one of the next transitions, as many later as it has steps.
MANTA_DECL transitions::packed transitions::pack() const {
  constexpr std::size_t furthest = 16;
  const observation_code how = its_code();
  const std::size_t bytes = how.size(), count = size();
  packed p;
  p.frames.resize(bytes * count);
  for (std::size_t k = 0; k < count; ++k)
    how.encode(observations.col(static_cast<Eigen::Index>(k)).data(), p.frames.data() + bytes * k);
  for (std::size_t k = 0; k < count; ++k) {
    const auto its = next.col(static_cast<Eigen::Index>(k));
    std::size_t same = k + 1;
    const std::size_t end = std::min(count, k + 1 + furthest);
    while (same < end && observations.col(static_cast<Eigen::Index>(same)) != its) ++same;
    if (same == end) {
      same = p.frames.size() / std::max<std::size_t>(1, bytes);
      p.frames.resize(p.frames.size() + bytes);
      how.encode(its.data(), p.frames.data() + bytes * same);
    }
    p.after.push_back(static_cast<std::uint32_t>(same));
  }
  return p;
}

MANTA_DECL void transitions::unpack(const packed& p) {
  const std::size_t count = p.after.size(), bytes = code.size();
  const observation_code& how = code;
  observations.resize(how.features(), static_cast<Eigen::Index>(count));
  next.resize(how.features(), static_cast<Eigen::Index>(count));
  for (std::size_t k = 0; k < count; ++k) {
    const auto column = static_cast<Eigen::Index>(k);
    how.decode(p.frames.data() + bytes * k, observations.col(column).data());
    how.decode(p.frames.data() + bytes * p.after[k], next.col(column).data());
  }
}

}  // namespace manta::rl
