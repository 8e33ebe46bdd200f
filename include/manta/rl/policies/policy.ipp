// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of policy.hpp.
#pragma once

#include <cmath>
#include <utility>

#include "manta/error.hpp"
#include "manta/nn/layers.hpp"
#include "manta/rl/policies/policy.hpp"

namespace manta::rl {

namespace detail {

/// Throws if the options make no sense.
inline void check_model(const model_options& m) {
  const auto require = [](const char* what, int value, int least, const char* unit) {
    if (value < least)
      throw error(std::string("manta: rl: ") + what + " of " + std::to_string(value) + unit +
                  "; it has to be at least " + std::to_string(least));
  };
  for (int n : m.hidden) require(".hidden has a layer", n, 1, " units");
  for (int n : m.lstm) require(".lstm has a layer", n, 1, " units");
  for (const conv_layer& c : m.conv) {
    require(".conv has a layer", c.filters, 1, " filters");
    require(".conv has a kernel", c.kernel, 1, "");
    require(".conv has a stride", c.stride, 1, "");
  }
  require(".attention is a number", m.attention, 0, " heads");
  if (m.attention > 0) require(".memory is a number", m.memory, 2, " steps");
  for (const auto& [option, is_set] :
       {std::pair(".conv", !m.conv.empty()), {".lstm", !m.lstm.empty()}, {".attention", m.attention > 0}}) {
    if (m.network && is_set)
      throw error(std::string("manta: rl: ") + option + " asks for layers, and .network is " + m.network.name() +
                  ", which stands for all of them; leave out one of both");
  }
}

MANTA_DECL void refuse_memory(const nn::network<float>& net, const model_options& m, const std::string& algorithm) {
  if (net.state_size() == 0) return;
  throw error("manta: rl: " + algorithm + " cannot use " +
              (m.network        ? m.network.name()
               : m.lstm.empty() ? ".attention"
                                : ".lstm") +
              ": its policies remember nothing. Use rl::ppo, or put what has to be remembered into the observation, as "
              "rl::frame_stack does");
}

MANTA_DECL void refuse_distribution(const model_options& m, const std::string& algorithm) {
  if (m.distribution)
    throw error("manta: rl: " + algorithm + " cannot use the distribution " + m.distribution.name() +
                ": its actions follow from its formulas. Give it a way to explore, .exploration, or use rl::ppo");
}

/// The shape in which a network reads observations: that of an image, or a vector.
inline nn::shape shape_of(const space& observations) {
  const box* const b = observations.as_box();
  if (b != nullptr && b->shape.size() == 3) return nn::shape(b->shape);
  if (b != nullptr && b->shape.size() == 2) return {1, b->shape[0], b->shape[1]};
  return {observations.features()};
}

/// The LSTM's forget gates begin open (Jozefowicz et al., 2015): what is seen is kept until the network learns what to
/// forget.
inline void open_forget_gates(nn::network<float>& net) {
  for (const auto& a : net.arrays()) {
    if (!a.name.ends_with("bias_ih_l0")) continue;
    const auto units = static_cast<std::size_t>(a.extents.size()) / 4;
    std::ranges::fill(net.parameters().subspan(a.begin + units, units), 1.f);
  }
}

inline nn::network<float> network_of(const nn::shape& in, const model_options& m, int outputs, double last,
                                     std::uint64_t seed, bool relu = false) {
  check_model(m);
  if (!m.conv.empty() && in.dimensions() != 3)
    throw error(
        "manta: rl: .conv needs observations that are images: rl::box{low, high, {channels, height, width}}; here they "
        "have " +
        in.text() + " numbers");
  const double gain = std::sqrt(2.0);
  std::vector<nn::spec> layers;
  if (m.network) {
    nn::network<float> net(in, nn::detail::own_spec<float>(outputs, m.network));
    net.initialise(seed);
    return net;
  }
  for (const conv_layer& c : m.conv) {
    layers.push_back(
        nn::conv2d(c.filters, c.kernel, {.stride = c.stride, .start = nn::start::orthogonal, .gain = gain}));
    layers.push_back(nn::relu());
  }
  for (int n : m.hidden) {
    layers.push_back(nn::linear(n, {.start = nn::start::orthogonal, .gain = gain}));
    layers.push_back(m.conv.empty() && !relu ? nn::tanh() : nn::relu());
  }
  if (m.hidden.empty()) layers.push_back(nn::flatten());
  if (m.attention > 0) layers.push_back(nn::residual(nn::step_attention(m.attention, m.memory)));
  for (int n : m.lstm) layers.push_back(nn::lstm(n, {.start = nn::start::orthogonal}));
  layers.push_back(nn::linear(outputs, {.start = nn::start::orthogonal, .gain = last}));
  nn::network<float> net(in, std::move(layers));
  net.initialise(seed);
  open_forget_gates(net);
  return net;
}

MANTA_DECL nn::network<float> make_network(const space& observations, const model_options& m, int outputs, double last,
                                           std::uint64_t seed, bool relu) {
  return network_of(shape_of(observations), m, outputs, last, seed, relu);
}
MANTA_DECL nn::network<float> make_network(int features, const model_options& m, int outputs, double last,
                                           std::uint64_t seed) {
  nn::network<float> net = network_of({features}, m, outputs, last, seed);
  refuse_memory(net, m, "this algorithm");
  return net;
}

MANTA_DECL const nn::matrix<float>& even_forward::widened(const nn::matrix<float>& x) {
  const Eigen::Index columns = wide(x.cols());
  if (x.cols() == columns) return x;
  wide_.setZero(x.rows(), columns);
  wide_.middleCols(place_, x.cols()) = x;
  return wide_;
}

}  // namespace detail

MANTA_DECL policy::policy(const space& observations, const space& actions, const model_options& m, std::uint64_t seed) {
  const auto d = make_distribution(actions, m.distribution);
  actor_ = detail::make_network(observations, m, d->outputs(), 0.01, 2 * seed);
  critic_ = detail::make_network(observations, m, 1, 0.01, 2 * seed + 1);
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
  const std::size_t size =
      std::as_const(actor_).parameters().size() + std::as_const(critic_).parameters().size() + spread_.size();
  if (w.parameters.size() != size)
    throw error("manta: rl: a policy of " + std::to_string(size) + " parameters got " +
                std::to_string(w.parameters.size()));
  auto from = w.parameters.begin();
  for (const std::span<float> part : {actor_.parameters(), critic_.parameters(), std::span<float>(spread_)}) {
    std::copy(from, from + static_cast<std::ptrdiff_t>(part.size()), part.begin());
    from += static_cast<std::ptrdiff_t>(part.size());
  }
  filter_ = w.filter;
}

}  // namespace manta::rl
