// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What tests of networks share: matrices of random numbers, and gradients by central differences.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "manta/nn.hpp"

namespace manta::testing {

/// Normal numbers, the same for a seed.
inline nn::matrix<double> numbers(int rows, int cols, std::uint64_t seed) {
  const nn::random r(seed);
  nn::matrix<double> m(rows, cols);
  for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = r.normal(static_cast<std::uint64_t>(i));
  return m;
}

/// The largest difference of a gradient from central differences, relative to the gradient's size.
inline double difference(std::span<double> at, std::span<const double> gradient, const std::function<double()>& f) {
  double worst = 0, size = 1e-3;
  for (double g : gradient) size = std::max(size, std::abs(g));
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double x = at[i], h = 1e-5;
    at[i] = x + h;
    const double above = f();
    at[i] = x - h;
    const double below = f();
    at[i] = x;
    worst = std::max(worst, std::abs((above - below) / (2 * h) - gradient[i]) / size);
  }
  return worst;
}

/// The loss is the sum of the outputs, each times a number of its own.
inline void check_gradients(nn::network<double> net, int samples, const nn::pass& p = {}, nn::matrix<double> x = {}) {
  INFO(net.describe());
  net.initialise(3);
  if (net.state_size() == 0) {  // weights of normalisations are 1, biases 0: others show more
    const nn::matrix<double> more = numbers(static_cast<int>(net.parameters().size()), 1, 8) * 0.1;
    for (std::size_t i = 0; i < net.parameters().size(); ++i) net.parameters()[i] += more(static_cast<int>(i));
  }
  net.mode(p);
  const auto all = [](nn::matrix<double>& m) { return std::span(m.data(), static_cast<std::size_t>(m.size())); };
  const bool has_words = x.size() > 0;
  if (!has_words) x = numbers(net.input_shape().size(), samples, 5);
  const nn::matrix<double> weights = numbers(net.output_shape().size(), samples, 6);
  const auto value = [&] { return net.forward(x).cwiseProduct(weights).sum(); };
  value();
  net.zero_gradients();
  nn::matrix<double> dx = net.backward_to_input(weights);
  const std::vector<double> gradients(net.gradients().begin(), net.gradients().end());
  CHECK(difference(net.parameters(), gradients, value) < 1e-6);
  if (!has_words) CHECK(difference(all(x), all(dx), value) < 1e-6);
  value();
  net.backward(weights);  // adds
  for (std::size_t i = 0; i < gradients.size(); ++i)
    CHECK(net.gradients()[i] == doctest::Approx(2 * gradients[i]).epsilon(1e-12));
}

}  // namespace manta::testing
