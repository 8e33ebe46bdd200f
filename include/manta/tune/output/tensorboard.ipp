// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of tensorboard.hpp.
#pragma once

#include "manta/tune/output/tensorboard.hpp"

namespace manta::tune {

MANTA_DECL void tensorboard::report(const trial_record& t, const metrics& m, double) {
  output::tensorboard& file = files_.of(t.id, [](const std::string& folder) { return output::tensorboard(folder); });
  file.write(static_cast<std::int64_t>(t.iteration), detail::row_of(m), fixed_time_);
}

}  // namespace manta::tune
