// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Compiles in no time, and only if the flags are those that a header-only program or a compiled one needs.
#include <mpi.h>

#if !__has_include(<manta/manta.hpp>) || !__has_include(<cereal/cereal.hpp>)
#error "an include folder is missing"
#endif
#if __cplusplus < 202002L
#error "this is no C++20"
#endif
#ifndef OMPI_SKIP_MPICXX
#error "OMPI_SKIP_MPICXX is not defined"
#endif

int main() {
  int initialised = 0;
  return MPI_Initialized(&initialised);
}
