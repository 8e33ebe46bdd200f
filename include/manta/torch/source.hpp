// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// In the compiled mode each unit that includes a header on libtorch refers to an object of the compiled source. That
// source is one of its own, for a program with it has to link libtorch: manta/src.hpp does not include it.
#pragma once

#include "manta/base/config.hpp"

namespace manta {
MANTA_REQUIRES_SOURCE(one_source_of_this_program_has_to_include_manta_torch_src_hpp_and_to_find_libtorch);
}
