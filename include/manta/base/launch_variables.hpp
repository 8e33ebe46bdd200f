// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The variables of the environment by which MPI, the launcher and Slurm tell a process which rank of which job it is. A
// program that a rank starts must not have them: MPI_Init would take it for this rank, and mpirun refuses to start.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace manta::base {

/// Whether this variable, NAME=value, belongs to one rank.
inline bool is_of_one_rank(std::string_view variable) {
  for (const std::string_view prefix : {"OMPI_COMM_WORLD_",
                                        "OMPI_MCA_orte_",
                                        "OMPI_MCA_ess",
                                        "OMPI_MCA_pmix",
                                        "OMPI_MCA_shmem_RUNTIME_QUERY_hint",
                                        "OMPI_MCA_initial_wdir",
                                        "OMPI_MCA_mpi_yield_when_idle",
                                        "OMPI_APP_CTX_NUM_PROCS",
                                        "OMPI_FIRST_RANKS",
                                        "OMPI_NUM_APP_CTX",
                                        "OMPI_UNIVERSE_SIZE",
                                        "OMPI_ARGV",
                                        "OMPI_COMMAND",
                                        "OMPI_FILE_LOCATION",
                                        "OMPI_PRINT_BACKTRACE",
                                        "PMIX_",
                                        "PMI_",
                                        "ORTE_",
                                        "PRTE_LAUNCHED",
                                        "MANTA_RECOVERY",
                                        "SLURM_PROCID",
                                        "SLURM_LOCALID",
                                        "SLURM_NODEID",
                                        "SLURM_GTIDS",
                                        "SLURM_STEP",
                                        "SLURM_TASK_PID",
                                        "SLURM_LAUNCH_NODE_IPADDR",
                                        "SLURM_SRUN_COMM_"}) {
    if (variable.starts_with(prefix)) return true;
  }
  return false;
}

/// The environment of this process without these variables, ended by a null pointer. The texts belong
/// to the environment.
inline std::vector<char*> variables_of_no_rank() {
  std::vector<char*> kept;
  for (char** v = environ; *v != nullptr; ++v) {
    if (!is_of_one_rank(*v)) kept.push_back(*v);
  }
  kept.push_back(nullptr);
  return kept;
}

/// Takes these variables out of the environment of this process.
inline void be_no_rank() {
  std::vector<std::string> names;
  for (char** v = environ; *v != nullptr; ++v) {
    const std::string_view variable = *v;
    if (is_of_one_rank(variable)) names.emplace_back(variable.substr(0, variable.find('=')));
  }
  for (const std::string& name : names) ::unsetenv(name.c_str());
}

}  // namespace manta::base
