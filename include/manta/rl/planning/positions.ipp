// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/output/bytes.hpp"
#include "manta/rl/planning/positions.hpp"

namespace manta::rl {

MANTA_DECL void positions::resize(Eigen::Index features, Eigen::Index actions, std::size_t count) {
  const auto columns = static_cast<Eigen::Index>(count);
  observations.resize(features, columns);
  policies.resize(actions, columns);
  masks.resize(actions, columns);
  values.resize(count);
}

MANTA_DECL void positions::copy(const positions& other, std::size_t from, std::size_t to) {
  const auto i = static_cast<Eigen::Index>(from), k = static_cast<Eigen::Index>(to);
  observations.col(k) = other.observations.col(i);
  policies.col(k) = other.policies.col(i);
  masks.col(k) = other.masks.col(i);
  values[to] = other.values[from];
}

MANTA_DECL position_memory::position_memory(int features, int actions, std::size_t capacity) {
  all_.resize(features, actions, capacity);
}

MANTA_DECL void position_memory::add(const positions& p) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    all_.copy(p, i, next_);
    next_ = (next_ + 1) % all_.size();
    size_ = std::min(size_ + 1, all_.size());
  }
}

MANTA_DECL void position_memory::draw(random numbers, positions& to) const {
  // By age, so that a memory that was restored draws the same.
  const std::size_t oldest = size_ < all_.size() ? 0 : next_;
  for (std::size_t k = 0; k < to.size(); ++k)
    to.copy(all_, (oldest + static_cast<std::size_t>(numbers.index(static_cast<int>(size_)))) % all_.size(), k);
}

/// From the oldest one to the newest.
MANTA_DECL std::string position_memory::state() const {
  positions kept;
  kept.resize(all_.observations.rows(), all_.policies.rows(), size_);
  const std::size_t oldest = size_ < all_.size() ? 0 : next_;
  for (std::size_t k = 0; k < size_; ++k) kept.copy(all_, (oldest + k) % all_.size(), k);
  return output::pack(kept);
}

MANTA_DECL void position_memory::restore(const std::string& bytes) {
  positions kept;
  output::unpack(bytes, kept);
  size_ = next_ = 0;
  add(kept);
}

}  // namespace manta::rl
