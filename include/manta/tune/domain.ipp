// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of domain.hpp.
#pragma once

#include "manta/tune/domain.hpp"

namespace manta::tune {

MANTA_DECL bool condition::holds(const config& before) const {
  if (name.empty()) return test(before);
  const value* v = before.find(name);
  return v != nullptr && *v == wanted;
}

MANTA_DECL domain domain::quantised(double step) const {
  require(kind_ == kind::number, "quantised is for numbers");
  require(step > 0 && is_finite(step), "the step of quantised must be positive");
  require(!integer_ || (step == std::floor(step) && step < 0x1p63), "the step of integers must be a whole number");
  domain d = *this;
  d.step_ = step;
  return d.settled();
}

MANTA_DECL domain domain::when(std::string name, value wanted) const {
  require(!name.empty(), "when needs the name of a parameter");
  domain d = *this;
  d.conditions_.push_back({std::move(name), std::move(wanted), {}});
  return d;
}

MANTA_DECL domain domain::when(predicate test) const {
  require(static_cast<bool>(test), "when needs a function");
  domain d = *this;
  d.conditions_.push_back({{}, {}, std::move(test)});
  return d;
}

MANTA_DECL bool domain::applies(const config& before) const {
  return std::all_of(conditions_.begin(), conditions_.end(), [&](const condition& c) { return c.holds(before); });
}

MANTA_DECL domain domain::settled() {
  if (kind_ == kind::choice) {
    const auto is_first = [&](const value& v) { return v == options_.front(); };
    closed_ = options_.size() == 1 || (!grid_ && std::all_of(options_.begin(), options_.end(), is_first));
  } else if (integer_) {
    stride_ = static_cast<std::uint64_t>(step_);
    first_ = least_;
    const std::uint64_t beyond = log_ ? static_cast<std::uint64_t>(least_) % stride_ : 0;  // multiples of the step
    const std::uint64_t room = static_cast<std::uint64_t>(most_) - static_cast<std::uint64_t>(least_);
    require(beyond == 0 || stride_ - beyond <= room, text() + " has no value: no multiple of the step lies within");
    if (beyond > 0) first_ += static_cast<std::int64_t>(stride_ - beyond);
    strides_ = (static_cast<std::uint64_t>(most_) - static_cast<std::uint64_t>(first_)) / stride_;
    closed_ = strides_ == 0;
  } else {
    closed_ = normal_ ? high_ == 0 : low_ == high_;
    if (step_ <= 0) return *this;
    const double reach = 7.04 * high_;  // of the probabilities that number_at lets through
    double from = normal_ ? low_ - reach : low_, to = normal_ ? low_ + reach : high_;
    if (normal_ && log_) from = std::exp(from), to = std::exp(to);
    if (is_even()) from = 0, to = high_ - low_;
    first_step_ = std::ceil(from / step_ - 1e-9);
    last_step_ = std::floor(to / step_ + 1e-9);
    if (log_) first_step_ = std::max(first_step_, 1.0);
    require(first_step_ <= last_step_, text() + " has no value: no multiple of the step lies within");
    closed_ = first_step_ == last_step_;
    if (normal_ && !closed_) last_step_ = infinity, first_step_ = log_ ? 1 : -infinity;
  }
  return *this;
}

MANTA_DECL bool domain::repeats() const {
  if (!grid_) return false;
  for (auto v = options_.begin(); v != options_.end(); ++v) {
    if (std::find(options_.begin(), v, *v) != v) return true;
  }
  return false;
}

MANTA_DECL std::optional<std::uint64_t> domain::count() const {
  if (kind_ == kind::dependent) return std::nullopt;
  if (closed_) return 1;
  if (kind_ == kind::choice) return options_.size();
  if (integer_) return strides_ + (strides_ < ~std::uint64_t{0});
  if (step_ <= 0 || normal_ || last_step_ - first_step_ > 9e15) return std::nullopt;
  return static_cast<std::uint64_t>(last_step_ - first_step_) + 1;
}

MANTA_DECL value domain::member(std::uint64_t i) const {
  if (kind_ != kind::number) return options_.at(i);
  if (integer_) return integer_of(i);
  return step_ > 0 ? as_value(number_of(first_step_ + static_cast<double>(i))) : at(0.5);
}

MANTA_DECL std::optional<value> domain::find(const value& v) const {
  if (kind_ == kind::constant || kind_ == kind::choice) {
    const auto at = std::find(options_.begin(), options_.end(), v);
    return at == options_.end() ? std::nullopt : std::optional(*at);
  }
  if (kind_ == kind::dependent || !v.is_number() || !is_finite(v.as<double>())) return std::nullopt;
  if (integer_) {
    const value nearest = integer_of(integer_step_near(v));
    return nearest == v ? std::optional(nearest) : std::nullopt;
  }
  const double x = v.as<double>(), near = rounded(x), step = step_ > 0 ? 1e-9 * step_ : 0;
  if (normal_ && ((log_ && x <= 0) || (high_ == 0 && x != at(0.5).as<double>()))) return std::nullopt;
  if (std::abs(near - x) > std::max(step, 1e-12 * std::abs(x))) return std::nullopt;
  return step_ <= 0 && near == x ? v : as_value(near);
}

MANTA_DECL value domain::at(double u) const {
  u = std::clamp(u, 0.0, 1.0);
  if (kind_ == kind::constant) return options_.front();
  if (kind_ == kind::choice) return options_[bin(u, options_.size())];
  return integer_ ? value(integer_at(u)) : as_value(number_at(u));
}

MANTA_DECL value domain::nearest(double x) const {
  return integer_ ? value(integer_of(integer_step_near(value(x)))) : as_value(rounded(x));
}

MANTA_DECL double domain::position(const value& v) const {
  if (kind_ == kind::choice) {
    const std::size_t i = option_index(v);
    return closed_ ? 0.5 : (static_cast<double>(i) + 0.5) / static_cast<double>(options_.size());
  }
  if (closed_) return 0.5;
  const double x = v.as<double>();
  if (normal_) return normal_cdf(((log_ ? std::log(x) : x) - low_) / high_);
  if (is_curved()) {
    const auto [from, to] = log_range();
    return std::clamp((std::log(x) - from) / (to - from), 0.0, 1.0);
  }
  if (integer_) return (static_cast<double>(integer_step_near(v)) + 0.5) / (static_cast<double>(strides_) + 1);
  if (is_even()) return (step_near(x) + 0.5) / (last_step_ + 1);
  return std::clamp((x - low_) / (high_ - low_), 0.0, 1.0);
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
  const bool whole = step_ > 0 && step_ == std::floor(step_) && x == std::floor(x) && std::abs(x) < 9e15;
  return whole ? value(static_cast<std::int64_t>(std::llround(x))) : value(x);
}

MANTA_DECL double domain::stepped(double from, double count) const {
  const auto is_whole = [](double x) { return std::abs(x - std::round(x)) <= 1e-12 * std::abs(x); };
  for (double scale = 1; scale < 1e12; scale *= 10) {
    if (is_whole(from * scale) && is_whole(step_ * scale))
      return (std::round(from * scale) + count * std::round(step_ * scale)) / scale;
  }
  return from + count * step_;
}

MANTA_DECL double domain::number_of(double step) const {
  if (normal_) return stepped(0, step);
  if (is_even() && step <= 0) return low_;
  return std::clamp(stepped(is_even() ? low_ : 0, step), low_, high_);
}

MANTA_DECL std::int64_t domain::integer_of(std::uint64_t step) const {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(first_) + step * stride_);
}

