// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A policy: a network for actions and one for values, with the filter of observations. Plain data that can be sent.
#pragma once

#include <algorithm>
#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "manta/eigen.hpp"
#include "manta/nn/network.hpp"
#include "manta/nn/own.hpp"
#include "manta/rl/policies/distribution.hpp"
#include "manta/rl/policies/filter.hpp"

namespace manta::rl {

/// A convolution over an image by `filters` filters of kernel x kernel.
struct conv_layer {
  int filters = 16, kernel = 3, stride = 1;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(filters), CEREAL_NVP(kernel), CEREAL_NVP(stride));
  }
};

/// What stands behind hidden layers. automatic: tanh, or relu after .conv and in dqn.
enum class activation { automatic, tanh, relu, gelu };

/// Layers for a part of an observation that is a dict: convolutions, then layers of these sizes. Without any, the part
/// is read as it is.
struct part_options {
  std::vector<conv_layer> conv = {};
  std::vector<int> hidden = {};
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(conv), CEREAL_NVP(hidden));
  }
};

/// The networks of a policy: layers from the observation to the outputs, in this order. With .lstm or .attention a
/// policy remembers what it saw since the beginning of the episode.
///
/// Each part of a dict, or of a tuple, has layers of its own, whose outputs are joined before .hidden: images have
/// those of .conv, and .parts names others, by the names of a dict, or "0", "1", .. of a tuple:
///
///   .model = {.hidden = {64},
///            .parts = {{"camera", {.conv = {{16, 3, 1}}, .hidden = {128}}}, {"joints", {.hidden = {32}}}}}
///
/// .network: a class that satisfies nn::module<my_network> and is constructed from the numbers of features of an
/// observation and of outputs, and the arguments of own (nn/own.hpp has what else it may have).
struct model_options {
  std::vector<int> hidden = {64, 64};  ///< the sizes of layers
  activation hidden_activation = activation::automatic;
  std::vector<conv_layer> conv = {};  ///< before them, with relu: {{16, 3, 1}}, for images
  std::vector<int> lstm = {};         ///< after them: the sizes of a stack of LSTMs
  int attention = 0;                  ///< between both: heads of attention to the last steps; 0: none
  int memory = 64;                    ///< how many steps attention has in reach, with the present one
  std::map<std::string, part_options> parts = {};
  nn::own_module<float> network = {};  ///< a class of the program's own instead of all layers: rl::own<my_network>(..)
  own_distribution distribution = {};  ///< likewise, for what its outputs mean: rl::own<my_distribution>(..)

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(hidden), CEREAL_NVP(hidden_activation), CEREAL_NVP(conv), CEREAL_NVP(lstm),
            CEREAL_NVP(attention), CEREAL_NVP(memory), parts, network, distribution);
  }
};

namespace detail {
/// What a network is made for.
struct network_purpose {
  int outputs = 1;
  double last = 1;      ///< the gain of the last layer
  bool relu = false;    ///< hidden layers have it instead of tanh, unless the options say otherwise
  int more_inputs = 0;  ///< numbers behind those of the observation, such as an action that a critic values
};
/// A network that reads observations, with orthogonal weights.
MANTA_DECL nn::network<float> make_network(const space& observations, const model_options& m,
                                           const network_purpose& what, std::uint64_t seed);
/// Throws if the network has a memory: "dqn cannot use .lstm".
MANTA_DECL void refuse_memory(const nn::network<float>& net, const model_options& m, const std::string& algorithm);
/// Throws if the options have a distribution.
MANTA_DECL void refuse_distribution(const model_options& m, const std::string& algorithm);

/// Runs a network for environments of a run, step by step, with a state of each where the network has one. A column's
/// result has the same bits however many stand beside it: products of matrices sum in an order that depends on the
/// number of columns, unless that is a multiple of 16 and not tiny, and each environment stands at
/// its number modulo 16.
class even_forward {
 public:
  even_forward() = default;
  explicit even_forward(int first_environment) : place_(first_environment % 16) {}

  /// The outputs of a step, a column for each of x. The states go on.
  auto operator()(nn::network<float>& net, const nn::matrix<float>& x) {
    const nn::matrix<float>& wide = widened(x);
    if (states_.cols() != wide.cols()) states_ = net.initial_state(static_cast<int>(wide.cols()));
    return net.forward(wide, states_).middleCols(place_, x.cols());
  }
  /// What the step would give; the states stay as they are.
  auto look(nn::network<float>& net, const nn::matrix<float>& x) {
    kept_ = states_;
    const auto y = (*this)(net, x);
    states_.swap(kept_);
    return y;
  }
  /// An episode of the environment in column i begins.
  void forget(Eigen::Index i) {
    if (states_.size() > 0) states_.col(place_ + i).setZero();
  }
  /// Episodes begin in all.
  void forget() { states_.setZero(); }
  /// The states of `count` environments, a column each.
  [[nodiscard]] nn::matrix<float> states(const nn::network<float>& net, Eigen::Index count) const {
    return states_.size() == 0 ? net.initial_state(static_cast<int>(count)) : states_.middleCols(place_, count);
  }
  void set_states(const nn::network<float>& net, const nn::matrix<float>& states) {
    states_ = net.initial_state(static_cast<int>(wide(states.cols())));
    states_.middleCols(place_, states.cols()) = states;
  }

 private:
  /// Whole packets of the widest vector unit, for any number of rows: with -ffast-math a rest is computed otherwise.
  [[nodiscard]] Eigen::Index wide(Eigen::Index columns) const {
    return std::max<Eigen::Index>(32, (place_ + columns + 15) / 16 * 16);
  }
  MANTA_DECL const nn::matrix<float>& widened(const nn::matrix<float>& x);

  Eigen::Index place_ = 0;
  nn::matrix<float> wide_, states_, kept_;
};
}  // namespace detail

class policy {
 public:
  policy() = default;
  /// more: numbers behind those of an observation that the critic alone reads.
  MANTA_DECL policy(const space& observations, const space& actions, const model_options& m, std::uint64_t seed,
                    int more = 0);

  /// What a worker needs of a policy at each iteration: all parameters in one array, and the filter.
  struct weights {
    std::vector<float> parameters;
    moments filter;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(parameters, filter);
    }
  };
  [[nodiscard]] MANTA_DECL weights get() const;
  MANTA_DECL void set(const weights& w);

  /// Multiplies what the critic's last layer gives, which has weights and biases and nothing behind it.
  MANTA_DECL void scale_values(double factor);

  nn::network<float>& actor() { return actor_; }
  nn::network<float>& critic() { return critic_; }
  /// It remembers what it saw in the episode.
  [[nodiscard]] bool remembers() const { return actor_.state_size() + critic_.state_size() > 0; }
  [[nodiscard]] const nn::network<float>& actor() const { return actor_; }
  [[nodiscard]] const nn::network<float>& critic() const { return critic_; }
  std::vector<float>& spread() { return spread_; }
  [[nodiscard]] const std::vector<float>& spread() const { return spread_; }
  moments& filter() { return filter_; }
  [[nodiscard]] const moments& filter() const { return filter_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(actor_, critic_, spread_, filter_);
  }

 private:
  nn::network<float> actor_, critic_;
  std::vector<float> spread_;
  moments filter_;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/policies/policy.ipp"
#endif
