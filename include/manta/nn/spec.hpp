// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a network consists of, as plain data: a kind of layer, its numbers, and its parts. The functions that users
// call, nn::linear(128) and the like, stand in layers.hpp; a network makes layers of a scalar type from specs.
#pragma once

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <map>
#include <string>
#include <vector>

#include <cereal/types/map.hpp>

#include "manta/nn/source.hpp"
#include "manta/own.hpp"

namespace manta::nn {

struct spec {
  std::string kind;                       ///< "linear", "relu", ..: the name of a function in layers.hpp
  std::vector<int> sizes;                 ///< the function's first parameters, such as the number of outputs
  std::map<std::string, double> options;  ///< those that are not the defaults, by their names
  std::vector<spec> parts;                ///< parts of a layer that consists of layers
  manta::detail::class_value own = {};    ///< the program's class, for kind "own" (own.hpp)

  /// Keeps an option unless it has its default value.
  MANTA_DECL spec& with(const std::string& name, double value, double standard);
  /// The value of an option.
  [[nodiscard]] MANTA_DECL double option(const std::string& name, double standard) const;
  /// As the program writes it: "linear(128)".
  [[nodiscard]] MANTA_DECL std::string text() const;

  bool operator==(const spec&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(kind, sizes, options, parts, own);
  }
};

}  // namespace manta::nn

#ifndef MANTA_COMPILED
#include "manta/nn/spec.ipp"
#endif
