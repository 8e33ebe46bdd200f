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

/// The condition under which a parameter applies: while the named parameter has this value, or while the predicate is
/// true for the parameters before it.
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

  /// Where the parameter may lie, and with what probability, as choice, uniform, integers and the like write it down.
  struct law {
    kind type = kind::number;
    bool grid = false, integer = false, log = false, normal = false;
    double low = 0, high = 1, step = 0;  ///< high: of a normal one the deviation; step: 0, or that of the quantised
    std::int64_t least = 0, most = 0;    ///< ends of integers
    std::vector<value> options = {};     ///< options of choices; the value of a constant
    std::vector<double> weights = {};    ///< weights of the options; empty: all are as probable
    rule compute = {};                   ///< rule of dependent ones
    bool draws = false;                  ///< whether `compute` draws random numbers
  };
  /// Throws if no value obeys the law.
  MANTA_DECL explicit domain(law written);
  /// A fixed value, so that {"epochs", 10} may stand in a space.
  template <class T>
    requires(std::is_convertible_v<T, value>)
  domain(T fixed) : law_{.type = kind::constant, .options = {value(fixed)}}, closed_(true) {}

  /// A domain that is closed to one value is a constant, however it was written.
  kind type() const { return closed_ ? kind::constant : law_.type; }
  /// Whether the domain has only one value, although it is written as a domain of several:
  /// uniform(5, 5), choice({"sgd"}).
  bool is_closed() const { return closed_ && law_.type != kind::constant; }
  /// Whether searchers choose the value: of several options or numbers.
  bool is_searched() const { return type() == kind::choice || type() == kind::number; }
  /// Whether the parameter is dependent and also draws random numbers.
  bool draws() const { return law_.draws; }
  bool is_grid() const { return law_.grid; }
  /// Whether this is a grid that names a value several times, which then runs as often.
  MANTA_DECL bool repeats() const;
  const std::vector<value>& options() const { return law_.options; }
  bool is_integer() const { return law_.integer; }
  bool is_log() const { return law_.log; }
  bool is_normal() const { return law_.normal; }
  /// Whether the domain has only multiples of a step, to which values are rounded.
  bool is_quantised() const { return law_.step > 0; }
  /// The ends of a domain of numbers; for a normal one its mean and standard deviation, of the logarithm if is_log().
  double low() const { return law_.low; }
  double high() const { return law_.high; }
  double step() const { return law_.step; }

  /// The number of values; nothing if they cannot be counted, or if they are computed.
  MANTA_DECL std::optional<std::uint64_t> count() const;
  /// The value with this number, of a domain whose values can be counted.
  MANTA_DECL value member(std::uint64_t i) const;
  /// The value of the domain that is equal to this one; nothing if it has none.
  MANTA_DECL std::optional<value> find(const value& v) const;

  /// Limits the domain to multiples of `step` (for uniform and integers: to steps from the lower
  /// end). Throws if it has none.
  MANTA_DECL domain quantised(double step) const;
  /// Gives the options of a choice these weights, by which they are drawn, and which searchers take for what is known
  /// before. Throws if there are not as many weights as options, or if one is not positive.
  MANTA_DECL domain weighted(std::vector<double> weights) const;
  /// Makes the parameter apply only if the named one has this value, or if the predicate is true for the
  /// parameters before it.
  MANTA_DECL domain when(std::string name, value wanted) const;
  MANTA_DECL domain when(predicate condition) const;
  MANTA_DECL bool applies(const config& before) const;
  bool is_conditional() const { return !conditions_.empty(); }
  /// The conditions, all of which must hold.
  const std::vector<condition>& conditions() const { return conditions_; }

  /// The value at u in [0, 1], for constants, choices and numbers. At 0 and 1 it is exactly the end of the domain.
  MANTA_DECL value at(double u) const;
  /// The nearest number in the domain.
  MANTA_DECL value nearest(double x) const;
  /// The middle of the interval of u that gives this value. A value outside the domain counts as the nearest end.
  /// Throws if the value is no option of a choice.
  MANTA_DECL double position(const value& v) const;
  MANTA_DECL std::size_t option_index(const value& v) const;
  // For a choice: the option at u, the probability of an option, and the middle of the interval of u that gives it.
  MANTA_DECL std::size_t option_at(double u) const;
  MANTA_DECL double share(std::size_t option) const;
  MANTA_DECL double middle_of(std::size_t option) const;
  MANTA_DECL value draw(const config& before, random& r) const;

  /// The text of the domain, for people and for the digest of a space: loguniform(1e-05, 1).
  MANTA_DECL std::string text() const;

 private:
  /// Counts the values and marks a domain of one value as closed; throws if there is none.
  MANTA_DECL void settle();
  /// The value for a number. Whole numbers become integers, also those of uniform(16, 256).quantised(16):
  /// 32 and not 32.0.
  MANTA_DECL value as_value(double x) const;
  /// The number at that many steps from `from`: 0.3 and not 0.30000000000000004 for three steps of 0.1.
  double stepped(double from, double count) const;
  /// The number of a step, counted from the first one.
  double number_of(double step) const;
  std::int64_t integer_of(std::uint64_t step) const;
  /// The step that is nearest to x.
  double step_near(double x) const;
  std::uint64_t integer_step_near(const value& v) const;
  MANTA_DECL double rounded(double x) const;
  /// Whether all steps are equally probable; those of logarithmic and normal domains are not.
  bool is_even() const { return law_.step > 0 && !law_.log && !law_.normal; }
  /// The range of the logarithm. Integers have half a step more at both ends, so that each end gets its share.
  std::pair<double, double> log_range() const;
  /// Whether the logarithm makes a difference. If the ends are very near each other it is a straight line, and its
  /// digits do not suffice.
  bool is_curved() const;
  double number_at(double u) const;
  std::int64_t integer_at(double u) const;

  law law_;
  bool closed_ = false;
  double first_step_ = 0, last_step_ = 0;   ///< ends of quantised reals: multiples of the step, or
                                            ///< steps from the lower end
  std::int64_t first_ = 0;                  ///< the first value of integers,
  std::uint64_t stride_ = 1, strides_ = 0;  ///< and the others from it on
  std::vector<condition> conditions_;
};

