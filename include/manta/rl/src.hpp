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
#include "manta/rl/a2c.ipp"
#include "manta/rl/a3c.ipp"
#include "manta/rl/action_mask.ipp"
#include "manta/rl/actor_critic.ipp"
#include "manta/rl/algorithm.ipp"
#include "manta/rl/ars.ipp"
#include "manta/rl/check.ipp"
#include "manta/rl/check_distribution.ipp"
#include "manta/rl/collection.ipp"
#include "manta/rl/distribution.ipp"
#include "manta/rl/dqn.ipp"
#include "manta/rl/environment.ipp"
#include "manta/rl/environments/classic.ipp"
#include "manta/rl/es.ipp"
#include "manta/rl/evaluation.ipp"
#include "manta/rl/evolution.ipp"
#include "manta/rl/evolution_trials.ipp"
#include "manta/rl/exploration.ipp"
#include "manta/rl/filter.ipp"
#include "manta/rl/gymnasium.ipp"
#include "manta/rl/hang_watch.ipp"
#include "manta/rl/impala.ipp"
#include "manta/rl/log.ipp"
#include "manta/rl/named_algorithm.ipp"
#include "manta/rl/off_policy.ipp"
#include "manta/rl/off_policy_worker.ipp"
#include "manta/rl/on_policy.ipp"
#include "manta/rl/player.ipp"
#include "manta/rl/policy.ipp"
#include "manta/rl/policy_learner.ipp"
#include "manta/rl/ppo.ipp"
#include "manta/rl/replay.ipp"
#include "manta/rl/report.ipp"
#include "manta/rl/require.ipp"
#include "manta/rl/sac.ipp"
#include "manta/rl/source.hpp"
#include "manta/rl/space.ipp"
#include "manta/rl/td3.ipp"
#include "manta/rl/trained_policy.ipp"
#include "manta/rl/twin_critics.ipp"
#include "manta/rl/vector_environment.ipp"
#include "manta/rl/worker.ipp"
#include "manta/rl/wrappers.ipp"

namespace manta::rl {
MANTA_PROVIDES_SOURCE(one_source_of_this_program_has_to_include_manta_src_hpp_and_to_find_Eigen);
}

#endif
