// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a scheduler is: it says which trial runs next and, at each report,
// whether the trial goes on. Any class with these four functions is one; they are
// called on one rank, one at a time, and know neither ranks nor clocks:
//
//   struct my_scheduler {
//     void add(std::uint64_t trial, const tune::config&);         // a new trial, which runs now
//     tune::verdict report(std::uint64_t trial, double at, double loss);   // smaller is better, NaN never comes
//     void remove(std::uint64_t trial);                           // it ended otherwise: by itself, by failure
//     tune::action next(bool may_add);                            // a place is free: what is to run there?
//   };
//
// and, if it cares:
//
//     void begin(const tune::space&, std::uint64_t seed, std::size_t trials);
//     void resize(std::size_t trials);                            // continued, with another number of trials
//     void complete(std::uint64_t trial);                         // it has come to its end: called before remove
//     bool compares_reports() const;                              // true: report is told each value by itself, though
//                                                                 // the value of a trial is the mean of them
//     double silent_until(std::uint64_t trial) const;             // reports before this `at` are always go_on
//     std::vector<std::uint64_t> take_dropped();                  // paused trials that will never go on
//     std::string nothing_kept();                                 // trials keep no state, so none can go on from
//                                                                 // another; says what happens to them
//     std::string remark(double longest) const;                   // for people, about options that do not fit: asked
//                                                                 // before the first trial (longest: 0) and after the
//                                                                 // last one, of which the longest came so far
//
// `at` counts what the experiment counts: reports, epochs, seconds. A paused
// trial keeps a checkpoint and no place. What it does must depend on nothing but the
// seed and the calls made before, as for searchers.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <typeinfo>

#include "manta/tune/searcher.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// A trial goes on as another: from the last checkpoint of `source`, with a new configuration.
struct exploit {
  trial_number source = 0;
  config to;
};

/// The answer to a report.
struct verdict {
  enum class kind : std::uint8_t { go_on, stop, pause };
  kind what = kind::go_on;
  bool save = false;                   ///< make a checkpoint now, others may want it (a pause makes one anyway)
  std::optional<exploit> change = {};  ///< change of one that goes on
  std::string why = {};                ///< reason for the decision log; empty for what needs no mention

  static verdict go_on() { return {}; }
  static verdict stop(std::string why) { return {kind::stop, false, {}, std::move(why)}; }
  static verdict pause(std::string why) { return {kind::pause, false, {}, std::move(why)}; }
};

/// The scheduler's decision about a free place.
struct action {
  enum class kind : std::uint8_t { nothing, add, resume };
  kind what = kind::nothing;
  trial_number trial = 0;  ///< the one to resume
  std::optional<exploit> change = {};
  std::string why = {};

  static action nothing() { return {}; }  ///< until somebody reports or ends
  static action add() { return {kind::add, 0, {}, {}}; }
  static action resume(trial_number t, std::string why) { return {kind::resume, t, {}, std::move(why)}; }
};

template <class S>
concept scheduler = requires(S s, trial_number trial, const config& c, double x) {
  s.add(trial, c);
  { s.report(trial, x, x) } -> std::same_as<verdict>;
  s.remove(trial);
  { s.next(true) } -> std::same_as<action>;
};

namespace detail {
/// A scheduler behind virtual functions.
class scheduler_base {
 public:
  virtual ~scheduler_base() = default;
  virtual std::shared_ptr<scheduler_base> clone() const = 0;
  virtual const std::type_info& type() const = 0;
  virtual void begin(const space& where, std::uint64_t seed, std::size_t trials) = 0;
  virtual void resize(std::size_t trials) = 0;
  virtual void add(trial_number t, const config& c) = 0;
  virtual verdict report(trial_number t, double at, double loss) = 0;
  virtual void complete(trial_number t) = 0;
  virtual void remove(trial_number t) = 0;
  virtual bool compares_reports() const = 0;
  virtual action next(bool may_add) = 0;
  virtual double silent_until(trial_number t) const = 0;
  virtual std::vector<trial_number> take_dropped() = 0;
  virtual std::string nothing_kept() = 0;
  virtual std::string remark(double longest) const = 0;
};

template <class S>
class scheduler_of final : public scheduler_base {
 public:
  explicit scheduler_of(S s) : scheduler_(std::move(s)) {}
  std::shared_ptr<scheduler_base> clone() const override { return std::make_shared<scheduler_of>(scheduler_); }
  const std::type_info& type() const override { return typeid(S); }
  void begin([[maybe_unused]] const space& where, [[maybe_unused]] std::uint64_t seed,
             [[maybe_unused]] std::size_t trials) override {
    if constexpr (requires { scheduler_.begin(where, seed, trials); }) scheduler_.begin(where, seed, trials);
  }
  void resize([[maybe_unused]] std::size_t trials) override {
    if constexpr (requires { scheduler_.resize(trials); }) scheduler_.resize(trials);
  }
  void add(trial_number t, const config& c) override { scheduler_.add(t, c); }
  verdict report(trial_number t, double at, double loss) override { return scheduler_.report(t, at, loss); }
  void complete([[maybe_unused]] trial_number t) override {
    if constexpr (requires { scheduler_.complete(t); }) scheduler_.complete(t);
  }
  void remove(trial_number t) override { scheduler_.remove(t); }
  bool compares_reports() const override {
    if constexpr (requires { scheduler_.compares_reports(); }) return scheduler_.compares_reports();
    return false;
  }
  action next(bool may_add) override { return scheduler_.next(may_add); }
  double silent_until([[maybe_unused]] trial_number t) const override {
    if constexpr (requires { scheduler_.silent_until(t); }) return scheduler_.silent_until(t);
    return 0;
  }
  std::vector<trial_number> take_dropped() override {
    if constexpr (requires { scheduler_.take_dropped(); }) return scheduler_.take_dropped();
    return {};
  }
  std::string nothing_kept() override {
    if constexpr (requires { scheduler_.nothing_kept(); }) return scheduler_.nothing_kept();
    return "each that is paused begins anew when it goes on, and its reports up to there count once";
  }
  std::string remark([[maybe_unused]] double longest) const override {
    if constexpr (requires { scheduler_.remark(longest); }) return scheduler_.remark(longest);
    return {};
  }

 private:
  S scheduler_;
};
}  // namespace detail

/// Holds a scheduler of any class.
class any_scheduler {
 public:
  any_scheduler() = default;
  template <class S>
    requires(scheduler<S> && !std::same_as<S, any_scheduler>)
  any_scheduler(S s) : held_(std::make_shared<detail::scheduler_of<S>>(std::move(s))) {}

  explicit operator bool() const { return held_ != nullptr; }
  detail::scheduler_base* operator->() const { return held_.get(); }
  /// A copy that nobody else has.
  any_scheduler clone() const {
    any_scheduler copy;
    copy.held_ = held_->clone();
    return copy;
  }

 private:
  std::shared_ptr<detail::scheduler_base> held_;
};

/// Every trial runs to its end, in the order in which they were made. The default.
class fifo {
 public:
  void add(trial_number, const config&) {}
  verdict report(trial_number, double, double) { return verdict::go_on(); }
  void remove(trial_number) {}
  action next(bool may_add) { return may_add ? action::add() : action::nothing(); }
  double silent_until(trial_number) const { return infinity; }
};

namespace detail {
/// 12 or 0.25, for reasons.
MANTA_DECL std::string number_text(double x);
/// What `who` has to say about marks to which no trial came, because trials end by themselves at `longest`.
MANTA_DECL std::string marks_beyond(double longest, const std::vector<double>& marks, const char* who);
}  // namespace detail

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/scheduler.ipp"
#endif
