// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/layers.hpp"
#include "manta/rl/policies/policy.hpp"

namespace manta::rl {

namespace detail {

inline void require_at_least(const char* what, int value, int least, const char* unit) {
  if (value < least)
    throw error(base::text("manta: rl: {} of {}{}; it has to be at least {}", what, value, unit, least));
}
inline void check_layers(const std::vector<int>& hidden, const std::vector<conv_layer>& conv) {
  for (int n : hidden) require_at_least(".hidden has a layer", n, 1, " units");
  for (const conv_layer& c : conv) {
    require_at_least(".conv has a layer", c.filters, 1, " filters");
    require_at_least(".conv has a kernel", c.kernel, 1, "");
    require_at_least(".conv has a stride", c.stride, 1, "");
  }
}
/// Throws if the options make no sense.
inline void check_model(const model_options& m) {
  check_layers(m.hidden, m.conv);
  for (const auto& [name, part] : m.parts) check_layers(part.hidden, part.conv);
  for (int n : m.lstm) require_at_least(".lstm has a layer", n, 1, " units");
  require_at_least(".attention is a number", m.attention, 0, " heads");
  if (m.attention > 0) require_at_least(".memory is a number", m.memory, 2, " steps");
  for (const auto& [option, is_set] : {std::pair(".conv", !m.conv.empty()),
                                       {".parts", !m.parts.empty()},
                                       {".lstm", !m.lstm.empty()},
                                       {".attention", m.attention > 0}}) {
    if (m.network && is_set)
      throw error(
          base::text("manta: rl: {} asks for layers, and .network is {}, which stands for all of them; leave out "
                     "one of both",
                     option, m.network.name()));
  }
}

MANTA_DECL void refuse_memory(const nn::network<float>& net, const model_options& m, const std::string& algorithm) {
  if (net.state_size() == 0) return;
  throw error(
      base::text("manta: rl: {} cannot use {}: its policies remember nothing. Use rl::ppo, or put what has to be "
                 "remembered into the observation, as rl::frame_stack does",
                 algorithm,
                 m.network        ? m.network.name()
                 : m.lstm.empty() ? ".attention"
                                  : ".lstm"));
}

MANTA_DECL void refuse_distribution(const model_options& m, const std::string& algorithm) {
  if (m.distribution)
    throw error(
        base::text("manta: rl: {} cannot use the distribution {}: its actions follow from its formulas. Give it a "
                   "way to explore, .exploration, or use rl::ppo",
                   algorithm, m.distribution.name()));
}

/// The shape in which a network reads observations: that of an image, or a vector.
inline nn::shape shape_of(const space& observations) {
  const box* const b = observations.as_box();
  if (b != nullptr && b->shape.size() == 3) return nn::shape(b->shape);
  if (b != nullptr && b->shape.size() == 2) return {1, b->shape[0], b->shape[1]};
  return {observations.features()};
}

/// Appends convolutions and hidden layers.
inline void append_layers(std::vector<nn::spec>& to, const std::vector<conv_layer>& conv,
                          const std::vector<int>& hidden, const nn::spec& active) {
  const double gain = std::sqrt(2.0);
  for (const conv_layer& c : conv) {
    to.push_back(nn::conv2d(c.filters, c.kernel, {.stride = c.stride, .start = nn::start::orthogonal, .gain = gain}));
    to.push_back(nn::relu());
  }
  for (int n : hidden) {
    to.push_back(nn::linear(n, {.start = nn::start::orthogonal, .gain = gain}));
    to.push_back(active);
  }
}

inline nn::spec active_layer(const model_options& m, bool relu) {
  const bool has_images =
      !m.conv.empty() || std::ranges::any_of(m.parts, [](const auto& p) { return !p.second.conv.empty(); });
  switch (m.hidden_activation) {
    case activation::tanh: return nn::tanh();
    case activation::relu: return nn::relu();
    case activation::gelu: return nn::gelu();
    case activation::automatic: break;
  }
  return has_images || relu ? nn::relu() : nn::tanh();
}

/// Layers for the parts of an observation, one beside the other; or for all of it, and what stands behind it.
inline nn::spec layers_of_parts(const space& observations, const model_options& m, const network_purpose& what) {
  const nn::spec active = active_layer(m, what.relu);
  std::vector<nn::spec> all;
  std::vector<std::pair<std::string, const space*>> parts;
  if (const dict* d = observations.as_dict()) {
    for (const auto& [name, part] : d->parts) parts.emplace_back(name, &part);
  } else if (const tuple* t = observations.as_tuple()) {
    for (const space& part : t->parts) parts.emplace_back(std::to_string(parts.size()), &part);
  } else {
    parts.emplace_back("", &observations);
  }
  std::string names;
  for (const auto& [name, part] : parts) {
    names += (names.empty() ? "" : ", ") + name;
    const nn::shape in = shape_of(*part);
    const auto own = m.parts.find(name);
    const std::vector<conv_layer> none, &conv = own != m.parts.end()   ? own->second.conv
                                                : in.dimensions() == 3 ? m.conv
                                                                       : none;
    if (!conv.empty() && in.dimensions() != 3)
      throw error(
          base::text("manta: rl: the part \"{}\" of observations is no image, and .conv is for images: rl::box{low, "
                     "high, {channels, height, width}}; it has {} numbers",
                     name, in.text()));
    std::vector<nn::spec> layers;
    append_layers(layers, conv, own != m.parts.end() ? own->second.hidden : std::vector<int>(), active);
    const nn::shape read_as = layers.empty() ? nn::shape{part->features()} : in;
    all.push_back(nn::part(read_as, std::move(layers)));
  }
  for (const auto& [name, options] : m.parts) {
    if (std::ranges::none_of(parts, [&](const auto& p) { return p.first == name; }))
      throw error(
          base::text("manta: rl: .parts names the part \"{}\"; observations are {}", name, observations.text()));
  }
  if (what.more_inputs > 0) all.push_back(nn::part({what.more_inputs}, {}));
  return nn::parts(std::move(all));
}

/// The LSTM's forget gates begin open (Jozefowicz et al., 2015): what is seen is kept until the network learns
/// what to forget.
inline void open_forget_gates(nn::network<float>& net) {
  for (const auto& a : net.arrays()) {
    if (!a.name.ends_with("bias_ih_l0")) continue;
    const auto units = static_cast<std::size_t>(a.extents.size()) / 4;
    std::ranges::fill(net.parameters().subspan(a.begin + units, units), 1.f);
  }
}

MANTA_DECL nn::network<float> make_network(const space& observations, const model_options& m,
                                           const network_purpose& what, std::uint64_t seed) {
  check_model(m);
  const bool has_parts = !observations.parts().empty() && (!m.conv.empty() || !m.parts.empty());
  const bool is_joined = has_parts || (what.more_inputs > 0 && !m.conv.empty());
  nn::shape in = shape_of(observations);
  if (is_joined || what.more_inputs > 0) in = {observations.features() + what.more_inputs};
  if (m.network) {
    nn::network<float> net(in, nn::detail::own_spec<float>(what.outputs, m.network));
    net.initialise(seed);
    return net;
  }
  if (!is_joined && !m.conv.empty() && in.dimensions() != 3)
    throw error(
        base::text("manta: rl: .conv needs observations that are images: rl::box{low, high, {channels, height, "
                   "width}}; here they have {} numbers",
                   in.text()));
  if (!has_parts && !m.parts.empty())
    throw error(base::text("manta: rl: .parts is for observations that are a dict or a tuple; they are {}",
                           observations.text()));
  std::vector<nn::spec> layers;
  if (is_joined) layers.push_back(layers_of_parts(observations, m, what));
  append_layers(layers, is_joined ? std::vector<conv_layer>() : m.conv, m.hidden, active_layer(m, what.relu));
  if (m.hidden.empty() && !is_joined) layers.push_back(nn::flatten());
  if (m.attention > 0) layers.push_back(nn::residual(nn::step_attention(m.attention, m.memory)));
  for (int n : m.lstm) layers.push_back(nn::lstm(n, {.start = nn::start::orthogonal}));
  layers.push_back(nn::linear(what.outputs, {.start = nn::start::orthogonal, .gain = what.last}));
  nn::network<float> net(in, std::move(layers));
  net.initialise(seed);
  open_forget_gates(net);
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

MANTA_DECL policy::policy(const space& observations, const space& actions, const model_options& m, std::uint64_t seed,
                          int more) {
  const auto d = make_distribution(actions, m.distribution);
  actor_ = detail::make_network(observations, m, {.outputs = d->outputs(), .last = 0.01}, 2 * seed);
  critic_ = detail::make_network(observations, m, {.outputs = 1, .last = 0.01, .more_inputs = more}, 2 * seed + 1);
  spread_.assign(static_cast<std::size_t>(d->spread()), -0.5f);
  filter_ = moments(observations.features() + more);
}

MANTA_DECL void policy::scale_values(double factor) {
  const auto arrays = critic_.arrays();
  for (const auto& array : std::span(arrays).last(2)) {  // the weights and the biases of the last layer
    const auto size = static_cast<std::size_t>(array.extents.size());
    for (float& parameter : critic_.parameters().subspan(array.begin, size)) parameter *= static_cast<float>(factor);
  }
}

MANTA_DECL policy::weights policy::get() const {
  weights w;
  for (const std::span<const float> part :
       std::array<std::span<const float>, 3>{actor_.parameters(), critic_.parameters(), spread_})
    w.parameters.insert(w.parameters.end(), part.begin(), part.end());
  w.filter = filter_;
  return w;
}

MANTA_DECL void policy::set(const weights& w) {
  const std::size_t size =
      std::as_const(actor_).parameters().size() + std::as_const(critic_).parameters().size() + spread_.size();
  if (w.parameters.size() != size)
    throw error(base::text("manta: rl: a policy of {} parameters got {}", size, w.parameters.size()));
  auto from = w.parameters.begin();
  const std::array<std::span<float>, 3> parts{actor_.parameters(), critic_.parameters(), spread_};
  for (const std::span<float> part : parts) {
    std::copy(from, from + static_cast<std::ptrdiff_t>(part.size()), part.begin());
    from += static_cast<std::ptrdiff_t>(part.size());
  }
  filter_ = w.filter;
}

}  // namespace manta::rl
