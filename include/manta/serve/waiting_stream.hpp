// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A request whose answer comes in many values. It holds its replica from the generator's beginning to its end, as a
// call does. Whoever reads the values asks that replica for them, and learns from the router which one it is.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "manta/async.hpp"
#include "manta/promise.hpp"
#include "manta/serve/replica.hpp"
#include "manta/serve/waiting_request.hpp"

namespace manta::serve::detail {

/// Where the values of a stream are. Invalid: the stream has ended before it began.
struct stream_place {
  actor<replica> at = {};
  std::uint64_t number = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(at, number);
  }
};

/// A stream as its reader names it.
struct stream_key {
  int rank = 0;  ///< rank of the reader
  std::uint64_t number = 0;
  auto operator<=>(const stream_key&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(rank, number);
  }
};

/// The places of streams at a router, for readers that ask.
class stream_places {
 public:
  /// While the request of a stream is at the router.
  class entry {
   public:
    MANTA_DECL entry(stream_places& all, const stream_key& key);
    MANTA_DECL ~entry();
    entry(const entry&) = delete;
    MANTA_DECL void set(stream_place place);

   private:
    stream_places& all_;
    stream_key key_;
    bool is_set_ = false;
  };

  [[nodiscard]] MANTA_DECL future<stream_place> of(const stream_key& key) const;

 private:
  std::map<stream_key, promise<stream_place>> all_;
};

/// Waits for the end of a stream that has begun; closes it if nobody wants its values any more. Throws what its
/// generator threw.
MANTA_DECL call_end wait_for_stream(const actor<replica>& its, const dispatcher::batch& b, const batch_terms& terms);

template <class Signature>
struct waiting_stream;
template <class T, class... A>
struct waiting_stream<generator<T>(A...)> final : waiting_entry {
  waiting_stream(queued_request r, stream_places::entry& p, A&&... a)
      : waiting_entry(std::move(r)), arguments(std::move(a)...), place(p) {}

  std::tuple<A...> arguments;
  stream_places::entry& place;

  call_end run_batch(const dispatcher::batch& b, const actor<replica>& its, const batch_terms& terms) override {
    const auto begun =
        async<&replica::begin_stream<T, A...>>(its, type_tag<T>(), terms.number, given_to_replica(terms.may_repeat));
    call_end end = finish_call(begun, b, terms);
    if (end != call_end::answered) return end;
    begun.get();
    terms.limit.turn->end();
    constexpr int never_again = 1000;
    tries = never_again;  // its reader may have read some of its values
    place.set({its, terms.number});
    end = wait_for_stream(its, b, terms);
    is_answered = end == call_end::answered;
    return end;
  }

 private:
  std::tuple<A...> given_to_replica(bool may_repeat) {
    if constexpr ((std::is_copy_constructible_v<A> && ...)) {
      if (may_repeat) return arguments;
    }
    return std::move(arguments);
  }
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/waiting_stream.ipp"
#endif
