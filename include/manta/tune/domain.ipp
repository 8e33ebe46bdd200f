// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"
#include "manta/tune/domain.hpp"

namespace manta::tune {

namespace detail {
inline void require_domain(bool good, const std::string& what) {
  if (!good) throw error("manta: a space: " + what);
}
/// The deviations within which values lie that number_at draws.
inline constexpr double reach_of_normal = 7.04;
}  // namespace detail

MANTA_DECL bool condition::holds(const config& before) const {
  if (name.empty()) return test(before);
  const value* v = before.find(name);
  return v != nullptr && *v == wanted;
}

MANTA_DECL domain::domain(law written) : law_(std::move(written)) { settle(); }

MANTA_DECL domain domain::quantised(double step) const {
  detail::require_domain(law_.type == kind::number, "quantised is for numbers");
  detail::require_domain(step > 0 && is_finite(step), "the step of quantised must be positive");
  detail::require_domain(!law_.integer || (step == std::floor(step) && step < 0x1p63),
                         "the step of integers must be a whole number");
  domain d = *this;
  d.law_.step = step;
  d.settle();
  return d;
}

MANTA_DECL domain domain::weighted(std::vector<double> weights) const {
  detail::require_domain(law_.type == kind::choice && !law_.grid, "weighted is for choices");
  detail::require_domain(weights.size() == law_.options.size(),
                         base::text("{} has {} options, but {} weights", text(), law_.options.size(), weights.size()));
  double sum = 0;
  for (const double w : weights) {
    detail::require_domain(w > 0 && is_finite(w), "weights must be positive numbers: " + text());
    sum += w;
  }
  domain d = *this;
  for (double& w : weights) w /= sum;
  d.law_.weights = std::move(weights);
  return d;
}

MANTA_DECL domain domain::when(std::string name, value wanted) const {
  detail::require_domain(!name.empty(), "when needs the name of a parameter");
  domain d = *this;
  d.conditions_.push_back({std::move(name), std::move(wanted), {}});
  return d;
}

MANTA_DECL domain domain::when(predicate test) const {
  detail::require_domain(static_cast<bool>(test), "when needs a function");
  domain d = *this;
  d.conditions_.push_back({{}, {}, std::move(test)});
  return d;
}

MANTA_DECL bool domain::applies(const config& before) const {
  return std::all_of(conditions_.begin(), conditions_.end(), [&](const condition& c) { return c.holds(before); });
}

MANTA_DECL void domain::settle() {
  if (law_.type == kind::dependent) return;
  if (law_.type == kind::choice) {
    const auto is_first = [&](const value& v) { return v == law_.options.front(); };
    closed_ =
        law_.options.size() == 1 || (!law_.grid && std::all_of(law_.options.begin(), law_.options.end(), is_first));
  } else if (law_.integer) {
    stride_ = static_cast<std::uint64_t>(law_.step);
    first_ = law_.least;
    const std::uint64_t beyond =
        law_.log ? static_cast<std::uint64_t>(law_.least) % stride_ : 0;  // multiples of the step
    const std::uint64_t room = static_cast<std::uint64_t>(law_.most) - static_cast<std::uint64_t>(law_.least);
    detail::require_domain(beyond == 0 || stride_ - beyond <= room,
                           text() + " has no value: no multiple of the step lies within");
    if (beyond > 0) first_ += static_cast<std::int64_t>(stride_ - beyond);
    strides_ = (static_cast<std::uint64_t>(law_.most) - static_cast<std::uint64_t>(first_)) / stride_;
    closed_ = strides_ == 0;
  } else {
    closed_ = law_.normal ? law_.high == 0 : law_.low == law_.high;
    if (law_.step <= 0) return;
    const double reach = detail::reach_of_normal * law_.high;
    double from = law_.normal ? law_.low - reach : law_.low, to = law_.normal ? law_.low + reach : law_.high;
    if (law_.normal && law_.log) from = std::exp(from), to = std::exp(to);
    if (is_even()) from = 0, to = law_.high - law_.low;
    first_step_ = std::ceil(from / law_.step - 1e-9);
    last_step_ = std::floor(to / law_.step + 1e-9);
    if (law_.log) first_step_ = std::max(first_step_, 1.0);
    detail::require_domain(first_step_ <= last_step_, text() + " has no value: no multiple of the step lies within");
    closed_ = first_step_ == last_step_;
    if (law_.normal && !closed_) last_step_ = infinity, first_step_ = law_.log ? 1 : -infinity;
  }
}

MANTA_DECL bool domain::repeats() const {
  if (!law_.grid) return false;
  for (auto v = law_.options.begin(); v != law_.options.end(); ++v) {
    if (std::find(law_.options.begin(), v, *v) != v) return true;
  }
  return false;
}

MANTA_DECL std::optional<std::uint64_t> domain::count() const {
  if (law_.type == kind::dependent) return std::nullopt;
  if (closed_) return 1;
  if (law_.type == kind::choice) return law_.options.size();
  if (law_.integer) return strides_ + (strides_ < ~std::uint64_t{0});
  if (law_.step <= 0 || law_.normal || last_step_ - first_step_ > 9e15) return std::nullopt;
  return static_cast<std::uint64_t>(last_step_ - first_step_) + 1;
}

MANTA_DECL value domain::member(std::uint64_t i) const {
  if (law_.type != kind::number) return law_.options.at(i);
  if (law_.integer) return integer_of(i);
  return law_.step > 0 ? as_value(number_of(first_step_ + static_cast<double>(i))) : at(0.5);
}

MANTA_DECL std::optional<value> domain::find(const value& v) const {
  if (law_.type == kind::constant || law_.type == kind::choice) {
    const auto at = std::find(law_.options.begin(), law_.options.end(), v);
    return at == law_.options.end() ? std::nullopt : std::optional(*at);
  }
  if (law_.type == kind::dependent || !v.is_number() || !is_finite(v.as<double>())) return std::nullopt;
  if (law_.integer) {
    const value nearest = integer_of(integer_step_near(v));
    return nearest == v ? std::optional(nearest) : std::nullopt;
  }
  const double x = v.as<double>(), near = rounded(x), step = law_.step > 0 ? 1e-9 * law_.step : 0;
  if (law_.normal && ((law_.log && x <= 0) || (law_.high == 0 && x != at(0.5).as<double>()))) return std::nullopt;
  if (std::abs(near - x) > std::max(step, 1e-12 * std::abs(x))) return std::nullopt;
  return law_.step <= 0 && near == x ? v : as_value(near);
}

MANTA_DECL value domain::at(double u) const {
  u = std::clamp(u, 0.0, 1.0);
  if (law_.type == kind::constant) return law_.options.front();
  if (law_.type == kind::choice) return law_.options[option_at(u)];
  return law_.integer ? value(integer_at(u)) : as_value(number_at(u));
}

MANTA_DECL value domain::nearest(double x) const {
  return law_.integer ? value(integer_of(integer_step_near(value(x)))) : as_value(rounded(x));
}

MANTA_DECL double domain::position(const value& v) const {
  if (law_.type == kind::choice) {
    const std::size_t i = option_index(v);
    return closed_ ? 0.5 : middle_of(i);
  }
  if (closed_) return 0.5;
  const double x = v.as<double>();
  if (law_.normal) return normal_cdf(((law_.log ? std::log(x) : x) - law_.low) / law_.high);
  if (is_curved()) {
    const auto [from, to] = log_range();
    return std::clamp((std::log(x) - from) / (to - from), 0.0, 1.0);
  }
  if (law_.integer) return (static_cast<double>(integer_step_near(v)) + 0.5) / (static_cast<double>(strides_) + 1);
  if (is_even()) return (step_near(x) + 0.5) / (last_step_ + 1);
  return std::clamp((x - law_.low) / (law_.high - law_.low), 0.0, 1.0);
}

MANTA_DECL std::size_t domain::option_index(const value& v) const {
  for (std::size_t i = 0; i < law_.options.size(); ++i) {
    if (law_.options[i] == v) return i;
  }
  throw error("manta: " + v.text() + " is none of the options " + text());
}

MANTA_DECL value domain::draw(const config& before, random& r) const {
  return law_.type == kind::dependent ? law_.compute(before, r) : at(r.uniform());
}

MANTA_DECL std::size_t domain::option_at(double u) const {
  const std::size_t n = law_.options.size();
  if (law_.weights.empty()) return std::min(static_cast<std::size_t>(u * static_cast<double>(n)), n - 1);
  std::size_t i = 0;
  for (double rest = u; i + 1 < n && rest >= law_.weights[i]; ++i) rest -= law_.weights[i];
  return i;
}

MANTA_DECL double domain::share(std::size_t option) const {
  return law_.weights.empty() ? 1 / static_cast<double>(law_.options.size()) : law_.weights[option];
}

MANTA_DECL double domain::middle_of(std::size_t option) const {
  if (law_.weights.empty()) return (static_cast<double>(option) + 0.5) / static_cast<double>(law_.options.size());
  double before = 0;
  for (std::size_t i = 0; i < option; ++i) before += law_.weights[i];
  return before + law_.weights[option] / 2;
}

MANTA_DECL value domain::as_value(double x) const {
  const bool whole = law_.step > 0 && law_.step == std::floor(law_.step) && x == std::floor(x) && std::abs(x) < 9e15;
  return whole ? value(static_cast<std::int64_t>(std::llround(x))) : value(x);
}

MANTA_DECL double domain::stepped(double from, double count) const {
  const auto is_whole = [](double x) { return std::abs(x - std::round(x)) <= 1e-12 * std::abs(x); };
  for (double scale = 1; scale < 1e12; scale *= 10) {
    if (is_whole(from * scale) && is_whole(law_.step * scale))
      return (std::round(from * scale) + count * std::round(law_.step * scale)) / scale;
  }
  return from + count * law_.step;
}

MANTA_DECL double domain::number_of(double step) const {
  if (law_.normal) return stepped(0, step);
  if (is_even() && step <= 0) return law_.low;
  return std::clamp(stepped(is_even() ? law_.low : 0, step), law_.low, law_.high);
}

MANTA_DECL std::int64_t domain::integer_of(std::uint64_t step) const {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(first_) + step * stride_);
}

