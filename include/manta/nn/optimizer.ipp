// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/checks.hpp"
#include "manta/nn/lbfgs.hpp"
#include "manta/nn/optimizer.hpp"

namespace manta::nn {

MANTA_DECL optimizer::optimizer() = default;
MANTA_DECL optimizer::optimizer(const optimizer&) = default;
MANTA_DECL optimizer::optimizer(optimizer&&) noexcept = default;
MANTA_DECL optimizer& optimizer::operator=(const optimizer&) = default;
MANTA_DECL optimizer& optimizer::operator=(optimizer&&) noexcept = default;
MANTA_DECL optimizer::~optimizer() = default;

namespace detail {

inline void check_groups(std::string_view whose, const std::vector<parameter_group>& groups) {
  for (const parameter_group& g : groups) {
    check_option(g.rate >= 0, whose, base::text(".rate of the group {}", g.name()), g.rate, "at least 0");
    const double decay = g.weight_decay.value_or(0);
    check_option(decay >= 0, whose, base::text(".weight_decay of the group {}", g.name()), decay, "at least 0");
  }
}
/// Throws unless the settings that all optimisers have are ones that can be meant.
template <class Options>
void check_settings(std::string_view whose, const Options& o) {
  check_option(o.rate >= 0, whose, ".rate", o.rate, "at least 0");
  check_option(o.weight_decay >= 0, whose, ".weight_decay", o.weight_decay, "at least 0");
  check_option(o.ema >= 0 && o.ema < 1, whose, ".ema", o.ema, "at least 0 and below 1");
  check_groups(whose, o.groups);
}
inline void check_part(std::string_view whose, std::string_view option, double value) {
  check_option(value >= 0 && value < 1, whose, option, value, "at least 0 and below 1");
}
inline void check_epsilon(std::string_view whose, double epsilon) {
  check_option(epsilon >= 0, whose, ".epsilon", epsilon, "at least 0");
}

}  // namespace detail

MANTA_DECL optimizer::optimizer(kind k, const sgd_options& o)
    : kind_(k),
      rate_(o.rate),
      momentum_(o.momentum),
      decay_(o.weight_decay),
      nesterov_(o.nesterov),
      ema_(o.ema),
      groups_(o.groups) {
  detail::check_settings(name(), o);
  detail::check_option(o.momentum >= 0 && o.momentum <= 1, name(), ".momentum", o.momentum, "from 0 to 1");
}
MANTA_DECL optimizer::optimizer(kind k, const adam_options& o)
    : kind_(k),
      rate_(o.rate),
      momentum_(o.beta1),
      beta2_(o.beta2),
      epsilon_(o.epsilon),
      decay_(o.weight_decay),
      ema_(o.ema),
      groups_(o.groups) {
  detail::check_settings(name(), o);
  detail::check_part(name(), ".beta1", o.beta1);
  detail::check_part(name(), ".beta2", o.beta2);
  detail::check_epsilon(name(), o.epsilon);
}
MANTA_DECL optimizer::optimizer(kind k, const rmsprop_options& o)
    : kind_(k),
      rate_(o.rate),
      momentum_(o.momentum),
      beta2_(o.alpha),
      epsilon_(o.epsilon),
      decay_(o.weight_decay),
      ema_(o.ema),
      groups_(o.groups) {
  detail::check_settings(name(), o);
  detail::check_part(name(), ".alpha", o.alpha);
  detail::check_option(o.momentum >= 0 && o.momentum <= 1, name(), ".momentum", o.momentum, "from 0 to 1");
  detail::check_epsilon(name(), o.epsilon);
}

MANTA_DECL optimizer::optimizer(kind k, const lbfgs_options& o)
    : kind_(k), rate_(o.rate), decay_(o.weight_decay), groups_(o.groups) {
  detail::check_option(o.rate >= 0, name(), ".rate", o.rate, "at least 0");
  detail::check_option(o.weight_decay >= 0, name(), ".weight_decay", o.weight_decay, "at least 0");
  detail::check_groups(name(), o.groups);
  detail::check_option(o.history >= 1, name(), ".history", o.history, "at least 1");
  history_ = static_cast<std::size_t>(o.history);
}

MANTA_DECL void optimizer::momentum(double m) {
  if (!keeps_first() || momentum_ == 0)
    throw error(
        base::text("manta: nn: {} was made without momentum, so that none can be set; make it with one", name()));
  detail::check_option(m > 0 && m < 1, name(), "the momentum", m, "above 0 and below 1");
  momentum_ = m;
}
MANTA_DECL void optimizer::rate(double r) {
  detail::check_option(r >= 0, name(), "the rate", r, "at least 0");
  rate_ = r;
}

template <class T>
void optimizer::take_kept(const optimizer& other, const std::vector<T>& from, std::vector<T>& to) const {
  if (from.empty()) return to.clear();
  std::vector<T> all(arrays() * size_, T(0));
  auto source = from.begin();
  auto target = all.begin();
  const auto n = static_cast<std::ptrdiff_t>(size_);
  const auto take = [&](bool is_there, bool is_wanted) {
    if (is_there && is_wanted) std::copy(source, source + n, target);
    source += is_there ? n : 0;
    target += is_wanted ? n : 0;
  };
  take(other.keeps_squares(), keeps_squares());
  take(other.keeps_first(), keeps_first());
  take(other.ema_ != 0, ema_ != 0);
  if (kind_ == kind::lbfgs) all = from;
  to = std::move(all);
}

MANTA_DECL void optimizer::take_moments(const optimizer& other) {
  if (kind_ == kind::lbfgs && other.history_ != history_) {  // another curvature: this one begins anew
    optimizer fresh = *this;
    fresh.steps_ = fresh.size_ = fresh.pairs_ = 0;
    fresh.floats_.clear(), fresh.doubles_.clear();
    *this = std::move(fresh);
    return;
  }
  pairs_ = other.pairs_;
  steps_ = other.steps_;
  size_ = other.size_;
  averaged_ = ema_ != 0 ? other.averaged_ : 0;
  take_kept(other, other.floats_, floats_);
  take_kept(other, other.doubles_, doubles_);
}

MANTA_DECL std::string optimizer::name() const {
  switch (kind_) {
    case kind::none: break;
    case kind::sgd: return "sgd";
    case kind::adam: return "adam";
    case kind::adamw: return "adamw";
    case kind::rmsprop: return "rmsprop";
    case kind::lbfgs: return "lbfgs";
  }
  return "none";
}

MANTA_DECL bool optimizer::is_named(const std::string& name) {
  return name == "sgd" || name == "adam" || name == "adamw" || name == "rmsprop" || name == "lbfgs";
}

MANTA_DECL std::vector<std::pair<std::string, double>> optimizer::settings() const {
  std::vector<std::pair<std::string, double>> all{{"rate", rate_}, {"weight_decay", decay_}};
  if (kind_ == kind::lbfgs) all.emplace_back("history", static_cast<double>(history_));
  const bool is_adam = kind_ == kind::adam || kind_ == kind::adamw;
  if (kind_ != kind::lbfgs) all.emplace_back(is_adam ? "beta1" : "momentum", momentum_);
  if (kind_ == kind::sgd) all.emplace_back("nesterov", nesterov_ ? 1 : 0);
  if (keeps_squares()) all.emplace_back(is_adam ? "beta2" : "alpha", beta2_);
  if (keeps_squares()) all.emplace_back("epsilon", epsilon_);
  if (ema_ != 0) all.emplace_back("ema", ema_);
  for (const parameter_group& g : groups_) {
    all.emplace_back("rate of the group " + g.name(), g.rate);
    all.emplace_back("weight_decay of the group " + g.name(), g.weight_decay.value_or(decay_));
  }
  return all;
}

namespace detail {
inline void require_sizes(const std::string& name, std::size_t parameters, std::size_t gradients, std::size_t before) {
  if (parameters != gradients)
    throw error(base::text("manta: nn: {} got {} parameters and {} gradients", name, parameters, gradients));
  if (parameters != before)
    throw error(
        base::text("manta: nn: {} has stepped {} parameters so far, and got {}; an optimizer belongs to one network",
                   name, before, parameters));
}
}  // namespace detail

namespace detail {

/// Some parameters of a step, few enough to stay in the cache: each is read and written by several expressions.
template <class T>
struct optimizer_piece {
  static constexpr Eigen::Index most = 2048;
  using array = Eigen::Array<T, Eigen::Dynamic, 1>;
  using stack_array = Eigen::Array<T, Eigen::Dynamic, 1, 0, most, 1>;

