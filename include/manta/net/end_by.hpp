// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The cause of a rank's death.
#pragma once

#include <cstdint>

namespace manta::net {

enum class end_by : std::uint8_t {
  unknown,  ///< there is no manta-run that could say
  itself,   ///< the process ended by itself (an exit, a signal, MPI_Abort), or was killed because memory ran out
  kill,     ///< a signal from outside
  loss,     ///< the loss of its node or its connection
};

}  // namespace manta::net
