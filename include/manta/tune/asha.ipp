// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"
#include "manta/tune/asha.hpp"

namespace manta::tune {

namespace detail {
/// grace, grace * eta, grace * eta^2 and so on, up to max.
inline std::vector<double> marks_of(const char* who, double max, double grace, double eta) {
  if (is_nan(grace + max + eta) || grace <= 0 || max < grace || eta <= 1)
    throw error(base::text("manta: {} needs 0 < grace <= max and eta > 1", who));
  std::vector<double> marks;
  for (int k = 0; k <= integer_log(max / grace, eta); ++k) marks.push_back(grace * integer_power(eta, k));
  return marks;
}
}  // namespace detail

MANTA_DECL asha::asha(options o) : options_(o) {
  if (o.brackets < 1) throw error("manta: asha needs brackets >= 1");
  const std::vector<double> marks = detail::marks_of("asha", o.max, o.grace, o.eta);
  for (std::size_t s = 0; s < std::min(static_cast<std::size_t>(o.brackets), marks.size()); ++s) {
    auto& b = brackets_.emplace_back();
    for (std::size_t k = s; k < marks.size() && marks[k] < o.max; ++k) b.push_back({marks[k], {}});
  }
}

MANTA_DECL std::string asha_promotion::remark(double longest) const {
  std::vector<double> all;
  for (const level& l : levels_) all.push_back(l.at);
  return detail::marks_beyond(longest, all, "asha_promotion");
}

MANTA_DECL std::vector<double> asha::marks(std::size_t bracket) const {
  std::vector<double> all;
  for (const auto& m : brackets_[bracket]) all.push_back(m.at);
  return all;
}

MANTA_DECL void asha::add(trial_number t, const config&) {
  double total = 0;
  for (const auto& b : brackets_) total += std::exp(static_cast<double>(b.size()));
  double u = random(seed_, t, 0x61736861ULL).uniform() * total;
  std::size_t chosen = 0;
  while (chosen + 1 < brackets_.size() && u >= std::exp(static_cast<double>(brackets_[chosen].size()))) {
    u -= std::exp(static_cast<double>(brackets_[chosen++].size()));
  }
  trials_[t] = {chosen, 0};
}

MANTA_DECL verdict asha::report(trial_number t, double at, double loss) {
  if (at >= options_.max) {
    trials_.erase(t);
    return verdict::stop("reached " + detail::number_text(options_.max) + ", the maximum");
  }
  place& p = trials_.at(t);
  auto& marks = brackets_[p.bracket];
  std::size_t reached = p.next;
  while (reached < marks.size() && at >= marks[reached].at) ++reached;
  if (reached == p.next) return verdict::go_on();
  p.next = reached;  // after a jump the lower marks are passed by: judged there, this trial would be unfairly good
  mark& m = marks[reached - 1];
  const double cutoff = sorted_quantile(m.losses, 1 / options_.eta);
  const std::size_t others = m.losses.size();
  m.losses.insert(std::upper_bound(m.losses.begin(), m.losses.end(), loss), loss);
  if (others > 0 && loss > cutoff) {
    trials_.erase(t);
    return verdict::stop(base::text("at {}: loss {} is above {}, the best 1/{} of {}", detail::number_text(m.at),
                                    detail::number_text(loss), detail::number_text(cutoff),
                                    detail::number_text(options_.eta), others));
  }
  return verdict::go_on();
}

MANTA_DECL double asha::silent_until(trial_number t) const {
  const auto p = trials_.find(t);
  if (p == trials_.end()) return 0;
  const auto& marks = brackets_[p->second.bracket];
  return p->second.next < marks.size() ? marks[p->second.next].at : options_.max;
}

MANTA_DECL asha_promotion::asha_promotion(options o) : eta_(o.eta) {
  for (const double mark : detail::marks_of("asha_promotion", o.max, o.grace, o.eta)) levels_.emplace_back().at = mark;
}

MANTA_DECL verdict asha_promotion::report(trial_number t, double at, double loss) {
  const std::size_t k = level_of_.at(t);
  level& here = levels_[k];
  if (at < here.at) return verdict::go_on();
  here.insert({loss, t}, eta_);
  if (k + 1 == levels_.size()) {
    level_of_.erase(t);
    return verdict::stop("reached " + detail::number_text(here.at) + ", the last mark");
  }
  return verdict::pause("at " + detail::number_text(here.at) + " with loss " + detail::number_text(loss) +
                        ": waits to be promoted");
}

MANTA_DECL void asha_promotion::remove(trial_number t) {
  level_of_.erase(t);
  for (level& l : levels_) l.withdraw(t);
}

MANTA_DECL action asha_promotion::next(bool may_add) {
  for (std::size_t k = levels_.size() - 1; k-- > 0;) {  // the highest first
    level& l = levels_[k];
    if (l.promotable.empty()) continue;
    const trial_number t = l.promotable.begin()->second;
    l.promotable.erase(l.promotable.begin());
    l.promoted.insert(t);
    level_of_[t] = k + 1;
    return action::resume(t, base::text("among the best 1/{} of {} at {}: promoted to {}", detail::number_text(eta_),
                                        l.size(), detail::number_text(l.at), detail::number_text(levels_[k + 1].at)));
  }
  return may_add ? action::add() : action::nothing();
}

MANTA_DECL double asha_promotion::silent_until(trial_number t) const {
  const auto k = level_of_.find(t);
  return k == level_of_.end() ? 0 : levels_[k->second].at;
}

MANTA_DECL void asha_promotion::level::insert(const result& r, double eta) {
  if (!best.empty() && r < *best.rbegin()) {
    enter(r);
  } else {
    rest.insert(r);
  }
  const auto wanted = static_cast<std::size_t>(static_cast<double>(size()) / eta + 1e-9);
  while (best.size() > wanted) {
    const result worst = *best.rbegin();
    best.erase(worst);
    promotable.erase(worst);
    rest.insert(worst);
  }
  while (best.size() < wanted) {
    const result r2 = *rest.begin();
    rest.erase(rest.begin());
    enter(r2);
  }
}

MANTA_DECL void asha_promotion::level::enter(const result& r) {
  best.insert(r);
  if (!promoted.contains(r.second)) promotable.insert(r);
}

MANTA_DECL void asha_promotion::level::withdraw(trial_number t) {
  promoted.insert(t);
  std::erase_if(promotable, [&](const result& r) { return r.second == t; });
}

}  // namespace manta::tune
