// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of pets.hpp and of what learns and plans on models, compiled once in the compiled mode. src.hpp
// includes this file. A build that defines MANTA_SOURCES_APART compiles it as a source of its own instead.
#pragma once

#ifndef MANTA_COMPILED
#error "manta/rl/src_models.hpp belongs to the compiled mode: compile every unit of the program with -DMANTA_COMPILED"
#endif
#define MANTA_SOURCE

#if __has_include(<Eigen/Core>)

#include "manta/rl/models/cem.ipp"
#include "manta/rl/models/dreams.ipp"
#include "manta/rl/models/dynamics_ensemble.ipp"
#include "manta/rl/models/ensemble_planner.ipp"
#include "manta/rl/pets.ipp"

namespace manta::rl {
MANTA_PROVIDES_SOURCE(one_source_of_this_program_has_to_include_manta_src_hpp_or_manta_rl_src_models_hpp);
}

#endif
