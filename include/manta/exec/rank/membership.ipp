// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <utility>

#include "manta/exec/rank/membership.hpp"

namespace manta::exec {

MANTA_DECL bool membership::note_death(rank_id dead, obituary of_it) {
  if (is_dead(dead)) return false;
  if (deaths_++ == 0) dead_ = base::array<std::uint64_t>(size_ / 64U + 1);
  dead_[dead / 64U] |= std::uint64_t{1} << (dead % 64U);
  spares_.remove(dead);
  if (of_it.culprit != 0) {
    toll t = toll_of(of_it.culprit);
    of_it.by == net::end_by::itself ? ++t.caused : ++t.killed;
    t.last = dead;
    set_toll(of_it.culprit, t);
  }
  place_of_.insert(dead, obituaries_.size());
  obituaries_.push_back(std::move(of_it));
  return true;
}

MANTA_DECL const membership::obituary& membership::obituary_of(rank_id dead) const {
  static const obituary of_the_living;
  const std::uint64_t* const at = place_of_.find(dead);
  return at == nullptr ? of_the_living : obituaries_[*at];
}

MANTA_DECL std::string membership::all_obituaries() const {
  std::string text;
  for (std::uint32_t r = 0; r < size_; ++r) {
    if (is_dead(r)) text += (text.empty() ? "" : "; ") + obituary_of(r).why;
  }
  return text;
}

MANTA_DECL void membership::appoint_spares(std::uint32_t count) {
  for (std::uint32_t r = size_ - count; r < size_; ++r) spares_.push_back(r);
}

MANTA_DECL bool membership::is_spare(rank_id member) const {
  for (const std::uint32_t spare : spares_) {
    if (spare == member) return true;
  }
  return false;
}

MANTA_DECL membership::toll membership::toll_of(std::uint64_t id) const {
  const std::uint64_t* const at = tolls_.find(key(id));
  return at == nullptr ? toll{} : std::bit_cast<toll>(*at);
}

MANTA_DECL void membership::set_toll(std::uint64_t id, const toll& t) {
  tolls_.insert(key(id)) = std::bit_cast<std::uint64_t>(t);
}

MANTA_DECL membership::verdict membership::judge(rank_id dead, std::uint64_t id) {
  const obituary& death = obituary_of(dead);
  toll t = toll_of(id);
  if (death.culprit == id) {
    return death.by != net::end_by::itself && t.killed == 1 ? verdict::suspect : verdict::culprit;
  }
  if (death.culprit != 0 || death.by == net::end_by::kill) return verdict::innocent;
  constexpr std::uint16_t most_deaths = 4;  // who has seen that many is probably the reason
  t.last = dead;
  ++t.present;
  set_toll(id, t);
  if (t.present >= most_deaths) return verdict::too_often;
  return death.by == net::end_by::unknown ? verdict::suspect : verdict::innocent;
}

}  // namespace manta::exec
