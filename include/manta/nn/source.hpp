// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// In the compiled mode each unit that includes a header of nn refers to an object of the compiled source. Where that
// source is missing, or was compiled without Eigen, the linker names this object once, and its name says what to do.
#pragma once

#include "manta/base/config.hpp"

#ifdef MANTA_COMPILED
namespace cereal {  // the archives for which the source has the serialize functions of networks, optimisers and losses
class BinaryInputArchive;
class BinaryOutputArchive;
}  // namespace cereal
#endif

namespace manta::nn {
MANTA_REQUIRES_SOURCE(one_source_of_this_program_has_to_include_manta_src_hpp_and_to_find_Eigen);
}
