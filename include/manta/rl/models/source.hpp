// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// As source.hpp above this folder, for the source that has the models.
#pragma once

#include "manta/base/config.hpp"

namespace manta::rl {
MANTA_REQUIRES_SOURCE(one_source_of_this_program_has_to_include_manta_src_hpp_or_manta_rl_src_models_hpp);
}