MANTA_DECL double domain::step_near(double x) const {
  return std::clamp(std::round((is_even() ? x - low_ : x) / step_), first_step_, last_step_);
}

MANTA_DECL std::uint64_t domain::integer_step_near(const value& v) const {
  const std::int64_t last = integer_of(strides_);
  if (v.is_integer()) {
    const auto i = v.as<std::int64_t>();
    if (i <= first_) return 0;
    if (i >= last) return strides_;
    const std::uint64_t beyond = static_cast<std::uint64_t>(i) - static_cast<std::uint64_t>(first_),
                        rest = beyond % stride_;
    return beyond / stride_ + (rest > 0 && rest >= stride_ - rest);
  }
  const auto x = v.as<double>(), from = static_cast<double>(first_);
  if (is_nan(x) || x <= from) return 0;
  if (x >= static_cast<double>(last)) return strides_;
  return std::min(static_cast<std::uint64_t>(std::round((x - from) / static_cast<double>(stride_))), strides_);
}

MANTA_DECL double domain::rounded(double x) const {
  if (!normal_) x = std::clamp(x, low_, high_);
  return step_ > 0 ? number_of(step_near(x)) : x;
}

MANTA_DECL std::pair<double, double> domain::log_range() const {
  return integer_ ? std::pair(std::log(low_ - 0.5), std::log(high_ + 0.5)) : std::pair(std::log(low_), std::log(high_));
}

