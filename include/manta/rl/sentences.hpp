// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Values of tasks and calls for the code of algorithms: what failed comes as its sentence, without the task around it.
#pragma once

#include <exception>
#include <vector>

#include "manta/error.hpp"
#include "manta/future.hpp"
#include "manta/rl/source.hpp"

namespace manta::rl::detail {

/// The error's sentence without the task around it.
template <class T>
T sentence(const future<T>& f) {
  try {
    return f.get();
  } catch (const task_failed& e) {
    throw error(e.details().what);
  }
}

/// All values in order; the first error once all have ended.
template <class T>
std::vector<T> sentences(const std::vector<future<T>>& futures) {
  std::vector<T> values;
  std::exception_ptr problem;
  for (const future<T>& f : futures) {
    try {
      values.push_back(sentence(f));
    } catch (...) {
      if (!problem) problem = std::current_exception();
    }
  }
  if (problem) std::rethrow_exception(problem);
  return values;
}

}  // namespace manta::rl::detail
