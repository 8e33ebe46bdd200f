// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A request at its router: what is asked, the answer or why there is none, and the bell of the call that waits for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "manta/async.hpp"
#include "manta/serve/dispatcher.hpp"
#include "manta/serve/replica.hpp"
#include "manta/serve/waiting_calls.hpp"

namespace manta::serve::detail {

/// A request whatever it takes and gives.
struct waiting_entry : request {
  explicit waiting_entry(request r) : request(std::move(r)) {}
  virtual ~waiting_entry() = default;

  std::exception_ptr failure = {};
  std::unique_ptr<dispatcher::batch> work = {};  ///< this request carries it
  detail::bell bell = {};                        ///< of its call, while that waits
  bool is_answered = false;

  [[nodiscard]] bool has_ended() const { return is_answered || failure; }
  /// Sends the batch, whose requests are all of this type, to the replica, and gives them their answers. False if
  /// nobody wants them any more. `may_repeat`: the requests keep their arguments. Waits; throws what the call threw.
  virtual bool run_batch(const dispatcher::batch& b, const actor<replica>& its, std::uint64_t number,
                         bool may_repeat) = 0;
};

inline bool is_wanted(const dispatcher::batch& b) {
  return std::any_of(b.requests.begin(), b.requests.end(), [](request* r) { return !r->caller.stop_requested(); });
}

template <class Signature>
struct waiting_request;

template <class R, class... A>
struct waiting_request<R(A...)> final : waiting_entry {
  waiting_request(request r, A&&... a) : waiting_entry(std::move(r)), arguments(std::move(a)...) {}

  std::tuple<A...> arguments;
  std::optional<value_of<R>> answer = {};

  bool run_batch(const dispatcher::batch& b, const actor<replica>& its, std::uint64_t number,
                 bool may_repeat) override {
    std::vector<std::tuple<A...>> all;
    all.reserve(b.requests.size());
    for (request* r : b.requests) all.push_back(of(r).given_to_replica(may_repeat));
    auto answers = async<&replica::run<R, A...>>(its, type_tag<R>(), number, std::move(all));
    if (!wait_while_wanted(answers, [&] { return is_wanted(b); })) return false;
    auto given = std::move(answers).get();
    for (std::size_t i = 0; i < given.size(); ++i) {
      of(b.requests[i]).answer = std::move(given[i]);
      of(b.requests[i]).is_answered = true;
    }
    return true;
  }

 private:
  static waiting_request& of(request* r) { return *static_cast<waiting_request*>(r); }
  std::tuple<A...> given_to_replica(bool may_repeat) {
    if constexpr ((std::is_copy_constructible_v<A> && ...)) {
      if (may_repeat) return arguments;
    }
    return std::move(arguments);
  }
};

}  // namespace manta::serve::detail