MANTA_DECL double domain::step_near(double x) const {
  return std::clamp(std::round((is_even() ? x - law_.low : x) / law_.step), first_step_, last_step_);
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
  if (!law_.normal) x = std::clamp(x, law_.low, law_.high);
  return law_.step > 0 ? number_of(step_near(x)) : x;
}

MANTA_DECL std::pair<double, double> domain::log_range() const {
  return law_.integer ? std::pair(std::log(law_.low - 0.5), std::log(law_.high + 0.5))
                      : std::pair(std::log(law_.low), std::log(law_.high));
}

MANTA_DECL bool domain::is_curved() const {
  if (!law_.log) return false;
  const auto [from, to] = log_range();
  return to - from > 1e-9;
}

MANTA_DECL double domain::number_at(double u) const {
  if (law_.normal) {
    const double x = law_.low + law_.high * normal_quantile(std::clamp(u, 1e-12, 1 - 1e-12));
    return rounded(law_.log ? std::exp(x) : x);
  }
  if (is_even()) return number_of(std::min(std::floor(u * (last_step_ + 1)), last_step_));
  if (u <= 0 || u >= 1) return rounded(u <= 0 ? law_.low : law_.high);
  if (!is_curved()) return rounded(law_.low + (law_.high - law_.low) * u);
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
  detail::require_domain(!options.empty(), "choice needs at least one option");
  return domain(domain::law{.type = domain::kind::choice, .options = std::move(options)});
}

