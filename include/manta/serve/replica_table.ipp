// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/serve/replica_table.hpp"

namespace manta::serve {

MANTA_DECL replica_table::state* replica_table::find(std::size_t replica) {
  const auto found = states_.find(replica);
  return found == states_.end() ? nullptr : &found->second;
}
MANTA_DECL const replica_table::state* replica_table::find(std::size_t replica) const {
  const auto found = states_.find(replica);
  return found == states_.end() ? nullptr : &found->second;
}
MANTA_DECL std::size_t replica_table::add_starting(int version) {
  states_[next_].version = version;
  return next_++;
}
MANTA_DECL void replica_table::ready(std::size_t replica) {
  if (state* const its = find(replica)) its->is_ready = true;  // else it has ended meanwhile
}
MANTA_DECL void replica_table::remove(std::size_t replica) { states_.erase(replica); }
MANTA_DECL void replica_table::retire(std::size_t replica, bool retired) {
  if (state* const its = find(replica)) its->is_retired = retired;
}
MANTA_DECL void replica_table::set_rank(std::size_t replica, int rank) {
  if (state* const its = find(replica)) its->rank = rank;
}
MANTA_DECL int replica_table::rank_of(std::size_t replica) const {
  const state* const its = find(replica);
  return its == nullptr ? -1 : its->rank;
}
MANTA_DECL int replica_table::version_of(std::size_t replica) const {
  const state* const its = find(replica);
  return its == nullptr ? 0 : its->version;
}
MANTA_DECL bool replica_table::is_idle(std::size_t replica) const {
  const state* const its = find(replica);
  return its == nullptr || its->ongoing == 0;
}
MANTA_DECL bool replica_table::is_retired(std::size_t replica) const {
  const state* const its = find(replica);
  return its != nullptr && its->is_retired;
}
MANTA_DECL std::vector<std::size_t> replica_table::all_ready() const {
  std::vector<std::size_t> all;
  for (const auto& [number, r] : states_) {
    if (r.is_ready && !r.is_retired) all.push_back(number);
  }
  return all;
}
MANTA_DECL std::vector<std::size_t> replica_table::all() const {
  std::vector<std::size_t> all;
  for (const auto& [number, r] : states_) {
    if (!r.is_retired) all.push_back(number);
  }
  return all;
}
MANTA_DECL int replica_table::count(bool is_ready) const {
  return static_cast<int>(std::count_if(states_.begin(), states_.end(), [&](const auto& r) {
    return r.second.is_ready == is_ready && !r.second.is_retired;
  }));
}

}  // namespace manta::serve
