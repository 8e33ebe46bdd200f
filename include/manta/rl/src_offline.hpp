// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of offline.hpp, compiled once in the compiled mode, apart from the rest of rl because they need
// nlohmann's JSON. manta/src.hpp includes this file. A build that defines MANTA_SOURCES_APART compiles this file as a
// source of its own instead.
#pragma once

#ifndef MANTA_COMPILED
#error "manta/rl/src_offline.hpp belongs to the compiled mode: compile every unit of the program with -DMANTA_COMPILED"
#endif
#define MANTA_SOURCE

#if __has_include(<nlohmann/json.hpp>) && __has_include(<Eigen/Core>)

#include "manta/rl/offline.hpp"
#include "manta/rl/offline/action_probability.ipp"
#include "manta/rl/offline/cql.ipp"
#include "manta/rl/offline/episode_file.ipp"
#include "manta/rl/offline/episode_npz.ipp"
#include "manta/rl/offline/episodes.ipp"
#include "manta/rl/offline/estimate.ipp"
#include "manta/rl/offline/film.ipp"
#include "manta/rl/offline/imitation.ipp"
#include "manta/rl/offline/imitation_worker.ipp"
#include "manta/rl/offline/named_offline.ipp"
#include "manta/rl/offline/record.ipp"

namespace manta::rl {
MANTA_PROVIDES_SOURCE(one_source_of_this_program_has_to_include_manta_rl_src_offline_hpp_and_to_find_nlohmanns_JSON);
}

#endif
