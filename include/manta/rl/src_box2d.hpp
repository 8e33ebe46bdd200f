// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of lunar_lander.hpp, compiled once in the compiled mode, apart from the rest of rl because they need
// Box2D. A program that includes lunar_lander.hpp includes this file in one of its sources, or links with a library of
// manta that was built where Box2D was found.
#pragma once

#ifndef MANTA_COMPILED
#error "manta/rl/src_box2d.hpp belongs to the compiled mode: compile every unit of the program with -DMANTA_COMPILED"
#endif
#define MANTA_SOURCE

#if __has_include(<box2d/box2d.h>) && __has_include(<Eigen/Core>)

#include "manta/rl/lunar_lander.ipp"

namespace manta::rl {
MANTA_PROVIDES_SOURCE(one_source_of_this_program_has_to_include_manta_rl_src_box2d_hpp_and_to_find_Box2D);
}

#endif
