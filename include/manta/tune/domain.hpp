// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Where one parameter may lie, and with what probability.
//
//   choice({"sgd", "adam"})   uniform(0, 1)        loguniform(1e-5, 1)     normal(0, 2)    lognormal(0, 1)
//   integers(1, 8)            logintegers(1, 1024) grid({16, 32, 64})      constant(10)
//   uniform(0, 1).quantised(0.1)                   uniform(0.8, 0.99).when("opt", "sgd")
//   depends([](const config& c) { return 2 * c.get<int>("width"); })
//
// To searchers a domain is the unit interval: at(u) is the value whose share of
// the probability below it is u, position(v) the way back.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>

#include "manta/tune/config.hpp"
#include "manta/tune/random.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// When a parameter is there: while the one named has this value, or while the predicate holds for what stands before
/// it.
struct condition {
  std::string name;  ///< empty: `test` decides
  value wanted;
  std::function<bool(const config&)> test;

  MANTA_DECL bool holds(const config& before) const;
};

class domain {
 public:
  enum class kind : std::uint8_t { constant, choice, number, dependent };
  /// The value of a dependent parameter; the generator is for those that are drawn.
  using rule = std::function<value(const config&, random&)>;
  using predicate = std::function<bool(const config&)>;

  /// A fixed value, so that {"epochs", 10} may stand in a space.
  template <class T>
  requires std::is_convertible_v<T, value> domain(T fixed) : closed_(true), options_{value(fixed)} {}

  /// A domain that is closed to one value is a constant, however it was written.
  kind type() const { return closed_ ? kind::constant : kind_; }
  /// Has the domain one value, though it is written as a domain of several: uniform(5, 5), choice({"sgd"})?
  bool is_closed() const { return closed_ && kind_ != kind::constant; }
  /// A dependent parameter that is not computed from others alone.
  bool draws() const { return draws_; }
  bool is_grid() const { return grid_; }
  /// A grid that has a value several times: it is to be run as often.
  MANTA_DECL bool repeats() const;
  const std::vector<value>& options() const { return options_; }
  bool is_integer() const { return integer_; }
  bool is_log() const { return log_; }
  bool is_normal() const { return normal_; }
  /// Takes one of few values with room between them, which is rounded to.
  bool is_quantised() const { return step_ > 0; }
  /// The ends of a domain of numbers; of a normal one mean and standard deviation, of the logarithm if is_log().
  double low() const { return low_; }
  double high() const { return high_; }
  double step() const { return step_; }

  /// How many values there are; nothing if they cannot be counted, or if they are computed.
  MANTA_DECL std::optional<std::uint64_t> count() const;
  /// One of those that can be counted, in their order.
  MANTA_DECL value member(std::uint64_t i) const;
  /// The value of the domain that is equal to this one; nothing if it has none.
  MANTA_DECL std::optional<value> find(const value& v) const;

  /// Only multiples of `step` (for uniform and integers: steps from the lower end). Throws if none lies within.
  MANTA_DECL domain quantised(double step) const;
  /// The parameter is there only if the one named has this value, or if the predicate holds for what stands before it.
  MANTA_DECL domain when(std::string name, value wanted) const;
  MANTA_DECL domain when(predicate condition) const;
  MANTA_DECL bool applies(const config& before) const;
  bool is_conditional() const { return !conditions_.empty(); }
  /// All of them have to hold.
  const std::vector<condition>& conditions() const { return conditions_; }

  /// u in [0, 1]; for constants, choices and numbers. At 0 and 1 the ends as they were written.
  MANTA_DECL value at(double u) const;
  /// The nearest number that the domain has.
  MANTA_DECL value nearest(double x) const;
  /// The middle of the interval of u that gives this value. A value beyond the domain is taken to its nearest end;
  /// throws if it is no option of a choice.
  MANTA_DECL double position(const value& v) const;
  MANTA_DECL std::size_t option_index(const value& v) const;
  MANTA_DECL value draw(const config& before, random& r) const;

  /// loguniform(1e-05, 1), for people and for the digest of a space.
  MANTA_DECL std::string text() const;

