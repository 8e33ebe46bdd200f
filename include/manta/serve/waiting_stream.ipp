// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of waiting_stream.hpp.
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

MANTA_DECL call_end wait_for_stream(const actor<replica>& its, const dispatcher::batch& b, const batch_terms& terms) {
  const future<void> ended = async<&replica::end_of>(its, terms.number).get();
  const call_end end = wait_for_call(
      ended, {}, [&] { return is_wanted(b); }, terms.given_up);
  if (end == call_end::answered) {
    ended.get();
  } else {
    async<&replica::close_stream>(its, terms.number);
  }
  return end;
}

}  // namespace manta::serve::detail
