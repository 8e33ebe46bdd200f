// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a searcher is: it is asked for the configuration of each new trial and
// told the loss of each that has ended. Any class with these three functions is
// one; they are called on one rank, one at a time:
//
//   struct my_searcher {
//     void begin(const tune::space& where, std::uint64_t seed);
//     std::optional<tune::config> ask(std::uint64_t trial);      // nothing: the space is exhausted
//     void tell(std::uint64_t trial, double loss);               // smaller is better; NaN: the trial failed
//   };
//
// and, if it cares:
//
//     void add(std::uint64_t trial, const tune::config&);        // a trial with a configuration from elsewhere
//     void again(std::uint64_t trial, const tune::config&);      // what ask returned before the program was killed
//     void report(std::uint64_t trial, double at, double loss);  // a loss on the way, `at` epochs or the like
//     std::optional<std::size_t> count() const;                  // how many configurations there are
//     std::size_t combinations() const;                          // asks that make up one sample
//     static constexpr bool is_distinct = true;                  // never means to try a configuration twice: a study
//     asks again
//                                                                // while others are left, and may take another one
//                                                                (add)
//
// ask must depend on nothing but the seed and the calls made before: an
// experiment is continued from its journal by making these calls again.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <typeinfo>

#include "manta/tune/source.hpp"
#include "manta/tune/space.hpp"

namespace manta::tune {

using trial_number = std::uint64_t;

template <class S>
concept searcher = requires(S s, const space& where, std::uint64_t seed, trial_number trial, double loss) {
  s.begin(where, seed);
  { s.ask(trial) } -> std::convertible_to<std::optional<config>>;
  s.tell(trial, loss);
};

/// Holds a searcher of any class.
class any_searcher {
 public:
  any_searcher() = default;
  template <class S>
    requires(searcher<S> && !std::same_as<S, any_searcher>)
  any_searcher(S s) : held_(static_cast<base*>(new holder<S>(std::move(s)))) {}

  explicit operator bool() const { return held_ != nullptr; }
  /// A copy that nobody else has: an experiment does not change the searcher it was given.
  MANTA_DECL any_searcher clone() const;
  const std::type_info& type() const { return held_->type(); }

  void begin(const space& where, std::uint64_t seed) { held_->begin(where, seed); }
  std::optional<config> ask(trial_number trial) { return held_->ask(trial); }
  void tell(trial_number trial, double loss) { held_->tell(trial, loss); }
  void add(trial_number trial, const config& c) { held_->add(trial, c); }
  void again(trial_number trial, const config& c) { held_->again(trial, c); }
  void report(trial_number trial, double at, double loss) { held_->report(trial, at, loss); }
  std::optional<std::size_t> count() const { return held_->count(); }
  std::size_t combinations() const { return held_->combinations(); }
  bool is_distinct() const { return held_->is_distinct(); }

 private:
  struct base {
    virtual ~base() = default;
    virtual base* clone() const = 0;
    virtual const std::type_info& type() const = 0;
    virtual void begin(const space& where, std::uint64_t seed) = 0;
    virtual std::optional<config> ask(trial_number trial) = 0;
    virtual void tell(trial_number trial, double loss) = 0;
    virtual void add(trial_number trial, const config& c) = 0;
    virtual void again(trial_number trial, const config& c) = 0;
    virtual void report(trial_number trial, double at, double loss) = 0;
    virtual std::optional<std::size_t> count() const = 0;
    virtual std::size_t combinations() const = 0;
    virtual bool is_distinct() const = 0;
  };
  template <class S>
  struct holder final : base {
    explicit holder(S s) : searcher_(std::move(s)) {}
    base* clone() const override { return new holder(searcher_); }
    const std::type_info& type() const override { return typeid(S); }
    void begin(const space& where, std::uint64_t seed) override { searcher_.begin(where, seed); }
    std::optional<config> ask(trial_number trial) override { return searcher_.ask(trial); }
    void tell(trial_number trial, double loss) override { searcher_.tell(trial, loss); }
    void add([[maybe_unused]] trial_number trial, [[maybe_unused]] const config& c) override {
      if constexpr (requires { searcher_.add(trial, c); }) searcher_.add(trial, c);
    }
    void again(trial_number trial, [[maybe_unused]] const config& c) override {
      if constexpr (requires { searcher_.again(trial, c); }) {
        searcher_.again(trial, c);
      } else {
        (void)searcher_.ask(trial);
      }
    }
    void report([[maybe_unused]] trial_number trial, [[maybe_unused]] double at,
                [[maybe_unused]] double loss) override {
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
    S searcher_;
  };

  std::shared_ptr<base> held_;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/searcher.ipp"
#endif
