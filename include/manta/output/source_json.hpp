// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// In the compiled mode each unit that includes a header on JSON refers to an object of the compiled
// source; see source.hpp.
#pragma once

#include "manta/base/config.hpp"

namespace manta::output {
MANTA_REQUIRES_SOURCE(one_source_of_this_program_has_to_include_manta_src_hpp_and_to_find_nlohmann_json);
}
