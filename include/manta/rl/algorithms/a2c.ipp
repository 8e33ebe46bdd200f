// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of a2c.hpp.
#pragma once

#include "manta/rl/algorithms/a2c.hpp"

namespace manta::rl {

MANTA_DECL a2c::a2c(const any_environment& e, const a2c_options& o)
    : on_policy("a2c", e,
                {.workers = o.workers,
                 .environments = o.environments,
                 .seed = o.seed,
                 .how = {.steps = o.fragment, .discount = o.discount, .lambda = o.lambda},
                 .normalise_observations = o.normalise_observations,
                 .normalise_rewards = o.normalise_rewards,
                 .model = o.model,
                 .collection = o.collection,
                 .anneal_steps = o.anneal_steps,
                 .can_remember = true},
                nn::rmsprop({.rate = o.rate, .epsilon = 1e-5})),
      options_(o) {
  detail::require_sense(o);
  detail::require_one(".updates", o.updates);
}

MANTA_DECL void a2c::iterate(report& r) {
  sums_ = {};
  norms_ = 0;
  for (int i = 0; i < options_.updates; ++i) on_policy::iterate(r);
  sums_.write(r.learner);
  r.learner["gradient_norm"] = norms_ / options_.updates;
}

MANTA_DECL void a2c::learn(const fragment& all, report&) {
  zero_gradients();
  sums_.add(detail::add_gradients(policy_, *distribution_, all, {options_.value, options_.entropy}, spread_gradients_));
  norms_ += step(options_.clip_norm);
}

}  // namespace manta::rl
