// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A policy: a network for actions and one for values, with the filter of observations. Plain data that can be sent.
#pragma once

#include <algorithm>
#include <cereal/types/vector.hpp>
#include <memory>
#include <span>
#include <vector>

#include "manta/nn/network.hpp"
#include "manta/rl/distribution.hpp"
#include "manta/rl/filter.hpp"

namespace manta::rl {

/// The networks of a policy.
struct model_options {
  std::vector<int> hidden = {64, 64};  ///< the sizes of the layers between observation and output, with tanh
  std::vector<int> lstm = {};          ///< not there yet: has to be empty
  int attention = 0;                   ///< not there yet: has to be 0

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(hidden), CEREAL_NVP(lstm), CEREAL_NVP(attention));
  }
};

namespace detail {
/// A network from observations to `outputs`, with orthogonal weights; those of the last layer have the gain `last`.
MANTA_DECL nn::network<float> make_network(int features, const model_options& m, int outputs, double last,
                                           std::uint64_t seed);
/// Throws if the options ask for what there is not.
MANTA_DECL void check_model(const model_options& m);

/// Runs a network on columns so that a column's result has the same bits however many stand beside it: products of
/// matrices sum in an order that depends on the number of columns, unless that is a multiple of 16 and not tiny.
class even_forward {
 public:
  /// Results of the first columns are those of x.
  template <class Net>
  const nn::matrix<float>& operator()(Net& net, const nn::matrix<float>& x) {
    return net.forward(widened(x));
  }

 private:
  MANTA_DECL const nn::matrix<float>& widened(const nn::matrix<float>& x);

  nn::matrix<float> wide_;
};
}  // namespace detail

class policy {
 public:
  policy() = default;
  MANTA_DECL policy(const space& observations, const space& actions, const model_options& m, std::uint64_t seed);

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

  nn::network<float>& actor() { return actor_; }
  nn::network<float>& critic() { return critic_; }
  [[nodiscard]] const nn::network<float>& actor() const { return actor_; }
  [[nodiscard]] const nn::network<float>& critic() const { return critic_; }
  std::vector<float>& spread() { return spread_; }
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
#include "manta/rl/policy.ipp"
#endif
