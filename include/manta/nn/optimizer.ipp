// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of optimizer.hpp.
#pragma once

#include <Eigen/Core>
#include <cmath>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/checks.hpp"
#include "manta/nn/optimizer.hpp"

namespace manta::nn {

namespace detail {

/// Throws unless the settings that all optimisers have are ones that can be meant.
inline void check_settings(std::string_view whose, double rate, double weight_decay) {
  check_option(rate >= 0, whose, ".rate", rate, "at least 0");
  check_option(weight_decay >= 0, whose, ".weight_decay", weight_decay, "at least 0");
}
inline void check_part(std::string_view whose, std::string_view option, double value) {
  check_option(value >= 0 && value < 1, whose, option, value, "at least 0 and below 1");
}
inline void check_epsilon(std::string_view whose, double epsilon) {
  check_option(epsilon >= 0, whose, ".epsilon", epsilon, "at least 0");
}

}  // namespace detail

MANTA_DECL optimizer::optimizer(const sgd_options& o)
    : kind_(kind::sgd), rate_(o.rate), momentum_(o.momentum), decay_(o.weight_decay), nesterov_(o.nesterov) {
  detail::check_settings(name(), o.rate, o.weight_decay);
  detail::check_option(o.momentum >= 0 && o.momentum <= 1, name(), ".momentum", o.momentum, "from 0 to 1");
}
MANTA_DECL optimizer::optimizer(kind k, const adam_options& o)
    : kind_(k), rate_(o.rate), momentum_(o.beta1), beta2_(o.beta2), epsilon_(o.epsilon), decay_(o.weight_decay) {
  detail::check_settings(name(), o.rate, o.weight_decay);
  detail::check_part(name(), ".beta1", o.beta1);
  detail::check_part(name(), ".beta2", o.beta2);
  detail::check_epsilon(name(), o.epsilon);
}
MANTA_DECL optimizer::optimizer(const rmsprop_options& o)
    : kind_(kind::rmsprop),
      rate_(o.rate),
      momentum_(o.momentum),
      beta2_(o.alpha),
      epsilon_(o.epsilon),
      decay_(o.weight_decay) {
  detail::check_settings(name(), o.rate, o.weight_decay);
  detail::check_part(name(), ".alpha", o.alpha);
  detail::check_option(o.momentum >= 0 && o.momentum <= 1, name(), ".momentum", o.momentum, "from 0 to 1");
  detail::check_epsilon(name(), o.epsilon);
}

MANTA_DECL void optimizer::rate(double r) {
  detail::check_option(r >= 0, name(), "the rate", r, "at least 0");
  rate_ = r;
}

MANTA_DECL void optimizer::take_moments(const optimizer& other) {
  steps_ = other.steps_;
  size_ = other.size_;
  floats_ = other.floats_;
  doubles_ = other.doubles_;
  // The squares come first, so that what both keep lies at the beginning.
  if (!floats_.empty()) floats_.resize(arrays() * size_, 0.F);
  if (!doubles_.empty()) doubles_.resize(arrays() * size_, 0.);
}

MANTA_DECL std::string optimizer::name() const {
  switch (kind_) {
    case kind::none: break;
    case kind::sgd: return "sgd";
    case kind::adam: return "adam";
    case kind::adamw: return "adamw";
    case kind::rmsprop: return "rmsprop";
  }
  return "none";
}

MANTA_DECL std::vector<std::pair<std::string, double>> optimizer::settings() const {
  std::vector<std::pair<std::string, double>> all{{"rate", rate_}, {"weight_decay", decay_}};
  const bool is_adam = kind_ == kind::adam || kind_ == kind::adamw;
  all.emplace_back(is_adam ? "beta1" : "momentum", momentum_);
  if (kind_ == kind::sgd) all.emplace_back("nesterov", nesterov_ ? 1 : 0);
  if (kind_ == kind::sgd) return all;
  all.emplace_back(is_adam ? "beta2" : "alpha", beta2_);
  all.emplace_back("epsilon", epsilon_);
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
void optimizer::move(std::span<T> p, std::span<const T> g, std::vector<T>& kept) {
  using piece = detail::optimizer_piece<T>;
  if (kind_ == kind::none) throw error("manta: nn: this optimizer is empty; assign nn::adam() or another to it");
  detail::require_sizes(name(), p.size(), g.size(), size_ == 0 ? p.size() : size_);
  size_ = p.size();
  kept.resize(arrays() * size_, T(0));
  ++steps_;

  const auto n = static_cast<Eigen::Index>(p.size());
  const Eigen::Index squares_at = keeps_squares() ? 1 : 0, means_at = keeps_first() ? 1 : 0;
  T* const squares = kept.data();
  T* const means = squares + squares_at * means_at * n;
  typename piece::stack_array gradient(std::min(n, piece::most)), result(gradient.size());
  const double step = static_cast<double>(steps_);
  const typename piece::settings s{static_cast<T>(rate_),
                                   static_cast<T>(momentum_),
                                   static_cast<T>(beta2_),
                                   static_cast<T>(epsilon_),
                                   static_cast<T>(decay_),
                                   static_cast<T>(rate_ / (1 - std::pow(momentum_, step))),
                                   static_cast<T>(1 / std::sqrt(1 - std::pow(beta2_, step)))};
  for (Eigen::Index begin = 0; begin < n; begin += piece::most) {
    const Eigen::Index count = std::min(piece::most, n - begin);
    piece now{s,
              {p.data() + begin, count},
              {means + means_at * begin, count},
              {squares + squares_at * begin, count},
              gradient,
              result};
    gradient.head(count) = Eigen::Map<const typename piece::array>(g.data() + begin, count);
    if (decay_ != 0 && kind_ != kind::adamw) gradient.head(count) += s.decay * now.x;
    if (decay_ != 0 && kind_ == kind::adamw) now.x *= 1 - s.rate * s.decay;
    switch (kind_) {
      case kind::sgd: now.sgd(nesterov_); break;
      case kind::rmsprop: now.rmsprop(); break;
      default: now.adam();
    }
  }
}

MANTA_DECL void optimizer::step(std::span<float> parameters, std::span<const float> gradients) {
  move(parameters, gradients, floats_);
}
MANTA_DECL void optimizer::step(std::span<double> parameters, std::span<const double> gradients) {
  move(parameters, gradients, doubles_);
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
