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

#include "manta/tune/config.hpp"
#include "manta/tune/random.hpp"

namespace manta::tune {

class domain {
 public:
  enum class kind : std::uint8_t { constant, choice, number, dependent };
  /// The value of a dependent parameter; the generator is for those that are drawn.
  using rule = std::function<value(const config&, random&)>;
  using predicate = std::function<bool(const config&)>;

  /// A fixed value, so that {"epochs", 10} may stand in a space.
  template <class T>
    requires std::is_convertible_v<T, value>
  domain(T fixed) : options_{value(fixed)} {}

  kind type() const { return kind_; }
  bool is_grid() const { return grid_; }
  const std::vector<value>& options() const { return options_; }
  bool is_integer() const { return integer_; }
  bool is_log() const { return log_; }
  bool is_normal() const { return normal_; }
  /// Takes one of few values with room between them, which is rounded to.
  bool is_quantised() const { return step_ > 0; }
  /// Of a number: the ends (of a normal one: mean and standard deviation, of the logarithm if is_log()).
  double low() const { return low_; }
  double high() const { return high_; }
  double step() const { return step_; }

  /// Only multiples of `step` (for uniform: steps from the lower end).
  domain quantised(double step) const {
    require(kind_ == kind::number, "quantised is for numbers");
    require(step > 0 && std::isfinite(step), "the step of quantised must be positive");
    domain d = *this;
    d.step_ = step;
    return d;
  }
  /// The parameter is there only if the one named has this value, or if the predicate holds for what stands before it.
  domain when(std::string name, value wanted) const {
    return when([name = std::move(name), wanted = std::move(wanted)](const config& c) {
      const value* v = c.find(name);
      return v != nullptr && *v == wanted;
    });
  }
  domain when(predicate condition) const {
    domain d = *this;
    if (d.condition_) {  // both
      d.condition_ = [first = std::move(d.condition_), second = std::move(condition)](const config& c) {
        return first(c) && second(c);
      };
    } else {
      d.condition_ = std::move(condition);
    }
    return d;
  }
  bool applies(const config& before) const { return !condition_ || condition_(before); }
  bool is_conditional() const { return static_cast<bool>(condition_); }

  /// u in [0, 1]; for constants, choices and numbers.
  value at(double u) const {
    u = std::clamp(u, 0.0, 1.0);
    if (kind_ == kind::constant) return options_.front();
    if (kind_ == kind::choice) return options_[bin(u, options_.size())];
    return as_value(number_at(u));
  }
  /// The nearest number that the domain has.
  value nearest(double x) const { return as_value(rounded(x)); }
  /// The middle of the interval of u that gives this value. A value beyond the domain is taken to its nearest end; throws if it
  /// is no option of a choice.
  double position(const value& v) const {
    if (kind_ == kind::constant) return 0.5;
    if (kind_ == kind::choice) {
      return (static_cast<double>(option_index(v)) + 0.5) / static_cast<double>(options_.size());
    }
    const double x = v.as<double>();
    if (normal_) return normal_cdf(((log_ ? std::log(x) : x) - low_) / high_);
    if (const double levels = level_count(); levels > 0) {
      return std::clamp((std::round((x - low_) / step_) + 0.5) / levels, 0.0, 1.0);
    }
    if (log_) {
      const auto [from, to] = log_range();
      return std::clamp((std::log(x) - from) / (to - from), 0.0, 1.0);
    }
    return high_ > low_ ? std::clamp((x - low_) / (high_ - low_), 0.0, 1.0) : 0.5;
  }
  std::size_t option_index(const value& v) const {
    for (std::size_t i = 0; i < options_.size(); ++i) {
      if (options_[i] == v) return i;
    }
    throw error("manta: " + v.text() + " is none of the options " + text());
  }
  value draw(const config& before, random& r) const {
    return kind_ == kind::dependent ? rule_(before, r) : at(r.uniform());
  }

  /// loguniform(1e-05, 1), for people and for the digest of a space.
  std::string text() const;

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

