// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A request at its router: what is asked, the answer or why there is none, and the bell of the call that waits for it.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "manta/serve/dispatcher.hpp"
#include "manta/serve/target.hpp"
#include "manta/serve/waiting_calls.hpp"

namespace manta::serve::detail {

template <class Signature>
struct waiting_request;

template <class R, class... A>
struct waiting_request<R(A...)> : request {
  std::tuple<A...> arguments;
  std::optional<value_of<R>> answer = {};
  std::exception_ptr failure = {};
  std::unique_ptr<dispatcher::batch> work = {};  ///< this request carries it
  detail::bell bell = {};                        ///< of its call, while that waits

  [[nodiscard]] bool has_ended() const { return answer || failure; }
  /// What it fails with, where its call has been cancelled.
  static std::exception_ptr cancellation(const std::string& deployment) {
    return std::make_exception_ptr(cancelled("manta: serve: a request to '" + deployment + "' was cancelled"));
  }
};

}  // namespace manta::serve::detail
