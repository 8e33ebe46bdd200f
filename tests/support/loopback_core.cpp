// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// All parts of a rank, over the network of loopback_network.hpp in the place of MPI's.
#define MANTA_SOURCE

#include "manta/exec/layers.hpp"

#include "manta/exec/all_parts.ipp"
#include "manta/output/src.hpp"
#include "manta/report/src.hpp"

namespace manta {
MANTA_PROVIDES_SOURCE(MANTA_MISSING_SOURCE);
namespace detail {
const char* header_only_unit = nullptr;
}
}  // namespace manta
