// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Population-based training (Jaderberg et al., arXiv:1711.09846): all trials
// train at once; at intervals one that is among the worst continues from the
// checkpoint of one among the best, with that one's configuration, perturbed.
#pragma once

#include <iterator>
#include <map>

#include "manta/tune/scheduler.hpp"

namespace manta::tune {

struct pbt_options {
  double interval = 10;               ///< between two looks at a trial
  double quantile = 0.25;             ///< worst and best so many of the population; at most 0.5
  double resample = 0.25;             ///< probability of a value drawn anew instead of perturbed
  double factor = 1.2;                ///< else a number is multiplied or, as probably, multiplied by 2 - factor
  bool synchronous = false;           ///< all wait for each other at each interval
  std::vector<std::string> mutate = {};  ///< the parameters that change; empty: all that are searched
  /// Changes the configuration after that, in any way.
  std::function<config(config, random&)> explore = {};
};

namespace detail {

/// A new value of one parameter: drawn anew, or a neighbour of the old one, within the domain.
inline value perturbed(const domain& d, const value& old, const config& before, const pbt_options& o, random& r) {
  if (r.chance(o.resample)) return d.draw(before, r);
  const bool up = r.chance(0.5);
  if (d.type() == domain::kind::choice) {
    const std::size_t i = d.option_index(old), last = d.options().size() - 1;
    return d.options()[up ? std::min(i + 1, last) : i == 0 ? 0 : i - 1];
  }
  const double x = old.as<double>();
  double y = x * (up ? o.factor : 2 - o.factor);
  if (d.step() > 0 && std::abs(y - x) < d.step()) y = x + (up == (x >= 0) ? d.step() : -d.step());  // or it would stay for ever
  if (d.is_integer()) y = std::trunc(y);
  return d.nearest(y);
}

/// What PBT and PB2 share: who exploits whom and when. Trials are compared at the same age, which the paper's synchronous
/// workers have anyway: else those behind would always be the worst. `explorer` makes the new configuration.
class population {
 public:
  explicit population(pbt_options o) : options_(std::move(o)) {
    if (!(options_.interval > 0) || !(options_.quantile >= 0) || !(options_.quantile <= 0.5)) {
      throw error("manta: pbt needs interval > 0 and a quantile from 0 to 0.5");
    }
  }
  const pbt_options& options() const { return options_; }

  void begin(std::uint64_t seed, std::size_t trials) {
    seed_ = seed;
    size_ = trials;
  }
  void add(trial_number t, const config& c) {
    members_[t].current = c;
    ++added_;
  }
  void remove(trial_number t) { members_.erase(t); }
  double silent_until(trial_number t) const {
    const auto m = members_.find(t);
    return m == members_.end() ? 0 : m->second.last_look + options_.interval;
  }

  template <class Explore>
  verdict report(trial_number t, double at, double loss, Explore&& explore) {
    member& m = members_.at(t);
    m.at = at;
    if (at < m.last_look + options_.interval) return verdict::go_on();
    m.last_look = at;
    m.looks.emplace_back(at, loss);
    if (options_.synchronous) return at_barrier(t, explore);
    verdict v;
    if (auto e = exploit_of(t, explore)) {
      v.why = std::move(e->second);
      v.change = std::move(e->first);
      return v;
    }
    m.saved_at = at;
    v.save = true;
    // fewer places than trials: the one that has trained least goes first
    if (added_ < size_) {
      m.waits = true;
      v = verdict::pause("others have not begun");
    } else if (const auto least = least_trained(); least != members_.end() && least->second.at < at) {
      m.waits = true;
      v = verdict::pause("trial " + std::to_string(least->first) + " has trained less");
    }
    return v;
  }

  action next(bool may_add) {
    if (may_add) return action::add();
    if (options_.synchronous) {
      if (turn_.empty()) return action::nothing();
      action a = std::move(turn_.front());
      turn_.erase(turn_.begin());
      return a;
    }
    const auto least = least_trained();
    if (least == members_.end()) return action::nothing();
    least->second.waits = false;
    return action::resume(least->first, "has trained least");
  }

 private:
  struct member {
    config current;
    double at = 0, last_look = 0, saved_at = 0;
    bool waits = false;
    std::vector<std::pair<double, double>> looks;  ///< (at, loss) of this line of training

    /// What it had at that age, or just before; nothing if it was not looked at by then.
    std::optional<double> loss_at(double age) const {
      std::optional<double> loss;
      for (const auto& [x, l] : looks) {
        if (x <= age) loss = l;
      }
      return loss;
    }
  };

