// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a rank's memory grows to while something runs.
#pragma once

#include <malloc.h>
#include <mpi.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace manta::testing {

/// A rank's resident memory, in bytes: before, at most, and afterwards.
struct memory_growth {
  double before = 0, most = 0, after = 0;
  double grown() const { return most - before; }
};

/// Of this rank around `body`. Collective.
template <class Body>
memory_growth measure_memory(Body&& body) {
  const auto memory = [](const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with(name + ":")) return std::strtod(line.c_str() + name.size() + 1, nullptr) * 1024;
    }
    return 0.0;
  };
  MPI_Barrier(MPI_COMM_WORLD);
  mallopt(M_PERTURB, 0);  // where MALLOC_PERTURB_ is set, realloc() fills all the free memory behind what it grows
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins anew
  memory_growth m;
  m.before = memory("VmRSS");
  body();
  m.most = memory("VmHWM");
  m.after = memory("VmRSS");
  return m;
}

}  // namespace manta::testing
