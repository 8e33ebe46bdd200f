// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A program as one run.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "manta/base/text.hpp"
#include "manta/net/mpi_end.hpp"
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

/// Runs a task that has been kept, instead of the program. Returns the exit status.
inline int run_again(const std::string& file, runtime_options options) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > 1) {
    throw error(
        "manta: MANTA_RERUN runs one task in one process; start the program without mpirun, as `program "
        "--manta-rerun=" +
        file + "`, or in a debugger");
  }
  exec::kept_task task(file);
  options.journal = options.keep_failed = "";
  options.watchdog = 0;
  for (const char* const other : {"MANTA_JOURNAL", "MANTA_KEEP_FAILED", "MANTA_WATCHDOG"}) ::unsetenv(other);
  ::setenv("MANTA_SEED", base::text("{}", task.seed()).c_str(), 1);
  std::fprintf(stderr, "manta: runs again: %s\n", task.description().c_str());
  runtime rt(MPI_COMM_WORLD, options);
  return rt.run([&] {
    exec::engine& here = exec::engine::here("run");
    const exec::engine::guard g(here);
    const std::string failed = here.keeping().run_again(task);
    std::fprintf(stderr, failed.empty() ? "manta: the task has run to its end\n" : "%s\n", failed.c_str());
    return failed.empty() ? 0 : 1;
  });
}

/// A run of the whole program in a world where MPI runs. Returns the exit status.
inline int run_in_world(int& argc, char** argv, const runtime_options& options, int (*call)(void*), void* driver) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bool has_to_leave = false;
  int code = 1;
  try {
    std::string mistake;
    try {
      detail::move_arguments_to_environment(argc, argv);
    } catch (const error& wrong) {
      mistake = wrong.what();
    }
    if (base::environment_flag("MANTA_HELP", false)) {
      if (rank == 0) std::fputs(settings_help().c_str(), stdout);
      return 0;
    }
    if (const std::string kept = task_to_run_again(); !kept.empty() && mistake.empty()) return run_again(kept, options);
    runtime rt(MPI_COMM_WORLD, options, mistake);
    const struct at_end {
      const runtime& rt;
      bool& has_to_leave;
      ~at_end() { has_to_leave = rt.leaving(); }
    } look{rt, has_to_leave};
    code = rt.run([&] { return call(driver); });
    if (code < 0 || code > 255) {
      if (rank == 0) {
        print_error(error(base::text(
            "manta: the driver returned {}, which is no exit status, and the program ends with 1; return 0 to 255",
            code)));
      }
      code = 1;
    }
  } catch (const driver_failed&) {
    // rank 0 prints the driver's error
  } catch (const std::exception& e) {
    if (rank == 0) print_error(e);
  } catch (...) {
    if (rank == 0) print_error(std::runtime_error("an exception that is not a std::exception"));
  }
  return code == 1 && has_to_leave ? requeue_status : code;
}

/// Ends a program that has initialised MPI itself after a rank has died: its own MPI calls would wait for that rank.
[[noreturn]] inline void end_after_death(int status) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    std::fprintf(stderr,
                 "manta: a rank has died, and MPI calls of the program would wait for it, so the program ends here, "
                 "with status %d. A program that makes no such calls sets runtime_options::handles_deaths\n",
                 status);
  }
  std::exit(status);
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
  runtime_options all = options;
  all.handles_deaths = true;  // what follows manta::run makes no MPI call, or is not reached after a death
  const int code = run_in_world(argc, argv, all, call, driver);
  net::mpi_end::set_status(code);
  if (!net::mpi_is_given_up()) {
    if (initialised == 0) MPI_Finalize();
  } else if (initialised != 0 && !base::environment_flag("MANTA_HANDLES_DEATHS", options.handles_deaths)) {
    end_after_death(code);
  }
  return code;
}

}  // namespace manta::detail