 private:
  domain() = default;
  friend domain choice(std::vector<value> options);
  friend domain grid(std::vector<value> values);
  friend domain uniform(double low, double high);
  friend domain loguniform(double low, double high);
  friend domain normal(double mean, double deviation);
  friend domain lognormal(double mean, double deviation);
  friend domain integers(std::int64_t low, std::int64_t high);
  friend domain logintegers(std::int64_t low, std::int64_t high);
  template <class F>
  friend domain depends(F rule);

  static void require(bool good, const std::string& what);
  static domain number(double low, double high);
  /// To be called when a domain has been written: counts its values, and refuses one that has none.
  MANTA_DECL domain settled();
  static std::size_t bin(double u, std::size_t n);
  /// Whole numbers are integers, also those of uniform(16, 256).quantised(16): 32 and not 32.0.
  MANTA_DECL value as_value(double x) const;
  /// The number that lies that many steps from there: 0.3 and not 0.30000000000000004 for three of 0.1.
  double stepped(double from, double count) const;
  /// The step with that number, from the first one on.
  double number_of(double step) const;
  std::int64_t integer_of(std::uint64_t step) const;
  /// The number of the step that is nearest.
  double step_near(double x) const;
  std::uint64_t integer_step_near(const value& v) const;
  MANTA_DECL double rounded(double x) const;
  /// Steps that are equally probable: not those of logarithms and normal numbers.
  bool is_even() const { return step_ > 0 && !log_ && !normal_; }
  /// For log-uniform numbers. Integers have half a step more at both ends, so that each end gets its share.
  std::pair<double, double> log_range() const;
  /// The logarithm makes a difference: between ends so near each other that it is a straight line, its digits do not
  /// suffice.
  bool is_curved() const;
  double number_at(double u) const;
  std::int64_t integer_at(double u) const;

  kind kind_ = kind::constant;
  bool grid_ = false, integer_ = false, log_ = false, normal_ = false, closed_ = false, draws_ = false;
  double low_ = 0, high_ = 1, step_ = 0;
  double first_step_ = 0,
         last_step_ = 0;  ///< of quantised numbers that are not integers: multiples of the step, or steps from low_
  std::int64_t least_ = 0, most_ = 0, first_ = 0;  ///< of integers: the ends, and the first value within them
  std::uint64_t stride_ = 1, strides_ = 0;         ///< from first_ on
  std::vector<value> options_;
  rule rule_;
  std::vector<condition> conditions_;
};

/// One of these, each with the same probability.
MANTA_DECL domain choice(std::vector<value> options);
/// Each of these, as often as it is given: the space is repeated for every combination of its grids. Searchers that
/// adapt take it as a choice.
MANTA_DECL domain grid(std::vector<value> values);
MANTA_DECL domain uniform(double low, double high);
MANTA_DECL domain loguniform(double low, double high);
MANTA_DECL domain normal(double mean, double deviation);
/// exp of normal(mean, deviation). Quantised, at least one step.
MANTA_DECL domain lognormal(double mean, double deviation);
/// Both ends belong to it.
MANTA_DECL domain integers(std::int64_t low, std::int64_t high);
/// Both ends belong to it; small ones are as probable as the logarithm says.
MANTA_DECL domain logintegers(std::int64_t low, std::int64_t high);
MANTA_DECL domain constant(value fixed);

/// Computed from the parameters that stand before it: a function of (config), or of (config, random&) if it draws.
/// Searchers see the value but do not search for it.
template <class F>
domain depends(F rule) {
  domain d;
  d.kind_ = domain::kind::dependent;
  if constexpr (std::is_invocable_v<F, const config&, random&>) {
    d.rule_ = std::move(rule);
    d.draws_ = true;
  } else {
    static_assert(
        std::is_invocable_v<F, const config&>,
        "manta: depends takes a function of (const tune::config&), or of (const tune::config&, tune::random&)");
    d.rule_ = [rule = std::move(rule)](const config& c, random&) { return value(rule(c)); };
  }
  return d;
}

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/domain.ipp"
#endif
