// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of manta/torch.hpp, compiled once in the compiled mode (base/config.hpp). Where libmanta.a was built
// without them (-Dtorch=disabled), one source of the program includes this file beside manta/src.hpp, and the program
// links libtorch (-ltorch -ltorch_cpu -lc10).
#pragma once

#ifndef MANTA_COMPILED
#error "manta/torch/src.hpp belongs to the compiled mode: compile every unit of the program with -DMANTA_COMPILED"
#endif
#define MANTA_SOURCE

#if __has_include(<torch/torch.h>) && __has_include(<Eigen/Core>)

#include "manta/torch/core.ipp"
#include "manta/torch/source.hpp"
#include "manta/torch/tensor.ipp"

namespace manta {
MANTA_PROVIDES_SOURCE(one_source_of_this_program_has_to_include_manta_torch_src_hpp_and_to_find_libtorch);
}

#endif
