// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The whole program as one run: initialises MPI, runs the driver on rank 0 while the other ranks serve, finalises MPI.
#pragma once

#include <atomic>
#include <cstdint>

#include "manta/runtime.hpp"

namespace manta {

namespace detail {
/// How often this process has asked for its rank or node: what was made without such a question does not depend on them
/// as far as manta knows.
inline std::atomic<std::uint64_t> place_questions{0};
}  // namespace detail

/// This rank's number in the current run. Like size() and node() it does not communicate, and throws outside of a run.
inline int rank() {
  detail::place_questions.fetch_add(1, std::memory_order_relaxed);
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
  detail::place_questions.fetch_add(1, std::memory_order_relaxed);
  if (const exec::isolated_view* view = exec::engine::isolated()) return view->node;
  return exec::engine::here("node").network().node();
}

/// The exit status of a program that had to end early: its work is not done, and it should be started again.
inline constexpr int requeue_status = 85;

namespace detail {
/// Runs the program; `call(driver)` runs the driver and returns the exit code.
MANTA_DECL int run_program(int& argc, char** argv, const runtime_options& options, int (*call)(void*), void* driver);

template <class Driver>
int run_driver(int& argc, char** argv, const runtime_options& options, Driver& driver) {
  struct context {
    Driver& driver;  // a reference, because the address of a function is no void*
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

/// The argc that manta::run takes: the variable of main, which then counts the remaining arguments, or a constant.
class argument_count {
 public:
  /// Refers to the variable, in which manta::run stores the number of arguments that are not its own.
  argument_count(int& of_main) : count_(&of_main) {}
  /// Copies the number.
  argument_count(const int& number) : number_(number), count_(&number_) {}
  argument_count(const argument_count&) = delete;
  argument_count& operator=(const argument_count&) = delete;
  /// Returns the variable that manta::run changes.
  int& get() { return *count_; }

 private:
  int number_ = 0;
  int* count_;
};

/// Runs driver() on rank 0 of MPI_COMM_WORLD and returns the same exit code on every rank: the driver's int, or 0.
/// Prints an exception of the driver once, and then returns 1, or requeue_status if the run had to end
/// (runtime::leaving). Initialises MPI unless the caller has done so, and finalises what it has initialised.
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
/// Runs the driver with default settings.
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