MANTA_DECL bool domain::is_curved() const {
  if (!log_) return false;
  const auto [from, to] = log_range();
  return to - from > 1e-9;
}

MANTA_DECL double domain::number_at(double u) const {
  if (normal_) {
    const double x = low_ + high_ * normal_quantile(std::clamp(u, 1e-12, 1 - 1e-12));
    return rounded(log_ ? std::exp(x) : x);
  }
  if (is_even()) return number_of(std::min(std::floor(u * (last_step_ + 1)), last_step_));
  if (u <= 0 || u >= 1) return rounded(u <= 0 ? low_ : high_);
  if (!is_curved()) return rounded(low_ + (high_ - low_) * u);
  const auto [from, to] = log_range();
  return rounded(std::exp(from + (to - from) * u));
}

MANTA_DECL std::int64_t domain::integer_at(double u) const {
  if (u <= 0 || u >= 1) return integer_of(u <= 0 ? 0 : strides_);
  if (is_curved()) {
    const auto [from, to] = log_range();
    return integer_of(integer_step_near(value(std::exp(from + (to - from) * u))));
  }
  return integer_of(std::min(static_cast<std::uint64_t>(u * (static_cast<double>(strides_) + 1)), strides_));
}

MANTA_DECL domain choice(std::vector<value> options) {
  domain::require(!options.empty(), "choice needs at least one option");
  domain d;
  d.kind_ = domain::kind::choice;
  d.options_ = std::move(options);
  return d.settled();
}

MANTA_DECL domain grid(std::vector<value> values) {
  domain::require(!values.empty(), "grid needs at least one value");
  domain d = choice(std::move(values));
  d.grid_ = true;
  return d.settled();
}

MANTA_DECL domain uniform(double low, double high) {
  domain::require(low <= high && is_finite(high - low), "uniform(low, high) needs finite low <= high");
  return domain::number(low, high).settled();
}

MANTA_DECL domain loguniform(double low, double high) {
  domain::require(low > 0 && low <= high && is_finite(high), "loguniform(low, high) needs 0 < low <= high");
  domain d = domain::number(low, high);
  d.log_ = true;
  return d.settled();
}

MANTA_DECL domain normal(double mean, double deviation) {
  domain::require(is_finite(mean) && is_finite(deviation) && deviation >= 0,
                  "normal(mean, deviation) needs finite numbers, and no negative deviation");
  domain d = domain::number(mean, deviation);
  d.normal_ = true;
  return d.settled();
}

MANTA_DECL domain lognormal(double mean, double deviation) {
  domain d = normal(mean, deviation);
  d.log_ = true;
  return d.settled();
}

MANTA_DECL domain integers(std::int64_t low, std::int64_t high) {
  domain::require(low <= high, "integers(low, high) needs low <= high");
  domain d = domain::number(static_cast<double>(low), static_cast<double>(high));
  d.least_ = low;
  d.most_ = high;
  d.integer_ = true;
  d.step_ = 1;
  return d.settled();
}

MANTA_DECL domain logintegers(std::int64_t low, std::int64_t high) {
  domain::require(low >= 1 && low <= high, "logintegers(low, high) needs 1 <= low <= high");
  domain d = integers(low, high);
  d.log_ = true;
  return d.settled();
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
    integer_ ? append_number(out, least_) : append_number(out, low_);
    out += ", ";
    integer_ ? append_number(out, most_) : append_number(out, high_);
    out += ")";
    if (step_ > 0 && !(integer_ && step_ == 1)) {
      out += ".quantised(";
      append_number(out, step_);
      out += ")";
    }
  }
  for (const condition& c : conditions_) {
    out += ".when(";
    if (!c.name.empty()) value::append_quoted(out, c.name);
    out += c.name.empty() ? "...)" : ", " + c.wanted.text() + ")";
  }
  return out;
}

}  // namespace manta::tune
