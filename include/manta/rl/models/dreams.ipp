// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/error.hpp"
#include "manta/rl/base/require.hpp"
#include "manta/rl/models/dreams.hpp"

namespace manta::rl::detail {

inline ensemble_options ensemble_of(const any_environment& e, const dream_options& o, std::uint64_t seed) {
  require_one(".dreams.models", o.models);
  require_one(".dreams.length", o.length, " step");
  require_one(".dreams.per_step", o.per_step);
  require_plain_numbers("sac with .dreams", e);
  return {.models = o.models, .rate = o.rate, .model = o.model, .seed = base::mix(seed + 3)};
}

/// Observations are filtered, so those that the models know have no bounds.
inline space filtered(const space& observations) {
  box b = *observations.as_box();
  b.is_soft = true;
  return b;
}

MANTA_DECL dreams::dreams(const any_environment& e, const dream_options& o, double discount, std::uint64_t seed)
    : options_(o),
      discount_(discount),
      models_(filtered(e.observations()), e.actions().size(), ensemble_of(e, o, seed)) {
  refuse_distribution(o.model, "a model for .dreams");
  refuse_memory(models_.networks().front(), o.model, "a model for .dreams");
}

MANTA_DECL const replay::sample& dreams::dream(int k, const replay::sample& real, const act& policy, random& numbers) {
  const auto count = static_cast<Eigen::Index>(real.drawn.size());
  nn::matrix<float> from = real.drawn.observations;
  if (k % options_.length != 0) {
    for (Eigen::Index i = 0; i < count; ++i) {
      if (made_.drawn.discounts[static_cast<std::size_t>(i)] > 0.5 * discount_) from.col(i) = made_.drawn.next.col(i);
    }
  }
  transitions& to = made_.drawn;
  to.resize(from.rows(), real.drawn.actions.rows(), real.drawn.size());
  to.actions = policy(from);
  nn::matrix<float> noise(from.rows(), count);
  for (float& x : noise.reshaped()) x = static_cast<float>(numbers.normal());
  const Eigen::Index n = models_.models();
  for (Eigen::Index m = 0; m < n; ++m) {
    const Eigen::Index first = count * m / n, size = count * (m + 1) / n - first;
    if (size == 0) continue;
    models_.predict(static_cast<int>(m), from.middleCols(first, size), to.actions.middleCols(first, size),
                    noise.middleCols(first, size), step_);
    to.next.middleCols(first, size) = step_.next.cwiseMax(-10.f).cwiseMin(10.f);  // as filters have it
    for (Eigen::Index i = 0; i < size; ++i) {
      const auto at = static_cast<std::size_t>(first + i), j = static_cast<std::size_t>(i);
      to.rewards[at] = step_.rewards[j];
      to.discounts[at] = static_cast<float>(discount_) * (1 - step_.ends[j]);
    }
  }
  to.observations = std::move(from);
  made_.which = real.which;
  made_.weights.assign(real.drawn.size(), 1.f);
  return made_;
}

}  // namespace manta::rl::detail
