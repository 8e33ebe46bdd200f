// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Values of tasks and calls for the code of algorithms: what failed comes as its sentence, without the task around it.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "manta/actor_handle.hpp"
#include "manta/error.hpp"
#include "manta/future.hpp"
#include "manta/insist.hpp"
#include "manta/rl/source.hpp"

namespace manta::rl::detail {

using manta::detail::sentence;

/// Calls f. The sentence of an error of this library that it throws says where it happened.
template <class F>
void say_where(const std::string& where, F&& f) {
  constexpr std::string_view begin = "manta: rl: ";
  try {
    f();
  } catch (const error& e) {
    const std::string_view text = e.what();
    if (typeid(e) != typeid(error) || !text.starts_with(begin)) throw;
    throw error(std::string(begin) + where + ": " + std::string(text.substr(begin.size())));
  }
}

/// value(0), .., value(n - 1); the first error once all have been asked.
template <class F>
auto values_of(std::size_t n, F&& value) {
  std::vector<decltype(value(n))> values;
  std::exception_ptr problem;
  for (std::size_t i = 0; i < n; ++i) {
    try {
      values.push_back(value(i));
    } catch (...) {
      if (!problem) problem = std::current_exception();
    }
  }
  if (problem) std::rethrow_exception(problem);
  return values;
}

/// All values in order; the first error once all have ended.
template <class T>
std::vector<T> sentences(const std::vector<future<T>>& futures) {
  return values_of(futures.size(), [&](std::size_t i) { return sentence(futures[i]); });
}

/// The value of a call to a worker. A call that was lost with the worker's rank is made again, by `again()`, and
/// reaches the worker at its new place.
template <class T, class Call>
T answer(future<T> call, Call&& again) {
  bool is_first = true;
  return manta::detail::insist([&] {
    if (!std::exchange(is_first, false)) call = again();
    return sentence(call);
  });
}

/// The values of calls to workers, of which `call(w)` makes one, in order; the first error once all have ended.
template <class Worker, class Call>
auto answers(const std::vector<actor<Worker>>& workers, Call&& call) {
  std::vector<decltype(call(workers.front()))> calls;
  for (const auto& w : workers) calls.push_back(call(w));
  return values_of(calls.size(),
                   [&](std::size_t i) { return answer(std::move(calls[i]), [&] { return call(workers[i]); }); });
}

}  // namespace manta::rl::detail
