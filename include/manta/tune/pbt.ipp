// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/tune/pbt.hpp"

namespace manta::tune {

namespace detail {

MANTA_DECL std::vector<parameter> mutable_parameters(const space& where, const std::vector<std::string>& names,
                                                     const std::string& who) {
  if (where.is_program()) throw error("manta: " + who + " needs a space with a fixed list of parameters");
  std::vector<parameter> all = where.searched();
  std::erase_if(all, [&](const parameter& p) {
    return !names.empty() && std::find(names.begin(), names.end(), p.name) == names.end();
  });
  for (const std::string& name : names) {
    const parameter* p = where.find(name);
    if (p == nullptr) throw error("manta: " + who + ": the space has no parameter \"" + name + "\" to mutate");
    if (p->where.is_searched() || p->where.is_closed()) continue;
    throw error("manta: " + who + ": \"" + name + "\" cannot be mutated, for it is " + p->where.text());
  }
  return all;
}

MANTA_DECL value perturbed(const domain& d, const value& old, const config& before, const pbt_options& o, random& r) {
  if (r.chance(o.resample) || (d.type() == domain::kind::choice ? !d.find(old) : !old.is_number()))
    return d.draw(before, r);
  const bool up = r.chance(0.5);
  if (d.type() == domain::kind::choice) {
    const std::size_t i = d.option_index(old), last = d.options().size() - 1;
    return d.options()[up ? std::min(i + 1, last) : i == 0 ? 0 : i - 1];
  }
  const double x = old.as<double>();
  double y = x * (up ? o.factor : 2 - o.factor);
  if (d.step() > 0 && std::abs(y - x) < d.step())
    y = x + (up == (x >= 0) ? d.step() : -d.step());  // or it would stay for ever
  if (d.is_integer()) y = std::trunc(y);
  return d.nearest(y);
}

MANTA_DECL population::population(pbt_options o) : options_(std::move(o)) {
  if (is_nan(options_.interval + options_.quantile) || options_.interval <= 0 || options_.quantile < 0 ||
      options_.quantile > 0.5) {
    throw error("manta: pbt needs interval > 0 and a quantile from 0 to 0.5");
  }
  if (!is_finite(options_.factor) || options_.factor <= 0 || is_nan(options_.resample) || options_.resample < 0 ||
      options_.resample > 1) {
    throw error("manta: pbt needs factor > 0 and a probability to resample from 0 to 1");
  }
}

MANTA_DECL void population::begin(std::uint64_t seed, std::size_t trials) {
  seed_ = seed;
  size_ = trials;
}

MANTA_DECL void population::add(trial_number t, const config& c) {
  members_[t].current = c;
  ++added_;
}

MANTA_DECL double population::silent_until(trial_number t) const {
  const auto m = members_.find(t);
  if (is_plain()) return infinity;
  return m == members_.end() ? 0 : m->second.last_look + options_.interval;
}

MANTA_DECL std::string population::nothing_kept() {
  keeps_nothing_ = true;
  turn_.clear();
  return "none is copied, and each trains by itself to its end";
}

MANTA_DECL std::string population::remark(const std::string& who) const {
  if (size_ > 1 && size_ != no_limit) return {};
  return base::text(
      "{} copies the best of a population, which is as large as .trials, {}: no trial is copied; give .trials", who,
      size_ == 1 ? "now 1" : "now without a limit");
}

MANTA_DECL verdict population::report(trial_number t, double at, double loss, const explorer& explore) {
  member& m = members_.at(t);
  m.at = at;
  if (is_plain() || at < m.last_look + options_.interval) return verdict::go_on();
  m.last_look = at;
  m.looks.emplace_back(at, loss);
  if (options_.synchronous) return at_barrier(t, explore);
  // Where there are fewer places than trials, the one that has trained least goes first.
  const auto least = least_trained();
  const bool has_to_wait = added_ < size_ || (least != members_.end() && least->second.at < at);
  verdict v;
  // A trial that takes the state of a waiting one again and again would never leave it its place.
  const bool was_last = std::exchange(m.has_exploited, false);
  if (auto e = was_last && has_to_wait ? std::nullopt : exploit_of(t, order(at), explore)) {
    m.has_exploited = true;
    v.why = std::move(e->second);
    v.change = std::move(e->first);
    return v;
  }
  m.saved_at = at;
  v.save = true;
  if (!has_to_wait) return v;
  m.waits = true;
  return verdict::pause(added_ < size_ ? "others have not begun"
                                       : base::text("trial {} has trained less", least->first));
}

MANTA_DECL std::optional<std::pair<exploit, std::string>> population::exploit_of(
    trial_number t, const std::vector<trial_number>& ranking, const explorer& explore) {
  const std::size_t q = share_of(ranking.size());
  if (std::find(ranking.end() - static_cast<std::ptrdiff_t>(q), ranking.end(), t) == ranking.end()) return std::nullopt;
  std::vector<trial_number> best;  // that have a checkpoint
  for (std::size_t i = 0; i < q; ++i) {
    if (members_.at(ranking[i]).saved_at > 0) best.push_back(ranking[i]);
  }
  if (best.empty()) return std::nullopt;
  random r(seed_, ++decisions_, 0x706274ULL);
  const trial_number source = best[r.index(best.size())];
  member& m = members_.at(t);
  const member& s = members_.at(source);
  config to = explore(t, s.current, r);
  std::string why = base::text("exploits trial {} (loss {}, own {}, at {}) from {} on: {} becomes {}", source,
                               number_text(*s.loss_at(m.at)), number_text(*m.loss_at(m.at)), number_text(m.at),
                               number_text(s.saved_at), m.current.text(), to.text());
  m.current = to;
  m.looks = s.looks;  // its line of training is now that of the source
  while (!m.looks.empty() && m.looks.back().first > s.saved_at) m.looks.pop_back();
  m.at = m.last_look = m.saved_at = s.saved_at;
  return std::pair(exploit{source, std::move(to)}, std::move(why));
}

MANTA_DECL verdict population::at_barrier(trial_number t, const explorer& explore) {
  members_.at(t).waits = true;
  members_.at(t).saved_at = members_.at(t).at;
  bool all_here = added_ >= size_;
  for (const auto& [other, m] : members_) all_here = all_here && m.waits;
  if (all_here) release(explore);
  return verdict::pause("waits for the population");
}

MANTA_DECL void population::release_if_complete(const explorer& explore) {
  if (!options_.synchronous || is_plain() || members_.empty() || added_ < size_) return;
  for (const auto& [t, m] : members_) {
    if (!m.waits) return;
  }
  release(explore);
}

MANTA_DECL void population::release(const explorer& explore) {
  std::vector<action> others;
  const std::vector<trial_number> ranking = order(infinity);
  for (const trial_number t : ranking) {
    members_.at(t).waits = false;
    action a = action::resume(t, "all have come");
    auto e = exploit_of(t, ranking, explore);
    if (!e) {
      others.push_back(std::move(a));
      continue;
    }
    a.why = std::move(e->second);
    a.change = std::move(e->first);
    turn_.push_back(std::move(a));  // before its source goes on, and may end, with the checkpoint
  }
  std::move(others.begin(), others.end(), std::back_inserter(turn_));
}

MANTA_DECL action population::next(bool may_add) {
  if (may_add) return action::add();
  if (options_.synchronous && !is_plain()) {
    if (turn_.empty()) return action::nothing();
    action a = std::move(turn_.front());
    turn_.erase(turn_.begin());
    return a;
  }
  const auto least = least_trained();
  if (least == members_.end()) return action::nothing();
  least->second.waits = false;
  return action::resume(least->first, is_plain() ? "trains by itself" : "has trained least");
}

MANTA_DECL std::optional<double> population::member::loss_at(double age) const {
  std::optional<double> loss;
  for (const auto& [x, l] : looks) {
    if (x <= age) loss = l;
  }
  return loss;
}

MANTA_DECL std::map<trial_number, population::member>::iterator population::least_trained() {
  auto least = members_.end();
  for (auto i = members_.begin(); i != members_.end(); ++i) {
    if (i->second.waits && (least == members_.end() || i->second.at < least->second.at)) least = i;
  }
  return least;
}

MANTA_DECL std::vector<trial_number> population::order(double age) const {
  std::vector<std::pair<double, trial_number>> all;
  for (const auto& [t, m] : members_) {
    if (const auto loss = m.loss_at(age)) all.emplace_back(*loss, t);
  }
  std::sort(all.begin(), all.end());
  std::vector<trial_number> trials;
  for (const auto& [loss, t] : all) trials.push_back(t);
  return trials;
}

MANTA_DECL std::size_t population::share_of(std::size_t n) const {
  const auto q = static_cast<std::size_t>(std::ceil(static_cast<double>(n) * options_.quantile - 1e-9));
  return std::min(q, n / 2);
}

}  // namespace detail

MANTA_DECL void pbt::begin(const space& where, std::uint64_t seed, std::size_t trials) {
  population_.begin(seed, trials);
  space_ = where;
  mutable_ = detail::mutable_parameters(where, population_.options().mutate, "pbt");
}

MANTA_DECL detail::population::explorer pbt::explorer() const {
  return [this](trial_number, const config& from, random& r) { return explore(from, r); };
}

MANTA_DECL verdict pbt::report(trial_number t, double at, double loss) {
  return population_.report(t, at, loss, explorer());
}

MANTA_DECL void pbt::remove(trial_number t) {
  population_.remove(t);
  population_.release_if_complete(explorer());
}

MANTA_DECL config pbt::explore(const config& from, random& r) const {
  const auto next = [&] {
    config to = from;
    for (const parameter& p : mutable_) {
      if (const value* old = from.find(p.name))
        to.set(p.name, detail::perturbed(p.where, *old, to, population_.options(), r));
    }
    to = space_.mended(to, from, r);
    const auto& change = population_.options().explore;
    return change ? space_.mended(change(to, r), to, r) : to;
  };
  return space_.allowed_one(100, next).value_or(from);
}

}  // namespace manta::tune
