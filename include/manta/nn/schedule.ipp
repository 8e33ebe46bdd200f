// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "manta/base/number.hpp"
#include "manta/nn/checks.hpp"
#include "manta/nn/schedule.hpp"

namespace manta::nn {

namespace detail {
/// From `begin` to `end` along half a cosine, for a part in [0, 1].
inline double half_cosine(double begin, double end, double part) {
  return end + (begin - end) * (1 + std::cos(std::numbers::pi * std::clamp(part, 0., 1.))) / 2;
}
/// The part of a round that is over at `time`, in which the first round is 1 and each is `growth` times the one before.
inline double part_of_round(double time, double growth) {
  if (growth == 1) return time - std::floor(time);
  const double round = std::floor(std::log1p(time * (growth - 1)) / std::log(growth));
  double begin = (std::pow(growth, round) - 1) / (growth - 1), length = std::pow(growth, round);
  if (time >= begin + length) begin += length, length *= growth;  // the logarithm was rounded
  return (time - begin) / length;
}
}  // namespace detail

inline double schedule::one_cycle(double t, double rise, const std::array<double, 3>& values) const {
  // PyTorch's places of the middle value and of the last step.
  const double top = rise * length_ - 1, last = length_ - 1;
  if (t <= top) return detail::half_cosine(values[0], values[1], top > 0 ? t / top : 1);
  return detail::half_cosine(values[1], values[2], last > top ? (t - top) / (last - top) : 1);
}

MANTA_DECL double schedule::operator()(double time) const {
  if (time < warm_up_) return std::min(1., (time + 1) / warm_up_);
  const double t = time - warm_up_;
  switch (kind_) {
    case kind::constant: break;
    case kind::step: return std::pow(a_, std::floor(t / length_));
    case kind::cosine: return detail::half_cosine(1, a_, t / length_);
    case kind::polynomial: return b_ + (1 - b_) * std::pow(1 - std::clamp(t / length_, 0., 1.), a_);
    case kind::restarts: return detail::half_cosine(1, a_, detail::part_of_round(t / length_, b_));
    case kind::one_cycle: return one_cycle(t, a_, {1 / b_, 1, 1e-4 / b_});
    case kind::one_cycle_momentum: return one_cycle(t, rise_, {b_, a_, b_});
  }
  return 1;
}

MANTA_DECL schedule schedule::after_warm_up(double length) const {
  detail::check_option(length >= 0, "warm_up", "the length", length, "at least 0");
  schedule s = *this;
  s.warm_up_ = length;
  return s;
}

namespace detail {
inline void check_length(std::string_view whose, double length) {
  check_option(length > 0, whose, "the length", length, "above 0");
}
}  // namespace detail

MANTA_DECL schedule step_decay(double every, double factor) {
  detail::check_length("step_decay", every);
  detail::check_option(factor >= 0, "step_decay", "the factor", factor, "at least 0");
  return {schedule::kind::step, every, factor, 1};
}
MANTA_DECL schedule cosine(double length, double least) {
  detail::check_length("cosine", length);
  detail::check_option(least >= 0, "cosine", "the least factor", least, "at least 0");
  return {schedule::kind::cosine, length, least, 1};
}
MANTA_DECL schedule polynomial(double length, double power, double least) {
  detail::check_length("polynomial", length);
  detail::check_option(power > 0, "polynomial", "the power", power, "above 0");
  detail::check_option(least >= 0, "polynomial", "the least factor", least, "at least 0");
  return {schedule::kind::polynomial, length, power, least};
}
MANTA_DECL schedule cosine_restarts(double first, double growth, double least) {
  detail::check_length("cosine_restarts", first);
  detail::check_option(growth >= 1, "cosine_restarts", "the growth", growth, "at least 1");
  detail::check_option(least >= 0, "cosine_restarts", "the least factor", least, "at least 0");
  return {schedule::kind::restarts, first, least, growth};
}
MANTA_DECL schedule one_cycle(double length, double rise, double divisor) {
  detail::check_length("one_cycle", length);
  detail::check_option(rise > 0 && rise <= 1, "one_cycle", "the rising part", rise, "above 0 and at most 1");
  detail::check_option(divisor > 0, "one_cycle", "the divisor", divisor, "above 0");
  return {schedule::kind::one_cycle, length, rise, divisor};
}
MANTA_DECL schedule one_cycle_momentum(double length, double rise, double least, double greatest) {
  detail::check_length("one_cycle_momentum", length);
  detail::check_option(rise > 0 && rise <= 1, "one_cycle_momentum", "the rising part", rise, "above 0 and at most 1");
  detail::check_option(least >= 0 && least <= greatest, "one_cycle_momentum", "the least momentum", least,
                       "at least 0 and at most the greatest");
  detail::check_option(greatest < 1, "one_cycle_momentum", "the greatest momentum", greatest, "below 1");
  return {schedule::kind::one_cycle_momentum, length, least, greatest, rise};
}
MANTA_DECL schedule warm_up(double length, const schedule& rest) { return rest.after_warm_up(length); }

MANTA_DECL plateau::plateau(const plateau_options& options)
    : factor_(options.factor),
      least_change_(options.least_change),
      least_rate_(options.least_rate),
      patience_(options.patience),
      cooldown_(options.cooldown) {
  detail::check_option(factor_ > 0 && factor_ < 1, "plateau", ".factor", factor_, "above 0 and below 1");
  detail::check_option(patience_ >= 0, "plateau", ".patience", patience_, "at least 0");
  detail::check_option(least_change_ >= 0, "plateau", ".least_change", least_change_, "at least 0");
  detail::check_option(cooldown_ >= 0, "plateau", ".cooldown", cooldown_, "at least 0");
  detail::check_option(least_rate_ >= 0, "plateau", ".least_rate", least_rate_, "at least 0");
}

MANTA_DECL double plateau::next(double loss, double rate) {
  if (!base::is_nan(loss) && (is_first_ || loss < best_ - std::abs(best_) * least_change_)) {
    is_first_ = false;
    best_ = loss;
    bad_ = 0;
  } else {
    ++bad_;
  }
  if (cooling_ > 0) {
    --cooling_;
    bad_ = 0;
  }
  if (bad_ <= patience_) return rate;
  cooling_ = cooldown_;
  bad_ = 0;
  return std::min(rate, std::max(rate * factor_, least_rate_));
}

}  // namespace manta::nn
