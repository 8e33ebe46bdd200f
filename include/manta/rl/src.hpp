// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of rl, reinforcement learning, compiled once in the compiled mode (base/config.hpp). manta/src.hpp
// includes this file. A build that defines MANTA_SOURCES_APART compiles this file as a source of its own instead.
#pragma once

#ifndef MANTA_COMPILED
#error "manta/rl/src.hpp belongs to the compiled mode: compile every unit of the program with -DMANTA_COMPILED"
#endif
#define MANTA_SOURCE

#if __has_include(<Eigen/Core>)

#include "manta/manta.hpp"
#include "manta/nn.hpp"
#include "manta/rl/algorithms/a2c.ipp"
#include "manta/rl/algorithms/a3c.ipp"
#include "manta/rl/algorithms/apex.ipp"
#include "manta/rl/algorithms/apex_worker.ipp"
#include "manta/rl/algorithms/dqn.ipp"
#include "manta/rl/algorithms/impala.ipp"
#include "manta/rl/algorithms/log.ipp"
#include "manta/rl/algorithms/named_algorithm.ipp"
#include "manta/rl/algorithms/off_policy.ipp"
#include "manta/rl/algorithms/on_policy.ipp"
#include "manta/rl/algorithms/ppo.ipp"
#include "manta/rl/algorithms/sac.ipp"
#include "manta/rl/algorithms/td3.ipp"
#include "manta/rl/base/film_page.ipp"
#include "manta/rl/base/multi_report.ipp"
#include "manta/rl/base/report.ipp"
#include "manta/rl/base/require.ipp"
#include "manta/rl/environments/action_mask.ipp"
#include "manta/rl/environments/check.ipp"
#include "manta/rl/environments/environment.ipp"
#include "manta/rl/environments/gymnasium.ipp"
#include "manta/rl/environments/hang_watch.ipp"
#include "manta/rl/environments/space.ipp"
#include "manta/rl/environments/spaces.ipp"
#include "manta/rl/environments/vector_environment.ipp"
#include "manta/rl/environments/wrappers.ipp"
#include "manta/rl/evolution/ars.ipp"
#include "manta/rl/evolution/es.ipp"
#include "manta/rl/evolution/evolution.ipp"
#include "manta/rl/evolution/evolution_worker.ipp"
#include "manta/rl/learning/actor_critic.ipp"
#include "manta/rl/learning/algorithm.ipp"
#include "manta/rl/learning/frame_store.ipp"
#include "manta/rl/learning/off_policy_learner.ipp"
#include "manta/rl/learning/policy_learner.ipp"
#include "manta/rl/learning/replay.ipp"
#include "manta/rl/learning/twin_critics.ipp"
#include "manta/rl/policies/acting_policy.ipp"
#include "manta/rl/policies/check_distribution.ipp"
#include "manta/rl/policies/distribution.ipp"
#include "manta/rl/policies/evaluation.ipp"
#include "manta/rl/policies/exploration.ipp"
#include "manta/rl/policies/filter.ipp"
#include "manta/rl/policies/player.ipp"
#include "manta/rl/policies/policy.ipp"
#include "manta/rl/policies/trained_policy.ipp"
#include "manta/rl/source.hpp"
#include "manta/rl/workers/collection.ipp"
#include "manta/rl/workers/observation_code.ipp"
#include "manta/rl/workers/off_policy_worker.ipp"
#include "manta/rl/workers/transitions.ipp"
#include "manta/rl/workers/worker.ipp"
#include "manta/rl/worlds/classic.ipp"

namespace manta::rl {
MANTA_PROVIDES_SOURCE(one_source_of_this_program_has_to_include_manta_src_hpp_and_to_find_Eigen);
}

#endif

#ifndef MANTA_SOURCES_APART
#include "manta/rl/src_games.hpp"
#include "manta/rl/src_models.hpp"
#endif
