// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// tune::run: trials on ranks.
//
//   const tune::results r = tune::run<train>({{"lr", tune::loguniform(1e-4, 1)}},
//                                            {.maximise = "accuracy", .trials = 100, .scheduler = tune::asha()});
#pragma once

#include "manta/manta.hpp"
#include "manta/tune/experiment.hpp"
#include "manta/tune/results.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/trainable.hpp"

namespace manta::tune {

namespace detail {

MANTA_DECL results run_experiment(const space& where, const experiment& e, const body_name& what, bool gang);

template <class Body>
results run_experiment(const space& where, const experiment& e) {
  return run_experiment(where, e, body_of<Body>::name(), Body::gang);
}

}  // namespace detail

/// Runs trials of a function, see trainable.hpp, until all have ended; waits. May be called in the driver or in a task.
template <auto F>
results run(const space& where, const experiment& e) {
  if constexpr (detail::require_shape<decltype(F)>()) {
    return detail::run_experiment<detail::function_body<F>>(where, e);
  }
}
/// The space is that of the struct which the function takes.
template <auto F>
  requires(described<typename detail::function_body<F>::settings>)
results run(const experiment& e) { return run<F>(space_of<typename detail::function_body<F>::settings>(), e); }
/// For a class.
template <trainable_class T>
results run(const space& where, const experiment& e) {
  return detail::run_experiment<detail::class_body<T>>(where, e);
}
template <trainable_class T>
  requires(described<typename detail::class_body<T>::settings>)
results run(const experiment& e) { return run<T>(space_of<typename detail::class_body<T>::settings>(), e); }
/// For a lambda without captures.
template <class L>
results run(L, const space& where, const experiment& e) {
  static_assert(std::is_empty_v<L> && std::is_default_constructible_v<L>,
                "manta: tune: captures are not sent to the ranks: put the value into the space as a constant");
  if constexpr (detail::require_shape<L>()) {
    return detail::run_experiment<detail::lambda_body<L>>(where, e);
  }
}

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/run.ipp"
#endif
