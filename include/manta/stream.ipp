// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a stream asks of the scheduler, and what it reads in the nodes of its values.
#pragma once

#include "manta/base/text.hpp"
#include "manta/stream.hpp"

namespace manta::detail {

MANTA_DECL graph::request_ptr make_stream_request(exec::engine& e, const task_options* o, const std::string& what) {
  const graph::request_ptr asked = o == nullptr ? nullptr : make_request(e, *o, false);
  auto* const request = asked == nullptr ? new graph::request : new graph::request(*asked);
  graph::request_ptr owner(request);
  if (request->retries != 0) {
    throw error(
        "manta: task_options::retries of a stream: values that were taken cannot be taken back; retry the tasks that "
        "the coroutine makes");
  }
  if (request->isolate) {
    throw error("manta: task_options::isolate is not for streams; isolate the tasks that the coroutine makes");
  }
  request->actor = true;
  constexpr int most_deaths = 4;  // as of other tasks
  if (e.recovers()) request->restarts = most_deaths - 1;
  request->needs_rank_0 = graph::require_possible(*request, e.world(), what);
  return owner;
}

MANTA_DECL loss why_lost(exec::engine& e, const handle& call) {
  using kind = enum store::failure::kind;
  if (!call.get()->has_failed()) return loss::none;
  const store::failure& why = *store::failure_of(*call.get());
  const int rank = why.details.rank;
  if (rank < 0 || !e.is_dead(static_cast<std::uint32_t>(rank))) return loss::none;
  if (why.kind == kind::rank) return loss::by_coroutine;
  if (why.ran_there) return loss::in_coroutine;
  return why.kind == kind::actor || why.kind == kind::object ? loss::with_rank : loss::none;
}

[[noreturn]] MANTA_DECL void refuse_end(std::uint64_t now, std::uint64_t before) {
  throw error(base::text(
      "manta: the coroutine of a stream was run again, since its rank has died, and gave {} values this time, "
      "where it gave at least {} before; a coroutine has to give the same values each time it runs",
      now, before));
}

MANTA_DECL item item_of(const handle& call) {
  if (!call.get()->has_failed()) return item::value;
  const store::failure& why = *store::failure_of(*call.get());
  if (why.exception_type == typeid(stream_end).name()) return item::end;
  return why.kind == store::failure::kind::serialization ? item::not_encoded : item::failure;
}

/// A call of the same function that has failed, in the place of one that nobody will look at.
inline handle failed_in_place_of(exec::engine& e, const handle& call, const store::failure_ptr& why) {
  call.mark_observed();
  handle failed(e.refs().make_node(call.get()->function, call.get()->type));
  e.completions().fail(*failed.get(), why);
  return failed;
}

MANTA_DECL handle call_of_deadly(exec::engine& e, const handle& call) {
  const auto dead = static_cast<std::uint32_t>(store::failure_of(*call.get())->details.rank);
  return failed_in_place_of(
      e, call,
      e.failures().death(
          store::failure::kind::rank, dead,
          base::text("the coroutine '{}' died with its rank, and had died with another one at the same value: ",
                     wire::function_at(call.get()->function).name())));
}

MANTA_DECL handle call_of_failed(exec::engine& e, const handle& call, const handle& producer) {
  producer.mark_observed();
  return failed_in_place_of(e, call, store::failure_of(*producer.get()));
}

MANTA_DECL std::uint64_t bytes_of(const handle& value, std::size_t otherwise) {
  const graph::node& n = *value.get();
  if (n.form == graph::form::remote) return n.remote.bytes;
  if (n.form == graph::form::blob) return n.blob.bytes;
  const std::uint64_t array = store::known_bytes(n);
  return array != 0 ? array : otherwise;
}

}  // namespace manta::detail