  std::map<trial_number, member>::iterator least_trained() {
    auto least = members_.end();
    for (auto i = members_.begin(); i != members_.end(); ++i) {
      if (i->second.waits && (least == members_.end() || i->second.at < least->second.at)) least = i;
    }
    return least;
  }
  /// Best first, by what they had at that age: a trial that is behind is not compared with what others became later.
  std::vector<trial_number> order(double age) const {
    std::vector<std::pair<double, trial_number>> all;
    for (const auto& [t, m] : members_) {
      if (const auto loss = m.loss_at(age)) all.emplace_back(*loss, t);
    }
    std::sort(all.begin(), all.end());
    std::vector<trial_number> trials;
    for (const auto& [loss, t] : all) trials.push_back(t);
    return trials;
  }
  std::size_t share_of(std::size_t n) const {
    const auto q = static_cast<std::size_t>(std::ceil(static_cast<double>(n) * options_.quantile - 1e-9));
    return std::min(q, n / 2);
  }

  /// If it is among the worst: what it becomes, and why.
  template <class Explore>
  std::optional<std::pair<exploit, std::string>> exploit_of(trial_number t, Explore& explore) {
    const auto ranking = order(members_.at(t).at);
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
    std::string why = "exploits trial " + std::to_string(source) + " (loss " + number_text(*s.loss_at(m.at)) + ", own " +
                      number_text(*m.loss_at(m.at)) + ", at " + number_text(m.at) + ") from " + number_text(s.saved_at) +
                      " on: " + m.current.text() + " becomes " + to.text();
    m.current = to;
    m.looks = s.looks;  // its line of training is now that of the source
    while (!m.looks.empty() && m.looks.back().first > s.saved_at) m.looks.pop_back();
    m.at = m.last_look = m.saved_at = s.saved_at;
    return std::pair(exploit{source, std::move(to)}, std::move(why));
  }

  /// Pauses; the last one to come decides for all.
  template <class Explore>
  verdict at_barrier(trial_number t, Explore& explore) {
    members_.at(t).waits = true;
    members_.at(t).saved_at = members_.at(t).at;
    bool all_here = added_ >= size_;
    for (const auto& [other, m] : members_) all_here = all_here && m.waits;
    if (all_here) release(explore);
    return verdict::pause("waits for the population");
  }

 public:
  /// Lets everybody go on if the one that was waited for has gone.
  template <class Explore>
  void release_if_complete(Explore&& explore) {
    if (!options_.synchronous || members_.empty() || added_ < size_) return;
    for (const auto& [t, m] : members_) {
      if (!m.waits) return;
    }
    release(explore);
  }

 private:
  template <class Explore>
  void release(Explore& explore) {
    std::vector<action> others;
    for (const trial_number t : order(infinity)) {  // best first
      members_.at(t).waits = false;
      action a = action::resume(t, "all have come");
      auto e = exploit_of(t, explore);
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

  pbt_options options_;
  std::uint64_t seed_ = 0, decisions_ = 0;
  std::size_t size_ = 0, added_ = 0;
  std::map<trial_number, member> members_;
  std::vector<action> turn_;
};

}  // namespace detail

/// The population is the experiment's number of trials. A trial goes on until a stopping rule or its own end.
class pbt {
  auto explorer() {
    return [this](trial_number, const config& from, random& r) { return explore(from, r); };
  }

 public:
  using options = pbt_options;
  pbt() : pbt(options{}) {}
  explicit pbt(options o) : population_(std::move(o)) {}

  void begin(const space& where, std::uint64_t seed, std::size_t trials) {
    population_.begin(seed, trials);
    mutable_.clear();
    const auto& names = population_.options().mutate;
    for (const parameter& p : where.parameters()) {
      const bool searched = p.where.type() == domain::kind::choice || p.where.type() == domain::kind::number;
      if (names.empty() ? searched : std::find(names.begin(), names.end(), p.name) != names.end()) mutable_.push_back(p);
    }
    for (const std::string& name : names) {
      if (std::none_of(mutable_.begin(), mutable_.end(), [&](const parameter& p) { return p.name == name; })) {
        throw error("manta: pbt: the space has no parameter \"" + name + "\" to mutate");
      }
    }
    if (where.is_program()) throw error("manta: pbt needs a space with a fixed list of parameters");
  }
  void add(trial_number t, const config& c) { population_.add(t, c); }
  verdict report(trial_number t, double at, double loss) { return population_.report(t, at, loss, explorer()); }
  void remove(trial_number t) {
    population_.remove(t);
    population_.release_if_complete(explorer());
  }
  action next(bool may_add) { return population_.next(may_add); }
  double silent_until(trial_number t) const { return population_.silent_until(t); }

  /// The configuration perturbed, as an exploiting trial gets it.
  config explore(const config& from, random& r) const {
    config to = from;
    for (const parameter& p : mutable_) {
      if (const value* old = from.find(p.name)) to.set(p.name, detail::perturbed(p.where, *old, to, population_.options(), r));
    }
    return population_.options().explore ? population_.options().explore(std::move(to), r) : to;
  }

 private:
  detail::population population_;
  std::vector<parameter> mutable_;
};

}  // namespace manta::tune
