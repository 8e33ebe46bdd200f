// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The whole program as one run: initialise MPI, run the driver on rank 0 while
// the other ranks serve, finalise.
#pragma once

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
/// `call(driver)` gives the exit code.
MANTA_DECL int run_program(int& argc, char** argv, const runtime_options& options, int (*call)(void*), void* driver);

template <class Driver>
int run_driver(int& argc, char** argv, const runtime_options& options, Driver& driver) {
  struct context {
    Driver& driver;  // a function has no address that is a void*
  } c{driver};
  const auto call = [](void* it) -> int {
    Driver& d = static_cast<context*>(it)->driver;
    if constexpr (std::is_void_v<decltype(d())>) {
      d();
      return 0;
    } else {
      return static_cast<int>(d());
    }
  };
  return run_program(argc, argv, options, call, &c);
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
    return detail::run_driver(argc.get(), argv, options, driver);
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
    return detail::run_driver(argc.get(), argv, runtime_options{}, driver);
  }
}

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/run.ipp"
#endif
