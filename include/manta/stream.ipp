// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a stream asks of the scheduler.
#pragma once

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

}  // namespace manta::detail
