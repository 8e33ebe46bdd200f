// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Successive halving in steps that all trials take together: every trial of a
// rung runs to the rung's mark and pauses; when all are there, the best go on.
// HyperBand runs several such brackets, from many short trials to few long ones
// (Li, Jamieson, DeSalvo, Rostamizadeh, Talwalkar, JMLR 18, 2018).
#pragma once

#include <map>

#include "manta/tune/scheduler.hpp"

namespace manta::tune {

/// So many trials run until `at`.
struct rung {
  std::size_t trials = 0;
  double at = 0;
  friend bool operator==(const rung&, const rung&) = default;
};

/// How many trials each bracket begins with: two versions have been published.
enum class hyperband_sizes {
  pseudo_code,  ///< ceil((s_max + 1) / (s + 1) eta^s), as in Algorithm 1 of the paper (and in Ray)
  table         ///< floor((s_max + 1) / (s + 1)) eta^s, as in the paper's table
};

/// The rungs of all brackets for at most `max` per trial; the one with most trials first.
inline std::vector<std::vector<rung>> hyperband_brackets(double max, double eta,
                                                         hyperband_sizes sizes = hyperband_sizes::pseudo_code) {
  if (!(max >= 1) || !(eta > 1)) throw error("manta: hyperband needs max >= 1 and eta > 1");
  const int s_max = integer_log(max, eta);
  std::vector<std::vector<rung>> brackets;
  for (int s = s_max; s >= 0; --s) {
    const double ratio = static_cast<double>(s_max + 1) / static_cast<double>(s + 1);
    const double power = integer_power(eta, s);
    const double n = sizes == hyperband_sizes::table ? std::floor(ratio) * power : std::ceil(ratio * power - 1e-9);
    std::vector<rung> rungs;
    for (int i = 0; i <= s; ++i) {
      rungs.push_back({static_cast<std::size_t>(n / integer_power(eta, i) + 1e-9),
                       max / integer_power(eta, s - i)});
    }
    brackets.push_back(std::move(rungs));
  }
  return brackets;
}

/// One bracket of trials that are halved together.
class halving_bracket {
 public:
  explicit halving_bracket(std::vector<rung> rungs) : rungs_(std::move(rungs)) {}

  bool has_room() const { return !closed_ && added_ < rungs_.front().trials; }
  bool finished() const { return members_.empty() && (closed_ || !has_room()); }
  bool holds(trial_number t) const { return members_.contains(t); }

  void add(trial_number t) {
    ++added_;
    members_[t] = {};
  }
  verdict report(trial_number t, double at, double loss) {
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
      return verdict::stop("not among the best " + std::to_string(rungs_[level_].trials) + " of its bracket");
    }
    if (!members_.at(t).paused) {  // the last one to come, and among the best
      std::erase(ready_, t);
      return verdict::go_on();
    }
    return verdict::pause("waits at " + detail::number_text(mark()) + " for the others of its bracket");
  }
  void remove(trial_number t) {
    if (members_.erase(t) == 0) return;
    std::erase(ready_, t);
    halve_if_all_are_here();
  }
  /// No more trials will come: those that are there are all there will be.
  void close() {
    if (has_room()) {
      closed_ = true;
      halve_if_all_are_here();
    }
  }
  /// One that has been chosen to go on.
  std::optional<action> resume() {
    if (ready_.empty()) return std::nullopt;
    const trial_number t = ready_.front();
    ready_.erase(ready_.begin());
    return action::resume(t, "among the best of its bracket: on to " + detail::number_text(mark()));
  }
  double mark() const { return rungs_[level_].at; }
  void take_dropped(std::vector<trial_number>& into) {
    into.insert(into.end(), dropped_.begin(), dropped_.end());
    dropped_.clear();
  }

 private:
  struct member {
    bool paused = false;
    double loss = 0;
  };

