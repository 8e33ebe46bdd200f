// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Population-based training (Jaderberg et al., arXiv:1711.09846): all trials
// train at once; at intervals one that is among the worst continues from the
// checkpoint of one among the best, with that one's configuration, perturbed.
#pragma once

#include <functional>
#include <map>

#include "manta/tune/scheduler.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

struct pbt_options {
  double interval = 10;      ///< between two looks at a trial
  double quantile = 0.25;    ///< share of the population that is the worst, and that is the best; at most 0.5
  double resample = 0.25;    ///< probability of a value drawn anew instead of perturbed
  double factor = 1.2;       ///< else a number is multiplied or, as probably, multiplied by 2 - factor
  bool synchronous = false;  ///< all wait for each other at each interval
  std::vector<std::string> mutate =
      {};  ///< the parameters that change; empty: all that are searched. Dependent ones follow
  /// Changes the configuration after that, in any way. Conditions and dependent parameters then follow the space again.
  std::function<config(config, random&)> explore = {};
};

namespace detail {

/// The parameters that a scheduler may change: those named, or all that are searched. Throws if one of these
/// is not searched.
MANTA_DECL std::vector<parameter> mutable_parameters(const space& where, const std::vector<std::string>& names,
                                                     const std::string& who);

/// A new value of one parameter: drawn anew, or a neighbour of the old one, within the domain.
MANTA_DECL value perturbed(const domain& d, const value& old, const config& before, const pbt_options& o, random& r);

/// The part that PBT and PB2 share: which trial exploits which, and when. Trials are compared at the same age, as the
/// synchronous workers of the paper are. Otherwise the trials that are behind would always be the worst.
class population {
 public:
  /// Makes the new configuration of a trial from that of the one it exploits.
  using explorer = std::function<config(trial_number, const config& from, random&)>;

  MANTA_DECL explicit population(pbt_options o);
  const pbt_options& options() const { return options_; }

  MANTA_DECL void begin(std::uint64_t seed, std::size_t trials);
  void resize(std::size_t trials) { size_ = trials; }
  MANTA_DECL void add(trial_number t, const config& c);
  void remove(trial_number t) { members_.erase(t); }
  MANTA_DECL double silent_until(trial_number t) const;

  MANTA_DECL verdict report(trial_number t, double at, double loss, const explorer& explore);

  /// Lets everybody go on if the one that was waited for has gone.
  MANTA_DECL void release_if_complete(const explorer& explore);
  MANTA_DECL action next(bool may_add);
  /// From now on each trial trains by itself to its end: a copy of one that keeps no state would begin anew, and would
  /// soon be among the worst again.
  MANTA_DECL std::string nothing_kept();
  /// What `who` has to say about a population of no or of one trial.
  MANTA_DECL std::string remark(const std::string& who) const;

 private:
  struct member {
    config current;
    double at = 0, last_look = 0, saved_at = 0;
    bool waits = false;
    bool has_exploited = false;                    ///< whether it exploited at its last look
    std::vector<std::pair<double, double>> looks;  ///< (at, loss) of this line of training

    /// The loss at that age, or just before; nothing if there was no report by then.
    std::optional<double> loss_at(double age) const;
  };

  /// Whether each trial trains by itself: there is no population, or no state that could be copied.
  bool is_plain() const { return keeps_nothing_ || size_ == no_limit; }
  std::map<trial_number, member>::iterator least_trained();
  /// Best first, by what they had at that age: a trial that is behind is not compared with what others became later.
  std::vector<trial_number> order(double age) const;
  std::size_t share_of(std::size_t n) const;

  /// If the trial is among the worst of the ranking: what it becomes, and why.
  std::optional<std::pair<exploit, std::string>> exploit_of(trial_number t, const std::vector<trial_number>& ranking,
                                                            const explorer& explore);

  /// Pauses; the last one to come decides for all.
  verdict at_barrier(trial_number t, const explorer& explore);
  /// Lets all members go on. They are ranked once, before the first of them becomes another, so that none of the worst
  /// is a source, and the result does not depend on the order in which they came.
  void release(const explorer& explore);

  static constexpr std::size_t no_limit = ~std::size_t{0};  ///< the number of trials that has no limit: .trials = 0

  pbt_options options_;
  std::uint64_t seed_ = 0, decisions_ = 0;
  std::size_t size_ = 0, added_ = 0;
  bool keeps_nothing_ = false;
  std::map<trial_number, member> members_;
  std::vector<action> turn_;
};

}  // namespace detail

/// The population is the experiment's number of trials. A trial goes on until a stopping rule or its own end.
class pbt {
 public:
  using options = pbt_options;
  pbt() : pbt(options{}) {}
  explicit pbt(options o) : population_(std::move(o)) {}

  MANTA_DECL void begin(const space& where, std::uint64_t seed, std::size_t trials);
  void resize(std::size_t trials) { population_.resize(trials); }
  void add(trial_number t, const config& c) { population_.add(t, c); }
  MANTA_DECL verdict report(trial_number t, double at, double loss);
  MANTA_DECL void remove(trial_number t);
  action next(bool may_add) { return population_.next(may_add); }
  double silent_until(trial_number t) const { return population_.silent_until(t); }
  std::string nothing_kept() { return population_.nothing_kept(); }
  std::string remark(double longest) const { return longest > 0 ? "" : population_.remark("pbt"); }

  /// The configuration perturbed, as an exploiting trial gets it.
  MANTA_DECL config explore(const config& from, random& r) const;

 private:
  detail::population::explorer explorer() const;

  detail::population population_;
  space space_;
  std::vector<parameter> mutable_;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/pbt.ipp"
#endif
