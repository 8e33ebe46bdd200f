// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/base/require.hpp"
#include "manta/rl/models/ensemble_planner.hpp"
#include "manta/rl/pets.hpp"

namespace manta::rl {

namespace detail {

inline cem_options search_of(const pets_options& o, std::uint64_t seed) {
  return {.horizon = o.horizon,
          .candidates = o.candidates,
          .elites = o.elites,
          .rounds = o.rounds,
          .deviation = o.deviation,
          .seed = seed};
}

inline off_policy_options told_by_pets(const any_environment& e, const pets_options& o) {
  require_bounded_actions("pets", e);
  require_plain_numbers("pets", e);
  require_one(".models", o.models);
  require_one(".particles", o.particles);
  require_one(".batch", o.batch);
  return {.workers = o.workers,
          .seed = o.seed,
          .environments = o.environments,
          .fragment = o.fragment,
          .discount = 1,
          .batch = o.batch * o.models,
          .steps_per_update = o.steps_per_update,
          .updates = o.updates,
          .n_step = 1,
          .learning_starts = o.learning_starts,
          .replay_size = o.replay_size,
          .replay_rank = o.replay_rank,
          .normalise_observations = false,
          .normalise_rewards = false,
          .exploration = {.how = exploration_options::way::squashed, .pink = true},
          .schedule = o.schedule,
          .collection = o.collection};
}

MANTA_DECL pets_learner::pets_learner(const any_environment& e, const pets_options& o)
    : off_policy_learner("pets", e, told_by_pets(e, o)),
      options_(o),
      models_(e.observations(), e.actions().size(),
              {.models = o.models, .rate = o.rate, .weight_decay = o.weight_decay, .model = o.model, .seed = o.seed}),
      identity_(nn::shape{e.observations().features()}, nn::flatten()) {
  require_sense(o);
  refuse_distribution(o.model, "pets");
  refuse_memory(models_.networks().front(), o.model, "pets");
  (void)line_search(e.actions().size(), search_of(o, o.seed));  // throws where the options of the search make no sense
}

MANTA_DECL own_action_planner pets_learner::planner() const {
  return own<ensemble_planner>(
      ensemble_plan_setting{models_, search_of(options_, told_.seed), options_.particles, options_.reward});
}

MANTA_DECL void pets_learner::update(const replay::sample& s, random&, std::vector<float>&,
                                     std::map<std::string, double>& figures) {
  models_.learn(s.drawn, told_.schedule(static_cast<double>(steps())), figures);
}

MANTA_DECL std::string pets_learner::description() const {
  return base::text("{}{}{}", models_.describe(), named(options_.reward), named(told_.collection));
}

}  // namespace detail

MANTA_DECL pets::pets(const any_environment& e, const pets_options& o)
    : off_policy(std::make_unique<detail::pets_learner>(e, o)) {}

}  // namespace manta::rl
