// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Networks that are graphs: several inputs and outputs, results that are used more than once, and joined.
//
//   nn::graph g;
//   const nn::node picture = g.input({3, 32, 32}), place = g.input({5});
//   const nn::node seen = g.add("seen", nn::sequential(nn::conv2d(16, 3), nn::relu(), nn::flatten()), picture);
//   const nn::node class_of = g.add("class", nn::linear(10), g.concat({seen, place}));
//   nn::network<float> net = nn::network<float>(g.input_shape(), g.outputs({class_of}));
//
// A column of the data has the inputs one after the other, in the order in which they were added, and a column of the
// result has the outputs likewise. The arrays of a node are called after it: "0.class.weight".
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "manta/nn/shape.hpp"
#include "manta/nn/source.hpp"
#include "manta/nn/spec.hpp"

namespace manta::nn {

/// The result of a node of a graph, which graph gives.
class node {
 public:
  explicit node(int number) : number_(number) {}
  /// Nodes are numbered as they are added, from 0.
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

class graph {
 public:
  /// Numbers of each sample.
  MANTA_DECL node input(const shape& extents);
  /// What the layer gives for the result of another node. Throws if the name is taken, or has a star or a point.
  MANTA_DECL node add(const std::string& name, const spec& layer, node from);
  /// As above, with the number of the node as its name.
  MANTA_DECL node add(const spec& layer, node from);
  template <class First, class... Others>
    requires(!std::is_convertible_v<const First&, spec> && !std::is_convertible_v<const First&, std::string>)
  node add(  // manta: nn: add(layer, node), or add("name", layer, node)
      const First&, const Others&...)
  = delete;
  template <class... Others>
  node add(const spec&, node, node, const Others&...) = delete;  // manta: nn: several nodes are joined by concat or sum
  template <class... Others>
  node add(  // manta: nn: several nodes are joined by concat or sum
      const std::string&, const spec&, node, node, const Others&...) = delete;
  /// Several results beside each other: channels of images, features of the positions of sequences, or of vectors.
  MANTA_DECL node concat(const std::vector<node>& all);
  /// The sum of results of one shape.
  MANTA_DECL node sum(const std::vector<node>& all);

  /// The input's shape if there is one; several are one vector.
  [[nodiscard]] MANTA_DECL shape input_shape() const;
  /// The graph as a layer. Each node has to lead to an output. Shapes are checked when a network is made of it.
  [[nodiscard]] MANTA_DECL spec outputs(const std::vector<node>& all) const;

 private:
  node push(spec s);
  static spec joined(const char* kind, const std::vector<node>& all);

  std::vector<spec> nodes_;
};

}  // namespace manta::nn

#ifndef MANTA_COMPILED
#include "manta/nn/graph.ipp"
#endif
