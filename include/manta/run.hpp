// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The whole program as one run: initialise MPI, run the driver on rank 0 while
// the other ranks serve, finalise.
#pragma once

#include <unistd.h>

#include <cstdio>

#include "manta/runtime.hpp"

namespace manta {

/// This rank in the current run. Like size() and node() it asks nobody, and throws outside of a run.
inline int rank() {
  if (const exec::isolated_view* view = exec::engine::isolated()) return static_cast<int>(view->rank);
  return static_cast<int>(exec::engine::here("rank").rank());
}
/// The number of ranks in the current run, spare ranks included.
inline int size() {
  if (const exec::isolated_view* view = exec::engine::isolated()) return static_cast<int>(view->size);
  return static_cast<int>(exec::engine::here("size").size());
}
/// The index of this rank's node, from 0.
inline int node() {
  if (const exec::isolated_view* view = exec::engine::isolated()) return view->node;
  return exec::engine::here("node").network().node();
}

/// The exit status that says: not done, start me again.
inline constexpr int requeue_status = 85;

namespace detail {
template <class Driver>
int run_program(int& argc, char** argv, const runtime_options& options, Driver& driver) {
  const exec::isolated_view* const isolated = exec::engine::isolated();
  if (const exec::engine* const outer = exec::engine::current(); outer != nullptr || isolated != nullptr) {
    std::fprintf(stderr, "manta: rank %u: manta::run was called in the middle of a run, and gives 1; a task starts others with manta::async, "
                 "and another program as a process of its own\n", isolated != nullptr ? isolated->rank : outer->rank());
    return 1;
  }
  int initialised = 0;
  MPI_Initialized(&initialised);
  bool is_root = true, has_to_leave = false;
  int code = 1;
  const auto report = [&](const std::exception& e) {
    if (is_root) {
      const std::string_view text = base::text_of(e);
      std::fprintf(stderr, "%s%s\n", text.starts_with("manta: ") ? "" : "manta: the driver failed: ", text.data());
    }
  };
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised != 0) {
    report(error("manta: run: MPI has ended, and cannot begin again in a process; manta::run ends it if it began it, so use it "
                 "once, or call MPI_Init_thread yourself and make a manta::runtime as often as you like"));
    return 1;
  }
  if (initialised == 0) {
    exec::engine::prepare_isolation(true);
    int level = 0;
    MPI_Init_thread(&argc, &argv, wanted_thread_level(), &level);
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  is_root = rank == 0;
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
    if constexpr (std::is_void_v<decltype(driver())>) {
      rt.run(driver);
      code = 0;
    } else {
      code = rt.run(driver);
    }
  } catch (const driver_failed&) {
    // rank 0 says it
  } catch (const std::exception& e) {
    report(e);
  } catch (...) {
    report(std::runtime_error("an exception that is not a std::exception"));
  }
  if (code == 1 && has_to_leave) code = requeue_status;
  if (net::mpi_is_given_up()) {  // a rank has died, and MPI_Finalize may wait for it
    std::fflush(nullptr);
    ::_exit(code);
  }
  if (initialised == 0) MPI_Finalize();
  return code;
}
}  // namespace detail

/// The argc that manta::run takes: that of main, which then counts what is left, or a constant.
class argument_count {
 public:
  /// Refers to the variable, in which manta::run leaves the number of arguments that are not its own.
  argument_count(int& of_main) : count_(&of_main) {}
  /// Copies the number.
  argument_count(const int& number) : number_(number), count_(&number_) {}
  argument_count(const argument_count&) = delete;
  argument_count& operator=(const argument_count&) = delete;
  /// Gives the variable that manta::run changes.
  int& get() { return *count_; }

 private:
  int number_ = 0;
  int* count_;
};

/// Runs driver() on rank 0 of MPI_COMM_WORLD and returns the same exit code on every rank: the driver's int, or 0.
/// An exception is printed once and gives 1, or requeue_status if it came because the run had to end (runtime::leaving).
/// Initialises MPI unless the caller did, and finalises only then.
/// Takes --manta-NAME=VALUE out of argc and argv before the driver runs.
template <class Driver>
int run(argument_count argc, char** argv, const runtime_options& options, Driver&& driver) {
  using Mistake = decltype(detail::mistake_in_program<Driver>());
  (void)typename Mistake::sentence();
  if constexpr (Mistake::found) {
    return 1;
  } else {
    return detail::run_program(argc.get(), argv, options, driver);
  }
}
/// The same with default settings.
template <class Driver>
int run(argument_count argc, char** argv, Driver&& driver) {
  using Mistake = decltype(detail::mistake_in_program<Driver>());
  (void)typename Mistake::sentence();
  if constexpr (Mistake::found) {
    return 1;
  } else {
    return detail::run_program(argc.get(), argv, runtime_options{}, driver);
  }
}

}  // namespace manta
