// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/rl/algorithms/a2c.hpp"

namespace manta::rl {

namespace detail {

MANTA_DECL a2c_learner::a2c_learner(const any_environment& e, const a2c_options& o)
    : policy_learner("a2c", e, told_by(o, remembers), nn::rmsprop({.rate = o.rate, .epsilon = 1e-5})),
      weights_{o.value, entropy_weight(o.entropy, *distribution_, 0.001)},
      clip_norm_(o.clip_norm) {
  require_sense(o);
  require_one(".updates", o.updates);
}

MANTA_DECL void a2c_learner::learn(const fragment& all, report& r) {
  if (r.learner.empty()) {  // an iteration begins
    sums_ = {};
    norms_ = updates_ = 0;
  }
  zero_gradients();
  sums_.add(add_gradients(policy_, *distribution_, all, weights_, spread_gradients_));
  norms_ += step(clip_norm_);
  sums_.write(r.learner);
  r.learner["gradient_norm"] = norms_ / ++updates_;
}

}  // namespace detail

MANTA_DECL a2c::a2c(const any_environment& e, const a2c_options& o)
    : on_policy(std::make_unique<detail::a2c_learner>(e, o)), updates_(o.updates) {}

MANTA_DECL void a2c::iterate(report& r) {
  for (int i = 0; i < updates_; ++i) on_policy::iterate(r);
}

}  // namespace manta::rl
