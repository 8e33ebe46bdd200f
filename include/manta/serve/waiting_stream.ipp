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

}  // namespace manta::serve::detail
