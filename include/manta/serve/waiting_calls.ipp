// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/cancel.hpp"
#include "manta/serve/status.hpp"
#include "manta/serve/waiting_calls.hpp"
#include "manta/watcher.hpp"

namespace manta::serve::detail {

/// A handle of a call for whom its type does not matter.
inline future<void> untyped(const any_future& call) {
  using manta::detail::access;
  return access::make_future<void>(manta::detail::handle(access::of(call)));
}

MANTA_DECL call_end wait_for_call(const any_future& call, const call_limit& limit,
                                  const std::function<bool()>& is_wanted, const future<bool>& given_up) {
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds short_call{50};
  const future<void> its_end = untyped(call);
  const bool is_limited = limit.longest.count() > 0;
  const clock::time_point here = clock::now();
  if (its_end.wait_for(is_limited ? std::min(limit.longest, short_call) : short_call)) return call_end::answered;
  watcher events;
  events.watch_stops();
  events.add(call, 0);
  if (given_up.valid()) events.add(given_up, 1);
  for (;;) {
    if (!is_wanted()) return call_end::unwanted;
    const auto left = (limit.turn != nullptr ? limit.turn->begin() : here) + limit.longest - clock::now();
    if (is_limited && left.count() <= 0) return its_end.ready() ? call_end::answered : call_end::overdue;
    const auto ended = is_limited ? events.next(left) : events.next();
    if (ended == 0) return call_end::answered;
    if (ended == 1 && given_up.get()) return call_end::overdue;
  }
}

MANTA_DECL void throw_if_overdue(const future<void>& request) {
  if (!request.valid() || !request.ready()) return;
  try {
    request.get();
  } catch (const timed_out&) {
    throw;
  } catch (const std::exception&) {
  }
}

MANTA_DECL void wait_for_values(const any_future& values, const future<void>& request) {
  constexpr std::chrono::milliseconds usual{50};
  if (untyped(values).wait_for(usual)) return;
  watcher events;
  events.add(values, 0);
  events.add(request, 1);
  while (events.next() == 1) throw_if_overdue(request);
}

MANTA_DECL bool cancel_call(const any_future& call) { return cancel(untyped(call)); }

MANTA_DECL bool wait_while_wanted(const any_future& call, const this_task::stop_token& caller) {
  while (wait_for_call(call, {}, [&] { return !caller.stop_requested(); }) == call_end::unwanted) {
    if (cancel_call(call)) return false;
  }
  return true;
}

}  // namespace manta::serve::detail
