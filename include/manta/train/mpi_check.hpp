// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// MPI's codes as errors.
#pragma once

#include <string>

#include "manta/error.hpp"
#include "manta/team.hpp"
#include "manta/train/source.hpp"

namespace manta::train::detail {

inline void check_mpi(int code, const char* what) {
  if (code != MPI_SUCCESS)
    throw error(std::string("manta: train: ") + what + " failed with MPI's code " + std::to_string(code));
}

}  // namespace manta::train::detail