  /// The settings of a step.
  struct settings {
    T rate, momentum, beta2, epsilon, decay;
    T rate_by_mean, root_of_square;  ///< corrections of Adam's moments, which begin at zero
  };

  const settings& s;
  Eigen::Map<array> x, first, second;  ///< parameters and moments; the map of what is not kept is not looked at
  stack_array& gradient;
  stack_array& result;  ///< results are computed where they are aligned, wherever x lies: aligned.hpp says why

  template <class To, class Value>
  void set(To& to, const Value& value) {
    result.head(x.size()) = value;
    to = result.head(x.size());
  }
  void sgd(bool nesterov) {
    const auto g = gradient.head(x.size());
    if (s.momentum == 0) return set(x, x - s.rate * g);
    set(first, s.momentum * first + g);
    nesterov ? set(x, x - s.rate * (g + s.momentum * first)) : set(x, x - s.rate * first);
  }
  void rmsprop() {
    const auto g = gradient.head(x.size());
    set(second, s.beta2 * second + (1 - s.beta2) * g.square());
    if (s.momentum == 0) return set(x, x - s.rate * g / (second.sqrt() + s.epsilon));
    set(first, s.momentum * first + g / (second.sqrt() + s.epsilon));
    set(x, x - s.rate * first);
  }
  void adam() {
    const auto g = gradient.head(x.size());
    set(first, s.momentum * first + (1 - s.momentum) * g);
    set(second, s.beta2 * second + (1 - s.beta2) * g.square());
    set(x, x - s.rate_by_mean * first / (second.sqrt() * s.root_of_square + s.epsilon));
  }
};

}  // namespace detail

template <class T>
void optimizer::move(std::span<T> p, std::span<const T> g, std::vector<T>& kept,
                     const std::vector<detail::parameter_range>* ranges) {
  if (kind_ == kind::none) throw error("manta: nn: this optimizer is empty; assign nn::adam() or another to it");
  if (!ranges && !groups_.empty())
    throw error(
        base::text("manta: nn: {} has groups of parameters, whose names it gets from the network: call "
                   "step(net) instead of step(net.parameters(), net.gradients())",
                   name()));
  detail::require_sizes(name(), p.size(), g.size(), size_ == 0 ? p.size() : size_);
  size_ = p.size();
  kept.resize(arrays() * size_, T(0));
  const std::span<T> means = averages<T>();
  if (averaged_ == 0 && !means.empty()) std::copy(p.begin(), p.end(), means.begin());
  ++steps_;
  const detail::parameter_range whole{0, p.size(), 1, decay_};
  if (kind_ == kind::lbfgs) {
    detail::curvature_step<T>(p, g, kept, pairs_, ranges ? *ranges : std::vector{whole},
                              {rate_, history_, steps_ == 1});
  } else if (!ranges) {
    move_range(p, g, kept, whole);
  } else {
    for (const detail::parameter_range& r : *ranges) {
      if (r.rate != 0) move_range(p, g, kept, r);
    }
  }
  if (means.empty()) return;
  average(std::span<const T>(p), means);
  ++averaged_;
}

template <class T>
void optimizer::average(std::span<const T> p, std::span<T> means) const {
  using array = Eigen::Array<T, Eigen::Dynamic, 1>;
  const double t = static_cast<double>(averaged_);
  const T kept = static_cast<T>(std::min(ema_, (1 + t) / (10 + t)));
  const auto n = static_cast<Eigen::Index>(p.size());
  Eigen::Map<array> mean(means.data(), n);
  mean += (1 - kept) * (Eigen::Map<const array>(p.data(), n) - mean);  // exact where nothing moves
}

template <class T>
void optimizer::move_range(std::span<T> p, std::span<const T> g, std::vector<T>& kept,
                           const detail::parameter_range& r) const {
  using piece = detail::optimizer_piece<T>;
  const auto n = static_cast<Eigen::Index>(size_), last = static_cast<Eigen::Index>(r.end);
  const Eigen::Index squares_at = keeps_squares() ? 1 : 0, means_at = keeps_first() ? 1 : 0;
  T* const squares = kept.data();
  T* const means = squares + squares_at * means_at * n;
  typename piece::stack_array gradient(std::min(static_cast<Eigen::Index>(r.end - r.begin), piece::most)),
      result(gradient.size());
  const double step = static_cast<double>(steps_), rate = rate_ * r.rate;
  const typename piece::settings s{static_cast<T>(rate),
                                   static_cast<T>(momentum_),
                                   static_cast<T>(beta2_),
                                   static_cast<T>(epsilon_),
                                   static_cast<T>(r.weight_decay),
                                   static_cast<T>(rate / (1 - std::pow(momentum_, step))),
                                   static_cast<T>(1 / std::sqrt(1 - std::pow(beta2_, step)))};
  for (auto begin = static_cast<Eigen::Index>(r.begin); begin < last; begin += piece::most) {
    const Eigen::Index count = std::min(piece::most, last - begin);
    piece now{s,
              {p.data() + begin, count},
              {means + means_at * begin, count},
              {squares + squares_at * begin, count},
              gradient,
              result};
    gradient.head(count) = Eigen::Map<const typename piece::array>(g.data() + begin, count);
    if (s.decay != 0 && kind_ != kind::adamw) gradient.head(count) += s.decay * now.x;
    if (s.decay != 0 && kind_ == kind::adamw) now.x *= 1 - s.rate * s.decay;
    switch (kind_) {
      case kind::sgd: now.sgd(nesterov_); break;
      case kind::rmsprop: now.rmsprop(); break;
      default: now.adam();
    }
  }
}

namespace detail {
/// The ranges of parameters of which some are frozen.
template <class T>
std::vector<parameter_range> ranges_of(const parameter_span<T>& parameters, double weight_decay) {
  std::vector<parameter_range> ranges;
  std::size_t at = 0;
  const auto add = [&](std::size_t end, double rate) {
    if (end > at) ranges.push_back({at, end, rate, weight_decay});
    at = end;
  };
  for (const auto& [begin, end] : parameters.frozen()) {
    add(begin, 1);
    add(end, 0);
  }
  add(parameters.size(), 1);
  return ranges;
}
}  // namespace detail

MANTA_DECL void optimizer::step(parameter_span<float> parameters, std::span<const float> gradients) {
  if (parameters.frozen().empty() || !groups_.empty()) return move<float>(parameters, gradients, floats_, nullptr);
  step_in(parameters, gradients, detail::ranges_of(parameters, decay_));
}
MANTA_DECL void optimizer::step(parameter_span<double> parameters, std::span<const double> gradients) {
  if (parameters.frozen().empty() || !groups_.empty()) return move<double>(parameters, gradients, doubles_, nullptr);
  step_in(parameters, gradients, detail::ranges_of(parameters, decay_));
}
MANTA_DECL void optimizer::step(std::span<float> parameters, std::span<const float> gradients) {
  move(parameters, gradients, floats_, nullptr);
}
MANTA_DECL void optimizer::step(std::span<double> parameters, std::span<const double> gradients) {
  move(parameters, gradients, doubles_, nullptr);
}
MANTA_DECL void optimizer::step_in(std::span<float> parameters, std::span<const float> gradients,
                                   const std::vector<detail::parameter_range>& ranges) {
  move(parameters, gradients, floats_, &ranges);
}
MANTA_DECL void optimizer::step_in(std::span<double> parameters, std::span<const double> gradients,
                                   const std::vector<detail::parameter_range>& ranges) {
  move(parameters, gradients, doubles_, &ranges);
}

namespace detail {
template <class T>
double clip(std::span<const std::span<T>> arrays, double limit) {
  check_option(limit >= 0, "clip_norm", "the limit", limit, "at least 0");
  double sum = 0;
  for (const std::span<T> gradients : arrays) {
    for (T g : gradients) sum += static_cast<double>(g) * static_cast<double>(g);
  }
  const double norm = std::sqrt(sum);
  if (norm > limit) {
    for (const std::span<T> gradients : arrays) {
      for (T& g : gradients) g *= static_cast<T>(limit / norm);
    }
  }
  return norm;
}
}  // namespace detail

MANTA_DECL double clip_norm(std::span<float> gradients, double limit) {
  return detail::clip<float>(std::span<const std::span<float>>(&gradients, 1), limit);
}
MANTA_DECL double clip_norm(std::span<double> gradients, double limit) {
  return detail::clip<double>(std::span<const std::span<double>>(&gradients, 1), limit);
}
MANTA_DECL double clip_norm(std::span<const std::span<float>> arrays, double limit) {
  return detail::clip<float>(arrays, limit);
}

}  // namespace manta::nn
