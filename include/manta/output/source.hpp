// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// In the compiled mode each unit that includes a header of output refers to an object of the compiled source. Where
// that source is missing, the linker names this object, and its name says what to do.
#pragma once

#include "manta/base/config.hpp"

namespace manta::output {
MANTA_REQUIRES_SOURCE(one_source_of_this_program_has_to_include_manta_src_hpp);
}