  static void require(bool good, const std::string& what) {
    if (!good) throw error("manta: a space: " + what);
  }
  static domain number(double low, double high) {
    domain d;
    d.kind_ = kind::number;
    d.low_ = low;
    d.high_ = high;
    return d;
  }
  static std::size_t bin(double u, std::size_t n) {
    return std::min(static_cast<std::size_t>(u * static_cast<double>(n)), n - 1);
  }
  /// Whole numbers are integers, also those of uniform(16, 256).quantised(16): 32 and not 32.0.
  value as_value(double x) const {
    const bool whole = integer_ || (step_ > 0 && step_ == std::floor(step_) && x == std::floor(x) && std::abs(x) < 9e15);
    return whole ? value(static_cast<std::int64_t>(std::llround(x))) : value(x);
  }
  /// So many steps from there: 0.3 and not 0.30000000000000004 for three of 0.1.
  double stepped(double from, double count) const {
    const auto is_whole = [](double x) { return std::abs(x - std::round(x)) <= 1e-12 * std::abs(x); };
    for (double scale = 1; scale < 1e12; scale *= 10) {
      if (is_whole(from * scale) && is_whole(step_ * scale)) return (std::round(from * scale) + count * std::round(step_ * scale)) / scale;
    }
    return from + count * step_;
  }
  double rounded(double x) const {
    if (!normal_) x = std::clamp(x, low_, high_);
    if (step_ <= 0) return x;
    if (const double levels = level_count(); levels > 0) return stepped(low_, std::min(std::round((x - low_) / step_), levels - 1));
    double count = std::round(x / step_);
    if (!normal_ && stepped(0, count) < low_) ++count;  // the ends may be no multiples
    if (!normal_ && stepped(0, count) > high_) --count;
    return stepped(0, count);
  }
  /// Of equally probable levels; 0 if the values are not that.
  double level_count() const { return step_ > 0 && !log_ && !normal_ ? std::floor((high_ - low_) / step_ + 1e-9) + 1 : 0; }
  /// Of log-uniform numbers; integers have half a step more at both ends, so that each end gets its share.
  std::pair<double, double> log_range() const {
    return integer_ ? std::pair(std::log(low_ - 0.5), std::log(high_ + 0.5)) : std::pair(std::log(low_), std::log(high_));
  }
  double number_at(double u) const {
    double x = 0;
    if (normal_) {
      x = low_ + high_ * normal_quantile(std::clamp(u, 1e-12, 1 - 1e-12));
      if (log_) x = std::exp(x);
    } else if (const double levels = level_count(); levels > 0) {
      return stepped(low_, static_cast<double>(bin(u, static_cast<std::size_t>(levels))));
    } else if (log_) {
      const auto [from, to] = log_range();
      x = std::exp(from + (to - from) * u);
    } else {
      x = low_ + (high_ - low_) * u;
    }
    return rounded(x);
  }

  kind kind_ = kind::constant;
  bool grid_ = false, integer_ = false, log_ = false, normal_ = false;
  double low_ = 0, high_ = 1, step_ = 0;
  std::vector<value> options_;
  rule rule_;
  predicate condition_;
};

/// One of these, each with the same probability.
inline domain choice(std::vector<value> options) {
  domain::require(!options.empty(), "choice needs at least one option");
  domain d;
  d.kind_ = domain::kind::choice;
  d.options_ = std::move(options);
  return d;
}
/// Each of these: the space is repeated for every combination of its grids. Searchers that adapt take it as a choice.
inline domain grid(std::vector<value> values) {
  domain::require(!values.empty(), "grid needs at least one value");
  domain d = choice(std::move(values));
  d.grid_ = true;
  return d;
}
inline domain uniform(double low, double high) {
  domain::require(low <= high && std::isfinite(high - low), "uniform(low, high) needs finite low <= high");
  return domain::number(low, high);
}
inline domain loguniform(double low, double high) {
  domain::require(low > 0 && low <= high && std::isfinite(high), "loguniform(low, high) needs 0 < low <= high");
  domain d = domain::number(low, high);
  d.log_ = true;
  return d;
}
inline domain normal(double mean, double deviation) {
  domain::require(std::isfinite(mean) && deviation > 0, "normal(mean, deviation) needs a positive deviation");
  domain d = domain::number(mean, deviation);
  d.normal_ = true;
  return d;
}
/// exp of normal(mean, deviation).
inline domain lognormal(double mean, double deviation) {
  domain d = normal(mean, deviation);
  d.log_ = true;
  return d;
}
/// Both ends belong to it.
inline domain integers(std::int64_t low, std::int64_t high) {
  domain::require(low <= high, "integers(low, high) needs low <= high");
  domain d = domain::number(static_cast<double>(low), static_cast<double>(high));
  d.integer_ = true;
  d.step_ = 1;
  return d;
}
/// Both ends belong to it; small ones are as probable as the logarithm says.
inline domain logintegers(std::int64_t low, std::int64_t high) {
  domain::require(low >= 1 && low <= high, "logintegers(low, high) needs 1 <= low <= high");
  domain d = integers(low, high);
  d.log_ = true;
  return d;
}
inline domain constant(value fixed) { return domain(std::move(fixed)); }

/// Computed from the parameters that stand before it: a function of (config), or of (config, random&) if it draws. Searchers
/// see the value but do not search for it.
template <class F>
domain depends(F rule) {
  domain d;
  d.kind_ = domain::kind::dependent;
  if constexpr (std::is_invocable_v<F, const config&, random&>) {
    d.rule_ = std::move(rule);
  } else {
    static_assert(std::is_invocable_v<F, const config&>,
                  "manta: depends takes a function of (const tune::config&), or of (const tune::config&, tune::random&)");
    d.rule_ = [rule = std::move(rule)](const config& c, random&) { return value(rule(c)); };
  }
  return d;
}

inline std::string domain::text() const {
  std::string out;
  if (kind_ == kind::dependent) {
    out = "depends(...)";
  } else if (kind_ != kind::number) {
    out = kind_ == kind::constant ? "constant(" : grid_ ? "grid(" : "choice(";
    for (const value& v : options_) out += (&v == options_.data() ? "" : ", ") + v.text();
    out += ")";
  } else {
    out = std::string(log_ ? "log" : "") + (integer_ ? "integers" : normal_ ? "normal" : "uniform") + "(";
    append_number(out, low_);
    out += ", ";
    append_number(out, high_);
    out += ")";
    if (step_ > 0 && !(integer_ && step_ == 1)) {
      out += ".quantised(";
      append_number(out, step_);
      out += ")";
    }
  }
  return condition_ ? out + ".when(...)" : out;
}

}  // namespace manta::tune
