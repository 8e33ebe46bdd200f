// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// As source.hpp, for the searchers that need Eigen.
#pragma once

#include "manta/base/config.hpp"

namespace manta::tune {
MANTA_REQUIRES_SOURCE(one_source_of_this_program_has_to_include_manta_src_hpp_and_to_find_Eigen);
}
