// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/serve/waiting_stream.hpp"

namespace manta::serve::detail {

MANTA_DECL stream_places::entry::entry(stream_places& all, const stream_key& key) : all_(all), key_(key) {
  all_.all_.try_emplace(key);
}

MANTA_DECL stream_places::entry::~entry() {
  if (!is_set_) set({});  // a reader may wait for it
  all_.all_.erase(key_);
}

MANTA_DECL void stream_places::entry::set(stream_place place) {
  is_set_ = true;
  all_.all_.at(key_).set_value(std::move(place));
}

MANTA_DECL future<stream_place> stream_places::of(const stream_key& key) const {
  const auto found = all_.find(key);
  if (found != all_.end()) return found->second.get_future();
  promise<stream_place> none;  // the request has ended already
  none.set_value(stream_place());
  return none.get_future();
}

/// Whether the replica does not come back from what it does, such as a value that takes too long.
inline bool hangs(const actor<replica>& its, const batch_terms& terms) {
  call_turns::turn mine(*terms.turns, terms.limit.turn->rank());
  const auto is_there = async<&replica::is_there>(its);
  const call_limit two_values{2 * terms.limit.longest, &mine};  // the reader asks for one while another comes
  return wait_for_call(
             is_there, two_values, [] { return true; }, terms.given_up) == call_end::overdue;
}

MANTA_DECL call_end wait_for_stream(const actor<replica>& its, const dispatcher::batch& b, const batch_terms& terms) {
  const future<void> ended = async<&replica::end_of>(its, terms.number).get();
  for (;;) {
    const auto begin = call_turns::clock::now();
    const call_end end = wait_for_call(
        ended, {terms.limit.longest}, [&] { return is_wanted(b); }, terms.given_up);
    if (end == call_end::answered) {
      ended.get();
      return end;
    }
    const bool is_only_late = end == call_end::overdue && call_turns::clock::now() - begin >= terms.limit.longest &&
                              terms.limit.longest.count() > 0;
    if (is_only_late && !hangs(its, terms)) continue;
    async<&replica::close_stream>(its, terms.number);
    return end;
  }
}

}  // namespace manta::serve::detail
