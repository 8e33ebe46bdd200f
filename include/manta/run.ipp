// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A program as one run.
#pragma once

#include <unistd.h>

#include <cstdio>

#include "manta/run.hpp"

namespace manta::detail {

/// Prints an error of the driver or of the run itself.
inline void print_error(const std::exception& e) {
  const std::string_view text = base::text_of(e);
  std::fprintf(stderr, "%s%s\n", text.starts_with("manta: ") ? "" : "manta: the driver failed: ", text.data());
}

/// Whether a run may begin in this process; if not, prints why.
inline bool may_run() {
  const exec::isolated_view* const isolated = exec::engine::isolated();
  if (const exec::engine* const outer = exec::engine::current(); outer != nullptr || isolated != nullptr) {
    std::fprintf(stderr,
                 "manta: rank %u: manta::run was called in the middle of a run, and gives 1; a task starts others with "
                 "manta::async, and another program as a process of its own\n",
                 isolated != nullptr ? isolated->rank.number() : outer->rank());
    return false;
  }
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised == 0) return true;
  print_error(error(
      "manta: run: MPI has ended, and cannot begin again in a process; manta::run ends it if it began it, so use it "
      "once, or call MPI_Init_thread yourself and make a manta::runtime as often as you like"));
  return false;
}

MANTA_DECL int run_program(int& argc, char** argv, const runtime_options& options, int (*call)(void*), void* driver) {
  if (!may_run()) return 1;
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised == 0) {
    exec::engine::prepare_isolation(true);
    int level = 0;
    MPI_Init_thread(&argc, &argv, wanted_thread_level(), &level);
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool is_root = rank == 0;
  bool has_to_leave = false;
  int code = 1;
  try {
    std::string mistake;
    try {
      detail::move_arguments_to_environment(argc, argv);
    } catch (const error& wrong) {
      mistake = wrong.what();
    }
    runtime rt(MPI_COMM_WORLD, options, mistake);
    const struct at_end {
      const runtime& rt;
      bool& has_to_leave;
      ~at_end() { has_to_leave = rt.leaving(); }
    } look{rt, has_to_leave};
    code = rt.run([&] { return call(driver); });
  } catch (const driver_failed&) {
    // rank 0 prints the driver's error
  } catch (const std::exception& e) {
    if (is_root) print_error(e);
  } catch (...) {
    if (is_root) print_error(std::runtime_error("an exception that is not a std::exception"));
  }
  if (code == 1 && has_to_leave) code = requeue_status;
  if (net::mpi_is_given_up()) {  // a rank has died, and MPI_Finalize may wait for it
    std::fflush(nullptr);
    ::_exit(code);
  }
  if (initialised == 0) MPI_Finalize();
  return code;
}

}  // namespace manta::detail
