// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Opt-in, needs nlohmann's JSON: learning from files of episodes, without an
// environment. examples/25_rl_files.md has the tour.
//
//   rl::record("expert.episodes", "CartPole-v1", expert.trained(), {.episodes = 200, .seed = 1, .explore = true});
//   rl::episodes data = rl::read_episodes({"expert.episodes", "random.npz"});
//   rl::marwil better(data, {.seed = 1});
//   for (int i = 0; i < 50; ++i) std::cout << better.train() << '\n';
//   std::cout << rl::evaluate("CartPole-v1", better.trained(), 100) << '\n';
#pragma once

#include "manta/rl/offline/cql.hpp"
#include "manta/rl/offline/episodes.hpp"
#include "manta/rl/offline/estimate.hpp"
#include "manta/rl/offline/film.hpp"
#include "manta/rl/offline/imitation.hpp"
#include "manta/rl/offline/named_offline.hpp"
#include "manta/rl/offline/record.hpp"

namespace manta::rl {
MANTA_REQUIRES_SOURCE(one_source_of_this_program_has_to_include_manta_rl_src_offline_hpp_and_to_find_nlohmanns_JSON);
}
