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
#include "manta/rl/a2c.hpp"
#include "manta/rl/a3c.hpp"
#include "manta/rl/ars.hpp"
#include "manta/rl/callbacks.hpp"
#include "manta/rl/check.hpp"
#include "manta/rl/check_distribution.hpp"
#include "manta/rl/collection.hpp"
#include "manta/rl/dqn.hpp"
#include "manta/rl/environment.hpp"
#include "manta/rl/environments/classic.hpp"
#include "manta/rl/es.hpp"
#include "manta/rl/gymnasium.hpp"
#include "manta/rl/impala.hpp"
#include "manta/rl/log.hpp"
#include "manta/rl/named_algorithm.hpp"
#include "manta/rl/player.hpp"
#include "manta/rl/ppo.hpp"
#include "manta/rl/sac.hpp"
#include "manta/rl/td3.hpp"
#include "manta/rl/wrappers.hpp"
