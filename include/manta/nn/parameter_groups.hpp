// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Arrays of parameters by their names, and groups of them that an optimiser treats in a way of their own.
//
//   nn::adamw optimizer({.rate = 1e-3, .weight_decay = 0.05, .groups = {{.dimensions = 1, .weight_decay = 0}}});
//   optimizer.step(net);  // no decay of biases and of the scales of norms, which are arrays of one dimension
#pragma once

#include <cereal/types/optional.hpp>
#include <cereal/types/string.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manta/nn/shape.hpp"
#include "manta/nn/source.hpp"

namespace manta::nn {

/// An array of a network's parameters or buffers. Names are the layer's number and the array's, as in PyTorch's
/// Sequential: "0.weight".
struct named_array {
  std::string name;
  shape extents;
  std::size_t begin;    ///< index of its first number in parameters() or buffers()
  bool frozen = false;  ///< training leaves it as it is
};

/// Parameters with settings of their own. An array belongs to the first group whose conditions it meets, and to no
/// group if there is none.
struct parameter_group {
  std::string arrays = "*";                 ///< pattern of names, in which * stands for any text: "0.*"
  int dimensions = 0;                       ///< number of extents of the arrays; 0: any
  double rate = 1;                          ///< factor of the optimiser's rate; 0: the arrays stay as they are
  std::optional<double> weight_decay = {};  ///< instead of the optimiser's
  [[nodiscard]] MANTA_DECL std::string name() const;  ///< the conditions in words

  bool operator==(const parameter_group&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(arrays, dimensions, rate, weight_decay);
  }
};

/// Whether the name is the pattern, in which * stands for any text.
MANTA_DECL bool matches(std::string_view pattern, std::string_view name);

namespace detail {

/// Neighbouring parameters with equal settings.
struct parameter_range {
  std::size_t begin, end;
  double rate;  ///< factor
  double weight_decay;
};

/// The settings of all parameters, in their order; frozen arrays have the rate 0. Throws if a group has no array.
MANTA_DECL std::vector<parameter_range> ranges_of(const std::vector<parameter_group>& groups,
                                                  const std::vector<named_array>& arrays, double weight_decay,
                                                  std::string_view whose);
/// The names of the arrays in a row, for messages.
MANTA_DECL std::string names_of(const std::vector<named_array>& arrays);

}  // namespace detail

}  // namespace manta::nn

#ifndef MANTA_COMPILED
#include "manta/nn/parameter_groups.ipp"
#endif
