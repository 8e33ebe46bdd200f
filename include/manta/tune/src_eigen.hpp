// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The searchers that need Eigen, see src.hpp.
#pragma once

#ifndef MANTA_COMPILED
#error "manta/tune/src_eigen.hpp belongs to the compiled mode: compile every unit of the program with -DMANTA_COMPILED"
#endif
#define MANTA_SOURCE

#if __has_include(<Eigen/Core>)

#include "manta/tune/bayesian.ipp"
#include "manta/tune/cma_es.ipp"
#include "manta/tune/gaussian_process.ipp"
#include "manta/tune/pb2.ipp"

namespace manta::tune {
MANTA_PROVIDES_SOURCE(one_source_of_this_program_has_to_include_manta_src_hpp_and_to_find_Eigen);
}

#endif
