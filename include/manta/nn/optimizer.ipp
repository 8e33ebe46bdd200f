// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of optimizer.hpp.
#pragma once

#include <Eigen/Core>
#include <cmath>

#include "manta/error.hpp"
#include "manta/nn/optimizer.hpp"

namespace manta::nn {

MANTA_DECL optimizer::optimizer(const sgd_options& o)
    : kind_(kind::sgd), rate_(o.rate), momentum_(o.momentum), decay_(o.weight_decay), nesterov_(o.nesterov) {}
MANTA_DECL optimizer::optimizer(kind k, const adam_options& o)
    : kind_(k), rate_(o.rate), momentum_(o.beta1), beta2_(o.beta2), epsilon_(o.epsilon), decay_(o.weight_decay) {}
MANTA_DECL optimizer::optimizer(const rmsprop_options& o)
    : kind_(kind::rmsprop),
      rate_(o.rate),
      momentum_(o.momentum),
      beta2_(o.alpha),
      epsilon_(o.epsilon),
      decay_(o.weight_decay) {}

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

namespace detail {
inline void require_sizes(const std::string& name, std::size_t parameters, std::size_t gradients, std::size_t before) {
  if (parameters != gradients)
    throw error("manta: nn: " + name + " got " + std::to_string(parameters) + " parameters and " +
                std::to_string(gradients) + " gradients");
  if (parameters != before)
    throw error("manta: nn: " + name + " has stepped " + std::to_string(before) + " parameters so far, and got " +
                std::to_string(parameters) + "; an optimizer belongs to one network");
}
}  // namespace detail

template <class T>
void optimizer::move(std::span<T> p, std::span<const T> g, std::vector<T>& kept) {
  using array = Eigen::Array<T, Eigen::Dynamic, 1>;
  if (kind_ == kind::none) throw error("manta: nn: this optimizer is empty; assign nn::adam() or another to it");
  detail::require_sizes(name(), p.size(), g.size(), kept.empty() ? p.size() : kept.size() / 2);
  if (kept.empty()) kept.assign(2 * p.size(), T(0));
  ++steps_;

  const auto n = static_cast<Eigen::Index>(p.size());
  // In pieces that stay in the cache: each is read and written by several expressions.
  constexpr Eigen::Index piece = 2048;
  using kept_piece = Eigen::Array<T, Eigen::Dynamic, 1, 0, piece, 1>;  // on the stack
  kept_piece d(std::min(n, piece)), result(d.size());
  const T rate = static_cast<T>(rate_), m = static_cast<T>(momentum_), b2 = static_cast<T>(beta2_),
          eps = static_cast<T>(epsilon_), decay = static_cast<T>(decay_);
  const double step = static_cast<double>(steps_);
  const T correct1 = static_cast<T>(rate_ / (1 - std::pow(momentum_, step)));
  const T correct2 = static_cast<T>(1 / std::sqrt(1 - std::pow(beta2_, step)));
  for (Eigen::Index begin = 0; begin < n; begin += piece) {
    const Eigen::Index count = std::min(piece, n - begin);
    Eigen::Map<array> x(p.data() + begin, count), first(kept.data() + begin, count),
        second(kept.data() + n + begin, count);
    auto gradient = d.head(count);
    // Results are computed in an array that is aligned wherever the others lie: aligned.hpp says why.
    const auto set = [&result, count](auto& to, const auto& value) {
      result.head(count) = value;
      to = result.head(count);
    };
    gradient = Eigen::Map<const array>(g.data() + begin, count);
    if (decay_ != 0 && kind_ != kind::adamw) gradient += decay * x;
    switch (kind_) {
      case kind::sgd:
        if (momentum_ == 0) {
          set(x, x - rate * gradient);
        } else {
          set(first, m * first + gradient);
          if (nesterov_) {
            set(x, x - rate * (gradient + m * first));
          } else {
            set(x, x - rate * first);
          }
        }
        break;
      case kind::rmsprop:
        set(second, b2 * second + (1 - b2) * gradient.square());
        if (momentum_ == 0) {
          set(x, x - rate * gradient / (second.sqrt() + eps));
        } else {
          set(first, m * first + gradient / (second.sqrt() + eps));
          set(x, x - rate * first);
        }
        break;
      default:  // adam and adamw
        if (kind_ == kind::adamw && decay_ != 0) x *= 1 - rate * decay;
        set(first, m * first + (1 - m) * gradient);
        set(second, b2 * second + (1 - b2) * gradient.square());
        set(x, x - correct1 * first / (second.sqrt() * correct2 + eps));
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
