// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of policy.hpp.
#pragma once

#include <cmath>

#include "manta/error.hpp"
#include "manta/nn/layers.hpp"
#include "manta/rl/policy.hpp"

namespace manta::rl {

namespace detail {

MANTA_DECL void check_model(const model_options& m) {
  for (int n : m.hidden) {
    if (n < 1) throw error("manta: rl: .hidden has a layer of " + std::to_string(n) + " units; at least one is needed");
  }
  if (!m.lstm.empty() || m.attention != 0)
    throw error(
        "manta: rl: policies with .lstm or .attention are not there yet; use .hidden alone, and put what has to be "
        "remembered "
        "into the observation");
}

MANTA_DECL nn::network<float> make_network(int features, const model_options& m, int outputs, double last,
                                           std::uint64_t seed) {
  check_model(m);
  std::vector<nn::spec> layers;
  for (int n : m.hidden) {
    layers.push_back(nn::linear(n, {.start = nn::start::orthogonal, .gain = std::sqrt(2.0)}));
    layers.push_back(nn::tanh());
  }
  layers.push_back(nn::linear(outputs, {.start = nn::start::orthogonal, .gain = last}));
  nn::network<float> net(nn::shape{features}, std::move(layers));
  net.initialise(seed);
  return net;
}

MANTA_DECL const nn::matrix<float>& even_forward::widened(const nn::matrix<float>& x) {
  // Whole packets of the widest vector unit, for any number of rows: with -ffast-math a rest is computed otherwise.
  const Eigen::Index columns = std::max<Eigen::Index>(32, (x.cols() + 15) / 16 * 16);
  if (x.cols() == columns) return x;
  wide_.setZero(x.rows(), columns);
  wide_.leftCols(x.cols()) = x;
  return wide_;
}

}  // namespace detail

MANTA_DECL policy::policy(const space& observations, const space& actions, const model_options& m, std::uint64_t seed) {
  const auto d = make_distribution(actions);
  actor_ = detail::make_network(observations.features(), m, d->outputs(), 0.01, 2 * seed);
  critic_ = detail::make_network(observations.features(), m, 1, 1, 2 * seed + 1);
  spread_.assign(static_cast<std::size_t>(d->spread()), -0.5f);
  filter_ = moments(observations.features());
}

MANTA_DECL policy::weights policy::get() const {
  weights w;
  for (const std::span<const float> part : {actor_.parameters(), critic_.parameters(), std::span<const float>(spread_)})
    w.parameters.insert(w.parameters.end(), part.begin(), part.end());
  w.filter = filter_;
  return w;
}

MANTA_DECL void policy::set(const weights& w) {
  auto from = w.parameters.begin();
  for (const std::span<float> part : {actor_.parameters(), critic_.parameters(), std::span<float>(spread_)}) {
    std::copy(from, from + static_cast<std::ptrdiff_t>(part.size()), part.begin());
    from += static_cast<std::ptrdiff_t>(part.size());
  }
  filter_ = w.filter;
}

}  // namespace manta::rl
