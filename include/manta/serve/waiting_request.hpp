// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A request at its router: what is asked, the answer or why there is none, and the bell of the call that waits for it.
#pragma once

#include <chrono>
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

/// How a batch is given to a replica.
struct batch_terms {
  std::uint64_t number = 0;     ///< number by which the replica knows it
  bool may_repeat = false;      ///< the requests keep their arguments
  call_limit limit = {};        ///< time limit of the call
  bool is_isolated = false;     ///< the call runs in a process of its own
  future<bool> given_up = {};   ///< true when the replica is given up
  call_turns* turns = nullptr;  ///< the turns of all calls of the replicas
};

/// A request whatever it takes and gives.
struct waiting_entry : queued_request {
  explicit waiting_entry(queued_request r) : queued_request(std::move(r)) {}
  virtual ~waiting_entry() = default;

  std::exception_ptr failure = {};
  std::unique_ptr<dispatcher::batch> work = {};  ///< this request carries it
  detail::bell bell = {};                        ///< bell of its call, while that waits
  bool is_answered = false;

  [[nodiscard]] bool has_ended() const { return is_answered || failure; }
  /// Sends the batch, whose requests are all of this type, to the replica, and gives them their answers, unless nobody
  /// wants them any more or the call takes too long. Waits; throws what the call threw.
  virtual call_end run_batch(const dispatcher::batch& b, const actor<replica>& its, const batch_terms& terms) = 0;
};

MANTA_DECL bool is_wanted(const dispatcher::batch& b);

/// Waits for the call of a batch, and cancels it if it is unwanted or overdue. The process of an isolated call would be
/// ended by that: an unwanted one goes on to its end.
MANTA_DECL call_end finish_call(const any_future& call, const dispatcher::batch& b, const batch_terms& terms);

template <class Signature>
struct waiting_request;

template <class R, class... A>
struct waiting_request<R(A...)> final : waiting_entry {
  waiting_request(queued_request r, A&&... a) : waiting_entry(std::move(r)), arguments(std::move(a)...) {}

  std::tuple<A...> arguments;
  std::optional<value_of<R>> answer = {};

  call_end run_batch(const dispatcher::batch& b, const actor<replica>& its, const batch_terms& terms) override {
    std::vector<std::tuple<A...>> all;
    all.reserve(b.requests.size());
    for (queued_request* r : b.requests) all.push_back(of(r).given_to_replica(terms.may_repeat));
    auto answers = async<&replica::run<R, A...>>(its, type_tag<R>(), terms.number, std::move(all));
    const call_end end = finish_call(answers, b, terms);
    if (end != call_end::answered) return end;
    auto given = std::move(answers).get().rows;
    for (std::size_t i = 0; i < given.size(); ++i) {
      of(b.requests[i]).answer = std::move(given[i]);
      of(b.requests[i]).is_answered = true;
    }
    return end;
  }

 private:
  static waiting_request& of(queued_request* r) { return *static_cast<waiting_request*>(r); }
  std::tuple<A...> given_to_replica(bool may_repeat) {
    if constexpr ((std::is_copy_constructible_v<A> && ...)) {
      if (may_repeat) return arguments;
    }
    return std::move(arguments);
  }
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/waiting_request.ipp"
#endif
