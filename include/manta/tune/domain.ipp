// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of domain.hpp.
#pragma once

#include "manta/tune/domain.hpp"

namespace manta::tune {

MANTA_DECL domain domain::quantised(double step) const {
  require(kind_ == kind::number, "quantised is for numbers");
  require(step > 0 && is_finite(step), "the step of quantised must be positive");
  domain d = *this;
  d.step_ = step;
  return d;
}

MANTA_DECL domain domain::when(std::string name, value wanted) const {
  return when([name = std::move(name), wanted = std::move(wanted)](const config& c) {
    const value* v = c.find(name);
    return v != nullptr && *v == wanted;
  });
}

MANTA_DECL domain domain::when(predicate condition) const {
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

MANTA_DECL value domain::at(double u) const {
  u = std::clamp(u, 0.0, 1.0);
  if (kind_ == kind::constant) return options_.front();
  if (kind_ == kind::choice) return options_[bin(u, options_.size())];
  return as_value(number_at(u));
}

MANTA_DECL double domain::position(const value& v) const {
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

MANTA_DECL std::size_t domain::option_index(const value& v) const {
  for (std::size_t i = 0; i < options_.size(); ++i) {
    if (options_[i] == v) return i;
  }
  throw error("manta: " + v.text() + " is none of the options " + text());
}

MANTA_DECL value domain::draw(const config& before, random& r) const {
  return kind_ == kind::dependent ? rule_(before, r) : at(r.uniform());
}

MANTA_DECL void domain::require(bool good, const std::string& what) {
  if (!good) throw error("manta: a space: " + what);
}

MANTA_DECL domain domain::number(double low, double high) {
  domain d;
  d.kind_ = kind::number;
  d.low_ = low;
  d.high_ = high;
  return d;
}

MANTA_DECL std::size_t domain::bin(double u, std::size_t n) {
  return std::min(static_cast<std::size_t>(u * static_cast<double>(n)), n - 1);
}

MANTA_DECL value domain::as_value(double x) const {
  const bool whole = integer_ || (step_ > 0 && step_ == std::floor(step_) && x == std::floor(x) && std::abs(x) < 9e15);
  return whole ? value(static_cast<std::int64_t>(std::llround(x))) : value(x);
}

MANTA_DECL double domain::stepped(double from, double count) const {
  const auto is_whole = [](double x) { return std::abs(x - std::round(x)) <= 1e-12 * std::abs(x); };
  for (double scale = 1; scale < 1e12; scale *= 10) {
    if (is_whole(from * scale) && is_whole(step_ * scale)) return (std::round(from * scale) + count * std::round(step_ * scale)) / scale;
  }
  return from + count * step_;
}

MANTA_DECL double domain::rounded(double x) const {
  if (!normal_) x = std::clamp(x, low_, high_);
  if (step_ <= 0) return x;
  if (const double levels = level_count(); levels > 0) return stepped(low_, std::min(std::round((x - low_) / step_), levels - 1));
  double count = std::round(x / step_);
  if (!normal_ && stepped(0, count) < low_) ++count;  // the ends may be no multiples
  if (!normal_ && stepped(0, count) > high_) --count;
  return stepped(0, count);
}

MANTA_DECL double domain::level_count() const { return step_ > 0 && !log_ && !normal_ ? std::floor((high_ - low_) / step_ + 1e-9) + 1 : 0; }

MANTA_DECL std::pair<double, double> domain::log_range() const {
  return integer_ ? std::pair(std::log(low_ - 0.5), std::log(high_ + 0.5)) : std::pair(std::log(low_), std::log(high_));
}

MANTA_DECL double domain::number_at(double u) const {
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

MANTA_DECL domain choice(std::vector<value> options) {
  domain::require(!options.empty(), "choice needs at least one option");
  domain d;
  d.kind_ = domain::kind::choice;
  d.options_ = std::move(options);
  return d;
}

MANTA_DECL domain grid(std::vector<value> values) {
  domain::require(!values.empty(), "grid needs at least one value");
  domain d = choice(std::move(values));
  d.grid_ = true;
  return d;
}

MANTA_DECL domain uniform(double low, double high) {
  domain::require(low <= high && is_finite(high - low), "uniform(low, high) needs finite low <= high");
  return domain::number(low, high);
}

MANTA_DECL domain loguniform(double low, double high) {
  domain::require(low > 0 && low <= high && is_finite(high), "loguniform(low, high) needs 0 < low <= high");
  domain d = domain::number(low, high);
  d.log_ = true;
  return d;
}

MANTA_DECL domain normal(double mean, double deviation) {
  domain::require(is_finite(mean) && deviation > 0, "normal(mean, deviation) needs a positive deviation");
  domain d = domain::number(mean, deviation);
  d.normal_ = true;
  return d;
}

MANTA_DECL domain lognormal(double mean, double deviation) {
  domain d = normal(mean, deviation);
  d.log_ = true;
  return d;
}

MANTA_DECL domain integers(std::int64_t low, std::int64_t high) {
  domain::require(low <= high, "integers(low, high) needs low <= high");
  domain d = domain::number(static_cast<double>(low), static_cast<double>(high));
  d.integer_ = true;
  d.step_ = 1;
  return d;
}

MANTA_DECL domain logintegers(std::int64_t low, std::int64_t high) {
  domain::require(low >= 1 && low <= high, "logintegers(low, high) needs 1 <= low <= high");
  domain d = integers(low, high);
  d.log_ = true;
  return d;
}

MANTA_DECL domain constant(value fixed) { return domain(std::move(fixed)); }

MANTA_DECL std::string domain::text() const {
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