  void halve_if_all_are_here() {
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

  std::vector<rung> rungs_;
  std::size_t level_ = 0;
  std::size_t added_ = 0;
  bool closed_ = false;
  std::map<trial_number, member> members_;
  std::vector<trial_number> ready_, dropped_;
};

/// HyperBand: the brackets of the table one after the other, again from the first when all are full. Trials that wait do
/// not hold a place. When no more trials come, brackets that are not full go on with those they have.
class hyperband {
 public:
  struct options {
    double max = 81;
    double eta = 3;
    hyperband_sizes sizes = hyperband_sizes::pseudo_code;
  };
  hyperband() : hyperband(options{}) {}
  explicit hyperband(options o) : table_(hyperband_brackets(o.max, o.eta, o.sizes)) {}
  /// Other brackets than the paper's.
  static hyperband of_brackets(std::vector<std::vector<rung>> table) {
    hyperband h;
    h.table_ = std::move(table);
    for (const auto& rungs : h.table_) {
      if (rungs.empty() || rungs.front().trials == 0) throw error("manta: hyperband: a bracket without trials");
    }
    if (h.table_.empty()) throw error("manta: hyperband needs a bracket");
    return h;
  }

  void add(trial_number t, const config&) {
    halving_bracket& b = filling();
    b.add(t);
    bracket_of_[t] = static_cast<std::size_t>(&b - brackets_.data());
  }
  verdict report(trial_number t, double at, double loss) {
    const std::size_t b = bracket_of_.at(t);
    verdict v = brackets_[b].report(t, at, loss);
    tidy(b);
    return v;
  }
  void remove(trial_number t) {
    const auto at = bracket_of_.find(t);
    if (at == bracket_of_.end()) return;
    const std::size_t b = at->second;
    brackets_[b].remove(t);
    bracket_of_.erase(t);
    tidy(b);
  }
  action next(bool may_add) {
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
  double silent_until(trial_number t) const {
    const auto at = bracket_of_.find(t);
    return at == bracket_of_.end() ? 0 : brackets_[at->second].mark();
  }
  std::vector<trial_number> take_dropped() {
    for (const trial_number t : dropped_) bracket_of_.erase(t);
    return std::exchange(dropped_, {});
  }
  std::size_t brackets_begun() const { return brackets_.size(); }

 private:
  halving_bracket& filling() {
    if (brackets_.empty() || !brackets_.back().has_room()) {
      brackets_.emplace_back(table_[brackets_.size() % table_.size()]);
    }
    return brackets_.back();
  }
  void tidy(std::size_t b) {
    brackets_[b].take_dropped(dropped_);
    while (first_ < brackets_.size() && brackets_[first_].finished()) ++first_;
  }

  std::vector<std::vector<rung>> table_;
  std::vector<halving_bracket> brackets_;
  std::size_t first_ = 0;  ///< those before it have finished
  std::map<trial_number, std::size_t> bracket_of_;
  std::vector<trial_number> dropped_;
};

/// Synchronous successive halving: `trials` run to `min`, the best 1/eta of them to eta times that, and so on up to `max`;
/// then the next `trials` begin.
class successive_halving {
 public:
  struct options {
    std::size_t trials = 27;
    double min = 1;
    double max = 27;
    double eta = 3;
  };
  successive_halving() : successive_halving(options{}) {}
  explicit successive_halving(options o) : brackets_(hyperband::of_brackets({rungs_of(o)})) {}

  static std::vector<rung> rungs_of(const options& o) {
    if (!(o.min > 0) || !(o.max >= o.min) || !(o.eta > 1) || o.trials == 0) {
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

  void add(trial_number t, const config& c) { brackets_.add(t, c); }
  verdict report(trial_number t, double at, double loss) { return brackets_.report(t, at, loss); }
  void remove(trial_number t) { brackets_.remove(t); }
  action next(bool may_add) { return brackets_.next(may_add); }
  double silent_until(trial_number t) const { return brackets_.silent_until(t); }
  std::vector<trial_number> take_dropped() { return brackets_.take_dropped(); }

 private:
  hyperband brackets_;
};

}  // namespace manta::tune
