// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A small recipe that the tests of trainers share.
#pragma once

#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "manta/train.hpp"

namespace manta::testing {

inline int workers() { return std::max(1, manta::size() - 1); }

/// Three clouds of points in eight dimensions.
inline train::samples clouds(std::uint64_t seed, int count) {
  const nn::random r(seed);
  Eigen::MatrixXd x(8, count);
  std::vector<int> y(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    y[static_cast<std::size_t>(i)] = i % 3;
    for (int k = 0; k < 8; ++k) x(k, i) = r.normal(static_cast<std::uint64_t>(8 * i + k)) + (k % 3 == i % 3 ? 1.5 : 0);
  }
  return train::samples(std::move(x), std::move(y));
}

struct three_clouds {
  double rate = 1e-2;
  int samples = 301, hidden = 16;
  bool differs = false;
  bool is_weighted = false;
  bool normalises = false;
  double explode_at = 0;  ///< the rate is infinite from this epoch on

  nn::network<double> model() const {
    const int more = differs ? manta::rank() : 0;
    if (normalises)
      return nn::network<double>(nn::shape{8}, nn::linear(hidden), nn::batch_norm({.all_workers = true}), nn::tanh(),
                                 nn::linear(3));
    return nn::network<double>(nn::shape{8}, nn::linear(hidden + more), nn::tanh(), nn::linear(3));
  }
  nn::adam optimizer() const { return nn::adam({.rate = rate}); }
  nn::loss loss() const { return is_weighted ? nn::cross_entropy({.weights = {1, 2, 3}}) : nn::cross_entropy(); }
  train::samples training_data() const { return clouds(1, samples); }
  train::samples validation_data() const { return clouds(2, 100); }
  std::map<std::string, double> metrics(const nn::matrix<double>& y, const nn::targets<double>&) const {
    return {{"size", y.norm()}};
  }
  double learning_rate(double epoch) const { return explode_at > 0 && epoch >= explode_at ? 1e308 : rate; }
  int epochs() const { return 4; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rate), CEREAL_NVP(samples), CEREAL_NVP(hidden), CEREAL_NVP(differs), CEREAL_NVP(is_weighted),
            CEREAL_NVP(normalises), CEREAL_NVP(explode_at));
  }
};

inline std::vector<double> parameters(const train::trainer<three_clouds>& t) {
  const auto net = t.model();
  return {net.parameters().begin(), net.parameters().end()};
}

/// The order of an epoch's samples.
inline std::vector<std::uint64_t> order_of(std::uint64_t seed, int epoch, std::size_t size) {
  std::vector<std::uint64_t> order(size);
  std::iota(order.begin(), order.end(), std::uint64_t(0));
  const nn::random numbers(seed, static_cast<std::uint64_t>(epoch), 1);
  for (std::size_t i = size; i > 1; --i) std::swap(order[i - 1], order[numbers.bits(i) % i]);
  return order;
}

/// Relative.
inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double d = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) d += (a[i] - b[i]) * (a[i] - b[i]), size += a[i] * a[i];
  return std::sqrt(d / size);
}

}  // namespace manta::testing
