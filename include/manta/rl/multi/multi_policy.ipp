// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/rl/multi/multi_policy.hpp"

namespace manta::rl {

MANTA_DECL std::string frozen_policy::description() const {
  return player_ ? player_.name() : "frozen " + trained_.network().describe();
}

}  // namespace manta::rl
