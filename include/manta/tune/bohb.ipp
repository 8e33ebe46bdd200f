// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of bohb.hpp.
#pragma once

#include <tuple>

#include "manta/tune/bohb.hpp"
#include "manta/tune/history.hpp"
#include "manta/tune/kernels.hpp"

namespace manta::tune {

MANTA_DECL void bohb::begin(const space& where, std::uint64_t seed) {
  space_ = where;
  dimensions_ = where.searched().size();
  seed_ = seed;
  asked_ = 0;
  budget_ = 0;
  under_way_.clear();
  seen_.clear();
}

MANTA_DECL std::optional<config> bohb::ask(trial_number t) {
  random r(seed_, asked_++, 0x626f6862ULL);
  const bool by_chance = r.chance(options_.at_random);
  config c = by_chance || !choose_budget() ? space_.draw(r) : space_.first_allowed(r, [&] { return propose(r); });
  add(t, c);
  return c;
}

MANTA_DECL void bohb::again(trial_number t, const config& c) {
  ++asked_;
  (void)choose_budget();
  add(t, c);
}

MANTA_DECL void bohb::add(trial_number t, const config& c) {
  if (space_.is_program()) dimensions_ = std::max(dimensions_, c.size());
  under_way_[t] = c;
}

MANTA_DECL void bohb::report(trial_number t, double at, double loss) {
  const auto p = under_way_.find(t);
  if (p == under_way_.end() || at < budget_) return;
  auto& trials = seen_[at];
  trials[t] = {0, loss, p->second};
  if (trials.size() >= most_kept + most_kept / 4) forget(trials);
  if (seen_.size() > most_kept) seen_.erase(seen_.begin()->first == budget_ ? std::next(seen_.begin()) : seen_.begin());
}

MANTA_DECL void bohb::forget(std::map<trial_number, observation>& trials) {
  std::vector<double> losses;
  for (const auto& [t, o] : trials) losses.push_back(o.violation > 0 ? infinity : o.loss);
  const std::vector<bool> stays = detail::worth_keeping(losses, most_kept);
  std::size_t i = 0;
  std::erase_if(trials, [&](const auto&) { return !stays[i++]; });
}

MANTA_DECL void bohb::tell(trial_number t, const outcome& o) {
  under_way_.erase(t);
  const double violation = o.has_failed() ? infinity : o.violation();
  if (violation <= 0) return;
  for (auto& [at, trials] : seen_) {  // what it reported on the way is no better than its end
    if (const auto seen = trials.find(t); seen != trials.end()) seen->second.violation = violation;
  }
}

MANTA_DECL bool bohb::choose_budget() {
  const std::size_t enough = dimensions_ + 3;
  for (auto b = seen_.rbegin(); b != seen_.rend() && b->first > budget_; ++b) {
    if (b->second.size() >= enough) budget_ = b->first;
    if (b->first == budget_) break;
  }
  seen_.erase(seen_.begin(), seen_.lower_bound(budget_));
  return budget_ > 0;
}

MANTA_DECL config bohb::propose(random& r) const {
  std::vector<const observation*> all;
  for (const auto& [t, o] : seen_.at(budget_)) all.push_back(&o);
  std::stable_sort(all.begin(), all.end(), [](const auto* a, const auto* b) {
    return std::tie(a->violation, a->loss) < std::tie(b->violation, b->loss);
  });
  const std::size_t least = dimensions_ + 1;
  const auto share = static_cast<std::size_t>(options_.good * static_cast<double>(all.size()));
  const std::size_t good_count = std::min(std::max(least, share), all.size() - 1);
  const std::size_t other_count = std::min(std::max(least, all.size() - share), all.size());
  detail::weighted_configs good, others;
  for (std::size_t i = 0; i < good_count; ++i) good.all.push_back(&all[i]->parameters);
  for (std::size_t i = all.size() - other_count; i < all.size(); ++i) others.all.push_back(&all[i]->parameters);
  good.weights.assign(good_count, 1);
  others.weights.assign(other_count, 1);
  return detail::promising(space_, good, others, options_.candidates, true, r);
}

}  // namespace manta::tune
