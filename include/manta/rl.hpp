// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Reinforcement learning: environments, and algorithms whose workers act on any ranks. examples/19_rl.md has the tour.
//
//   rl::ppo algorithm("CartPole-v1", {.workers = 4, .seed = 1});
//   for (rl::report r; (r = algorithm.train()).mean_return < 475;) std::cout << r << '\n';
#pragma once

#include "manta/manta.hpp"
#include "manta/nn.hpp"
#include "manta/rl/algorithms/a2c.hpp"
#include "manta/rl/algorithms/a3c.hpp"
#include "manta/rl/algorithms/apex.hpp"
#include "manta/rl/algorithms/dqn.hpp"
#include "manta/rl/algorithms/impala.hpp"
#include "manta/rl/algorithms/log.hpp"
#include "manta/rl/algorithms/named_algorithm.hpp"
#include "manta/rl/algorithms/ppo.hpp"
#include "manta/rl/algorithms/sac.hpp"
#include "manta/rl/algorithms/td3.hpp"
#include "manta/rl/environments/callbacks.hpp"
#include "manta/rl/environments/check.hpp"
#include "manta/rl/environments/environment.hpp"
#include "manta/rl/environments/gymnasium.hpp"
#include "manta/rl/environments/wrappers.hpp"
#include "manta/rl/evolution/ars.hpp"
#include "manta/rl/evolution/es.hpp"
#include "manta/rl/policies/check_distribution.hpp"
#include "manta/rl/policies/player.hpp"
#include "manta/rl/workers/collection.hpp"
#include "manta/rl/worlds/classic.hpp"
