// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/seats/together.hpp"

namespace manta::rl {

namespace detail {

MANTA_DECL environments_together::environments_together(const any_environment& e, int count)
    : kind_(e),
      playing_(static_cast<std::size_t>(count)),
      raw_(static_cast<std::size_t>(e.observations().size())),
      mask_(static_cast<std::size_t>(e.mask_size())) {
  for (int i = 0; i < count; ++i) all_.push_back(e.make());
}

inline void environments_together::show(table& t, int seat) {
  t.see(seat, raw_);
  if (mask_.empty() || !playing_[static_cast<std::size_t>(seat)]) return;  // whoever acts no more has no choices
  all_[static_cast<std::size_t>(seat)]->allowed(mask_);
  t.allow(seat, mask_);
}

MANTA_DECL void environments_together::reset(random& numbers, table& t) {
  steps_ = 0;
  for (int i = 0; i < t.seats(); ++i) {
    playing_[static_cast<std::size_t>(i)] = 1;
    all_[static_cast<std::size_t>(i)]->reset(numbers, raw_);
    show(t, i);
  }
}

MANTA_DECL void environments_together::step(table& t) {
  ++steps_;
  const bool is_last = kind_.time_limit() > 0 && steps_ >= static_cast<std::uint64_t>(kind_.time_limit());
  for (int i = 0; i < t.seats(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (!playing_[k]) continue;
    const simulation::outcome o = all_[k]->step(t.numbers(i), raw_);
    t.reward(i, o.reward);
    playing_[k] = !o.terminated && !o.truncated && !is_last;
    if (o.terminated) {
      t.end(i);
    } else {
      show(t, i);
      if (!playing_[k]) t.truncate(i);
    }
  }
}

MANTA_DECL std::map<std::string, double> environments_together::figures() {
  std::map<std::string, double> means;
  for (const auto& e : all_) {
    for (const auto& [name, value] : e->figures()) means[name] += value / static_cast<double>(all_.size());
  }
  return means;
}

MANTA_DECL std::string environments_together::text() const {
  std::string all;
  for (const auto& e : all_) all += e->text();
  return all;
}

}  // namespace detail

MANTA_DECL any_game together(const any_environment& e, int count) {
  if (count < 1 || count > detail::most_seats)
    throw error(
        base::text("manta: rl: together was asked for {} seats; a game has 1 to {}", count, detail::most_seats));
  return environment<detail::environments_together>(e, count).with_name(base::text("{} {} together", count, e.name()));
}

}  // namespace manta::rl
