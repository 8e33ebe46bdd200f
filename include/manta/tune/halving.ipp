// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"
#include "manta/tune/halving.hpp"

namespace manta::tune {

MANTA_DECL std::vector<std::vector<rung>> hyperband_brackets(double max, double eta, hyperband_sizes sizes) {
  if (is_nan(max + eta) || max < 1 || eta <= 1) throw error("manta: hyperband needs max >= 1 and eta > 1");
  const int s_max = integer_log(max, eta);
  std::vector<std::vector<rung>> brackets;
  for (int s = s_max; s >= 0; --s) {
    const double ratio = static_cast<double>(s_max + 1) / static_cast<double>(s + 1);
    const double power = integer_power(eta, s);
    const double n = sizes == hyperband_sizes::table ? std::floor(ratio) * power : std::ceil(ratio * power - 1e-9);
    std::vector<rung> rungs;
    for (int i = 0; i <= s; ++i) {
      rungs.push_back({static_cast<std::size_t>(n / integer_power(eta, i) + 1e-9), max / integer_power(eta, s - i)});
    }
    brackets.push_back(std::move(rungs));
  }
  return brackets;
}

MANTA_DECL void halving_bracket::add(trial_number t) {
  ++added_;
  members_[t] = {};
}

MANTA_DECL verdict halving_bracket::report(trial_number t, double at, double loss) {
  member& m = members_.at(t);
  if (at < mark()) return verdict::go_on();
  if (level_ + 1 == rungs_.size()) {
    members_.erase(t);
    return verdict::stop("reached " + detail::number_text(mark()) + ", the end of its bracket");
  }
  m = {true, loss};
  halve_if_all_are_here();
  if (!holds(t)) {
    std::erase(dropped_, t);
    return verdict::stop(base::text("not among the best {} of its bracket", rungs_[level_].trials));
  }
  if (!members_.at(t).paused) {  // the last one to come, and among the best
    std::erase(ready_, t);
    return verdict::go_on();
  }
  return verdict::pause("waits at " + detail::number_text(mark()) + " for the others of its bracket");
}

MANTA_DECL void halving_bracket::remove(trial_number t) {
  if (members_.erase(t) == 0) return;
  std::erase(ready_, t);
  halve_if_all_are_here();
}

MANTA_DECL void halving_bracket::close() {
  if (has_room()) {
    closed_ = true;
    halve_if_all_are_here();
  }
}

MANTA_DECL std::optional<action> halving_bracket::resume() {
  if (ready_.empty()) return std::nullopt;
  const trial_number t = ready_.front();
  ready_.erase(ready_.begin());
  return action::resume(t, "among the best of its bracket: on to " + detail::number_text(mark()));
}

MANTA_DECL void halving_bracket::take_dropped(std::vector<trial_number>& into) {
  into.insert(into.end(), dropped_.begin(), dropped_.end());
  dropped_.clear();
}

MANTA_DECL void halving_bracket::halve_if_all_are_here() {
  if (has_room() || members_.empty()) return;
  std::vector<std::pair<double, trial_number>> order;
  for (const auto& [t, m] : members_) {
    if (!m.paused) return;
    order.emplace_back(m.loss, t);
  }
  std::sort(order.begin(), order.end());
  // a bracket with gaps keeps the same share, but somebody
  const std::size_t full = rungs_[level_].trials, next = rungs_[level_ + 1].trials;
  const std::size_t keep = std::max<std::size_t>(1, order.size() >= full ? next : order.size() * next / full);
  ++level_;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const trial_number t = order[i].second;
    if (i < keep) {
      members_[t] = {};
      ready_.push_back(t);
    } else {
      members_.erase(t);
      dropped_.push_back(t);
    }
  }
}

MANTA_DECL hyperband hyperband::of_brackets(std::vector<std::vector<rung>> table) {
  hyperband h;
  h.table_ = std::move(table);
  for (const auto& rungs : h.table_) {
    if (rungs.empty() || rungs.front().trials == 0) throw error("manta: hyperband: a bracket without trials");
  }
  if (h.table_.empty()) throw error("manta: hyperband needs a bracket");
  return h;
}

MANTA_DECL void hyperband::add(trial_number t, const config&) {
  halving_bracket& b = filling();
  b.add(t);
  bracket_of_[t] = static_cast<std::size_t>(&b - brackets_.data());
}

MANTA_DECL verdict hyperband::report(trial_number t, double at, double loss) {
  const std::size_t b = bracket_of_.at(t);
  verdict v = brackets_[b].report(t, at, loss);
  tidy(b);
  return v;
}

MANTA_DECL void hyperband::remove(trial_number t) {
  const auto at = bracket_of_.find(t);
  if (at == bracket_of_.end()) return;
  const std::size_t b = at->second;
  brackets_[b].remove(t);
  bracket_of_.erase(t);
  tidy(b);
}

MANTA_DECL action hyperband::next(bool may_add) {
  if (!may_add) {
    for (std::size_t b = first_; b < brackets_.size(); ++b) {
      brackets_[b].close();
      brackets_[b].take_dropped(dropped_);
    }
  }
  for (std::size_t b = first_; b < brackets_.size(); ++b) {
    if (auto a = brackets_[b].resume()) return *a;
  }
  return may_add ? action::add() : action::nothing();
}

MANTA_DECL double hyperband::silent_until(trial_number t) const {
  const auto at = bracket_of_.find(t);
  return at == bracket_of_.end() ? 0 : brackets_[at->second].mark();
}

MANTA_DECL std::vector<trial_number> hyperband::take_dropped() {
  for (const trial_number t : dropped_) bracket_of_.erase(t);
  return std::exchange(dropped_, {});
}

MANTA_DECL halving_bracket& hyperband::filling() {
  if (brackets_.empty() || !brackets_.back().has_room()) {
    brackets_.emplace_back(table_[brackets_.size() % table_.size()]);
  }
  return brackets_.back();
}

MANTA_DECL void hyperband::tidy(std::size_t b) {
  brackets_[b].take_dropped(dropped_);
  while (first_ < brackets_.size() && brackets_[first_].finished()) ++first_;
}

MANTA_DECL std::vector<rung> successive_halving::rungs_of(const options& o) {
  if (is_nan(o.min + o.max + o.eta) || o.min <= 0 || o.max < o.min || o.eta <= 1 || o.trials == 0) {
    throw error("manta: successive_halving needs trials >= 1, 0 < min <= max and eta > 1");
  }
  std::vector<rung> rungs;
  for (int i = 0; i <= integer_log(o.max / o.min, o.eta); ++i) {
    const auto n = static_cast<std::size_t>(static_cast<double>(o.trials) / integer_power(o.eta, i) + 1e-9);
    if (n == 0) break;
    rungs.push_back({n, o.min * integer_power(o.eta, i)});
  }
  return rungs;
}

}  // namespace manta::tune
