// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a searcher is: it is asked for the configuration of each new trial and
// told what each came to that has ended. Any class with these three functions is
// one; they are called on one rank, one at a time:
//
//   struct my_searcher {
//     void begin(const tune::space& where, std::uint64_t seed);
//     std::optional<tune::config> ask(std::uint64_t trial);      // nothing: the space is exhausted
//     void tell(std::uint64_t trial, double loss);               // smaller is better; NaN: the trial failed; infinite:
//   };                                                           // it breaks a constraint
//
// and, if it cares:
//
//     void tell(std::uint64_t trial, const tune::outcome&);      // instead: all losses, the constraints, early ends
//     static constexpr bool has_one_objective = true;            // but it looks at one loss only
//     void add(std::uint64_t trial, const tune::config&);        // a trial with a configuration from elsewhere
//     void again(std::uint64_t trial, const tune::config&);      // what ask returned before the program was killed
//     void report(std::uint64_t trial, double at, double loss);  // a loss on the way, `at` epochs or the like
//     std::optional<std::size_t> count() const;                  // the number of configurations that there are
//     std::size_t combinations() const;                          // asks that make up one sample
//     static constexpr bool is_distinct = true;                  // never means to try a configuration twice: a study
//                                                                // asks again while others are left, and may take
//                                                                // another one (add)
//
// ask must depend on nothing but the seed and the calls made before: an
// experiment is continued from its journal by making these calls again.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <typeinfo>

#include "manta/tune/outcome.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/space.hpp"

namespace manta::tune {

using trial_number = std::uint64_t;

template <class S>
concept searcher = requires(S s, const space& where, std::uint64_t seed, trial_number trial, double loss) {
  s.begin(where, seed);
  { s.ask(trial) } -> std::convertible_to<std::optional<config>>;
  requires requires { s.tell(trial, loss); } || requires(const outcome& all) {
    s.tell(trial, all);
  };
};

namespace detail {
/// A searcher behind virtual functions.
class searcher_base {
 public:
  virtual ~searcher_base() = default;
  virtual std::shared_ptr<searcher_base> clone() const = 0;
  virtual const std::type_info& type() const = 0;
  virtual void begin(const space& where, std::uint64_t seed) = 0;
  virtual std::optional<config> ask(trial_number trial) = 0;
  virtual void tell(trial_number trial, const outcome& o) = 0;
  /// Whether the searcher is told one loss only.
  virtual bool has_one_objective() const = 0;
  virtual void add(trial_number trial, const config& c) = 0;
  virtual void again(trial_number trial, const config& c) = 0;
  virtual void report(trial_number trial, double at, double loss) = 0;
  virtual std::optional<std::size_t> count() const = 0;
  virtual std::size_t combinations() const = 0;
  virtual bool is_distinct() const = 0;
};

template <class S>
class searcher_of final : public searcher_base {
 public:
  explicit searcher_of(S s) : searcher_(std::move(s)) {}
  std::shared_ptr<searcher_base> clone() const override { return std::make_shared<searcher_of>(searcher_); }
  const std::type_info& type() const override { return typeid(S); }
  void begin(const space& where, std::uint64_t seed) override { searcher_.begin(where, seed); }
  std::optional<config> ask(trial_number trial) override { return searcher_.ask(trial); }
  void tell(trial_number trial, const outcome& o) override {
    if constexpr (requires { searcher_.tell(trial, o); }) searcher_.tell(trial, o);
    else searcher_.tell(trial, o.violation() > 0 ? infinity : o.loss);
  }
  bool has_one_objective() const override {
    if constexpr (requires { S::has_one_objective; }) return S::has_one_objective;
    return !requires(S & s, const outcome& o) { s.tell(trial_number{}, o); };
  }
  void add([[maybe_unused]] trial_number trial, [[maybe_unused]] const config& c) override {
    if constexpr (requires { searcher_.add(trial, c); }) searcher_.add(trial, c);
  }
  void again(trial_number trial, [[maybe_unused]] const config& c) override {
    if constexpr (requires { searcher_.again(trial, c); }) searcher_.again(trial, c);
    else (void)searcher_.ask(trial);
  }
  void report([[maybe_unused]] trial_number trial, [[maybe_unused]] double at, [[maybe_unused]] double loss) override {
    if constexpr (requires { searcher_.report(trial, at, loss); }) searcher_.report(trial, at, loss);
  }
  std::optional<std::size_t> count() const override {
    if constexpr (requires { searcher_.count(); }) return searcher_.count();
    return std::nullopt;
  }
  std::size_t combinations() const override {
    if constexpr (requires { searcher_.combinations(); }) return searcher_.combinations();
    return 1;
  }
  bool is_distinct() const override {
    if constexpr (requires { S::is_distinct; }) return S::is_distinct;
    return false;
  }

 private:
  S searcher_;
};
}  // namespace detail

/// Holds a searcher of any class.
class any_searcher {
 public:
  any_searcher() = default;
  template <class S>
    requires(searcher<S> && !std::same_as<S, any_searcher>)
  any_searcher(S s) : held_(std::make_shared<detail::searcher_of<S>>(std::move(s))) {}

  explicit operator bool() const { return held_ != nullptr; }
  detail::searcher_base* operator->() const { return held_.get(); }
  /// A copy that nobody else has: an experiment does not change the searcher it was given.
  any_searcher clone() const {
    any_searcher copy;
    copy.held_ = held_->clone();
    return copy;
  }

 private:
  std::shared_ptr<detail::searcher_base> held_;
};

}  // namespace manta::tune