/// A domain of these options, each with the same probability.
MANTA_DECL domain choice(std::vector<value> options);
/// A domain of values that the search runs completely: the space is repeated for every combination of its grids.
/// Searchers that learn take it as a choice.
MANTA_DECL domain grid(std::vector<value> values);
MANTA_DECL domain uniform(double low, double high);
MANTA_DECL domain loguniform(double low, double high);
MANTA_DECL domain normal(double mean, double deviation);
/// A domain of exp(x) for x normal(mean, deviation). Quantised, it begins at one step.
MANTA_DECL domain lognormal(double mean, double deviation);
/// A domain of integers, both ends included.
MANTA_DECL domain integers(std::int64_t low, std::int64_t high);
/// A domain of integers, both ends included, whose logarithm is uniform.
MANTA_DECL domain logintegers(std::int64_t low, std::int64_t high);
MANTA_DECL domain constant(value fixed);

/// Computed from the parameters that stand before it: a function of (config), or of (config, random&) if it draws.
/// Searchers see the value but do not search for it.
template <class F>
domain depends(F rule) {
  if constexpr (std::is_invocable_v<F, const config&, random&>) {
    return domain(domain::law{.type = domain::kind::dependent, .compute = std::move(rule), .draws = true});
  } else {
    static_assert(
        std::is_invocable_v<F, const config&>,
        "manta: depends takes a function of (const tune::config&), or of (const tune::config&, tune::random&)");
    auto compute = [rule = std::move(rule)](const config& c, random&) { return value(rule(c)); };
    return domain(domain::law{.type = domain::kind::dependent, .compute = std::move(compute)});
  }
}

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/domain.ipp"
#endif
