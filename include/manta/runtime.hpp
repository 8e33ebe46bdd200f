// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// manta inside a running SPMD program: enter, run a task phase, leave, go on
// with MPI.
//
//   manta::runtime rt(MPI_COMM_WORLD);              // collective
//   double best = rt.run([&] { return search(); }); // collective; the driver runs on rank 0
#pragma once

#include <mpi.h>

#include "manta/options.hpp"

namespace manta {

namespace detail {
template <class Driver>
struct driver_with_parameters {
  static_assert(base::never<Driver>,
                "manta: the driver is called without arguments: [] { ... }; capture what it needs");
};
template <class R>
struct result_that_is_no_status {
  static_assert(base::never<R>,
                "manta: the driver of manta::run returns nothing or an int, the exit status; a runtime's run() returns "
                "any value");
};

/// Whether a driver has parameters. One whose body does not compile cannot be called either, and seems to have none.
template <class Driver>
constexpr bool driver_has_parameters = requires {
  &Driver::operator();
}
|| requires { &Driver::template operator()<int>; }
|| !std::is_class_v<Driver>;

template <class Driver>
using mistake_in_uncallable = std::conditional_t<driver_has_parameters<std::remove_cvref_t<Driver>>,
                                                 base::mistake<driver_with_parameters, Driver>, base::no_mistake>;

template <class Driver>
constexpr auto mistake_in_driver() {
  if constexpr (!std::is_invocable_v<Driver&>) {
    return mistake_in_uncallable<Driver>();
  } else if constexpr (std::is_void_v<std::invoke_result_t<Driver&>>) {
    return base::no_mistake();
  } else {
    return wire::mistake_in_value<std::remove_cvref_t<std::invoke_result_t<Driver&>>>();
  }
}
/// Checks the driver of manta::run, whose result is the exit status.
template <class Driver>
constexpr auto mistake_in_program() {
  if constexpr (!std::is_invocable_v<Driver&>) {
    return mistake_in_uncallable<Driver>();
  } else {
    using R = std::remove_cvref_t<std::invoke_result_t<Driver&>>;
    // bool is refused: `return is_right;` would end a program that is right with status 1.
    constexpr bool is_number =
        std::is_convertible_v<R, int> && !std::is_floating_point_v<R> && !std::is_same_v<R, bool>;
    constexpr bool gives_status = std::is_void_v<R> || is_number;
    return std::conditional_t<gives_status, base::no_mistake, base::mistake<result_that_is_no_status, R>>();
  }
}
}  // namespace detail

/// manta on the ranks of a communicator, for programs that have MPI of their own. Made and destroyed collectively,
/// before MPI_Finalize. Several may exist and be used in turn; one run inside another throws.
class runtime {
 public:
  /// Collective over `comm`, which is duplicated and never used itself. MPI must be initialised, with at least
  /// MPI_THREAD_SERIALIZED unless options.progress_thread is off; throws on all ranks if it is not, if the ranks do
  /// not run the same program, or if a setting is wrong.
  explicit runtime(MPI_Comm comm, const runtime_options& options = {}) : runtime(comm, options, std::string()) {}

  /// Throws on all ranks if any rank gives a `mistake`: an error in its settings that it has found before.
  runtime(MPI_Comm comm, const runtime_options& options, std::string mistake)
      : engine_(comm, settings(comm, options, std::move(mistake))) {}

  /// Collective; may be called again and again. driver() runs on rank 0 while the other ranks serve; its result is
  /// returned on every rank. When the driver returns, tasks that have not ended are completed first; then all actors
  /// end. When it throws, tasks that have not started are dropped and running ones see stop_requested(); the exception
  /// leaves on rank 0, driver_failed on the others. Between two calls the ranks are free for the caller's own MPI.
  /// If a rank has died in this run, the run is completed without it, and then throws rank_lost on every rank: the
  /// caller's own MPI would wait for the dead rank. With runtime_options::handles_deaths it returns the result.
  template <class Driver>
  auto run(Driver&& driver) {
    using Mistake = decltype(detail::mistake_in_driver<Driver>());
    (void)typename Mistake::sentence();
    if constexpr (!Mistake::found) {
      using R = std::remove_cvref_t<decltype(driver())>;
      if constexpr (std::is_void_v<R>) {
        run_driver<R>(driver);
      } else {
        const wire::buffer bytes = run_driver<R>(driver);
        wire::source in(bytes.data(), bytes.size());
        const std::unique_ptr<R> value(wire::decode<R>(in));
        return R(std::move(*value));
      }
    }
  }

  /// Whether the run has to end: SIGTERM or SIGUSR1 has come, or the allocation ends soon (runtime_options::end_time).
  /// From then on no task is started: tasks that have not begun fail with `cancelled`, running ones and the driver see
  /// this_task::stop_requested(). Calls of actors go through, so that the driver can save what they hold.
  bool leaving() const { return !engine_.leaving().empty(); }

  /// The ranks of the communicator that have died, in ascending order; between two runs too, where rank 0 has noticed
  /// the death and told this rank. Does not communicate.
  std::vector<int> deaths() const {
    const std::vector<std::uint32_t> dead = engine_.deaths();
    return {dead.begin(), dead.end()};
  }

  /// Number of objects that handles still hold on this rank; 0 between runs unless a handle outlived its run.
  std::size_t live_objects() const { return engine_.live_objects(); }

 private:
  /// Throws if a run cannot begin here.
  MANTA_DECL static exec::engine_options settings(MPI_Comm comm, const runtime_options& options, std::string mistake);

  /// Runs the driver on rank 0 and returns its encoded result on every rank.
  template <class R, class Driver>
  wire::buffer run_driver(Driver& driver) {
    struct context {
      Driver& driver;
    } c{driver};
    return engine_.run(
        [](void* argument, wire::buffer& result) {
          auto& d = static_cast<context*>(argument)->driver;
          if constexpr (std::is_void_v<R>) {
            d();
          } else {
            const R value = d();
            wire::sink out(result);
            wire::encode(value, out);
            if (out.holds_references()) {
              wire::source in(result.data(), result.size());
              delete wire::decode<R>(in);  // gives the references back
              throw error("manta: a driver cannot return futures or actors: they end with the run; return values");
            }
          }
        },
        &c);
  }

  exec::engine engine_;
};

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/runtime.ipp"
#endif