MANTA_DECL domain grid(std::vector<value> values) {
  detail::require_domain(!values.empty(), "grid needs at least one value");
  return domain(domain::law{.type = domain::kind::choice, .grid = true, .options = std::move(values)});
}

MANTA_DECL domain uniform(double low, double high) {
  detail::require_domain(low <= high && is_finite(high - low),
                         "uniform(low, high) needs low <= high, and that high - low is a finite number");
  return domain(domain::law{.low = low, .high = high});
}

MANTA_DECL domain loguniform(double low, double high) {
  detail::require_domain(low > 0 && low <= high && is_finite(high), "loguniform(low, high) needs 0 < low <= high");
  return domain(domain::law{.log = true, .low = low, .high = high});
}

namespace detail {
inline domain::law normal_law(double mean, double deviation) {
  require_domain(is_finite(mean) && is_finite(deviation) && deviation >= 0,
                 "normal(mean, deviation) needs finite numbers, and no negative deviation");
  return {.normal = true, .low = mean, .high = deviation};
}
inline domain::law integer_law(std::int64_t low, std::int64_t high) {
  return {.integer = true,
          .low = static_cast<double>(low),
          .high = static_cast<double>(high),
          .step = 1,
          .least = low,
          .most = high};
}
}  // namespace detail

MANTA_DECL domain normal(double mean, double deviation) { return domain(detail::normal_law(mean, deviation)); }

MANTA_DECL domain lognormal(double mean, double deviation) {
  domain::law law = detail::normal_law(mean, deviation);
  detail::require_domain(
      std::abs(mean) + detail::reach_of_normal * deviation < 700,
      "lognormal(mean, deviation) takes the exponential of normal(mean, deviation), and seven deviations "
      "from the mean this is no number any more (exp(709) is the largest); give the mean and the deviation "
      "of the logarithm");
  law.log = true;
  return domain(std::move(law));
}

MANTA_DECL domain integers(std::int64_t low, std::int64_t high) {
  detail::require_domain(low <= high, "integers(low, high) needs low <= high");
  return domain(detail::integer_law(low, high));
}

MANTA_DECL domain logintegers(std::int64_t low, std::int64_t high) {
  detail::require_domain(low >= 1 && low <= high, "logintegers(low, high) needs 1 <= low <= high");
  domain::law law = detail::integer_law(low, high);
  law.log = true;
  return domain(std::move(law));
}

MANTA_DECL domain constant(value fixed) { return domain(std::move(fixed)); }

MANTA_DECL std::string domain::text() const {
  std::string out;
  if (law_.type == kind::dependent) {
    out = "depends(...)";
  } else if (law_.type != kind::number) {
    out = law_.type == kind::constant ? "constant(" : law_.grid ? "grid(" : "choice(";
    for (const value& v : law_.options) out += (&v == law_.options.data() ? "" : ", ") + v.text();
    out += ")";
    if (!law_.weights.empty()) out += ".weighted(";
    for (const double& w : law_.weights) out += base::text("{}{}", &w == law_.weights.data() ? "" : ", ", w);
    if (!law_.weights.empty()) out += ")";
  } else {
    out = std::string(law_.log ? "log" : "") + (law_.integer ? "integers" : law_.normal ? "normal" : "uniform") + "(";
    law_.integer ? append_number(out, law_.least) : append_number(out, law_.low);
    out += ", ";
    law_.integer ? append_number(out, law_.most) : append_number(out, law_.high);
    out += ")";
    if (law_.step > 0 && !(law_.integer && law_.step == 1)) {
      out += ".quantised(";
      append_number(out, law_.step);
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
