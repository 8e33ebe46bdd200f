// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How a rank has died.
#pragma once

#include <cstdint>

namespace manta::net {

enum class end_by : std::uint8_t {
  unknown,  ///< manta-run is not there to tell
  itself,   ///< by its own doing (an exit, a signal, MPI_Abort), or killed for want of memory
  kill,     ///< by a signal from outside
  loss,     ///< with its node or its connection
};

}  // namespace manta::net
