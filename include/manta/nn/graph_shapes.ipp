// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/graph_shapes.hpp"

namespace manta::nn::detail {

MANTA_DECL bool is_named(const std::string& kind) {
  return kind != "input" && kind != "concat" && kind != "sum" && kind != "outputs";
}

MANTA_DECL void check_graph(const spec& graph) {
  const std::vector<spec>& nodes = graph.parts;
  if (nodes.size() < 2 || nodes.back().kind != "outputs" || nodes.back().sizes.empty())
    throw error("a graph needs nodes and at least one output");
  std::vector<bool> is_used(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].kind == "input") continue;
    if (nodes[i].sizes.empty()) throw error(base::text("the node '{}' has no input", nodes[i].kind));
    for (const int from : nodes[i].sizes) {
      if (from < 0 || static_cast<std::size_t>(from) >= i)
        throw error(
            base::text("the node '{}' gets the result of node {}, which is not before it", nodes[i].kind, from));
      is_used[static_cast<std::size_t>(from)] = true;
    }
  }
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    if (!is_used[i])
      throw error(
          base::text("node {}, {}, leads to no output; take it away, or name it as an output", i, nodes[i].kind));
  }
}

inline std::string texts_of(const spec& node, const std::vector<shape>& shapes) {
  std::string all;
  for (const int from : node.sizes) all += (all.empty() ? "" : ", ") + shapes[static_cast<std::size_t>(from)].text();
  return all;
}

MANTA_DECL shape joined_shape(const spec& node, const std::vector<shape>& shapes) {
  if (node.kind == "input") return shape(node.sizes);
  const shape& first = shapes[static_cast<std::size_t>(node.sizes[0])];
  // The extent along which shapes are joined: channels, features of a position, or of a vector.
  const std::size_t along = first.dimensions() == 2 ? 1 : 0;
  std::vector<int> extents = first.extents();
  for (std::size_t k = 1; k < node.sizes.size(); ++k) {
    std::vector<int> its = shapes[static_cast<std::size_t>(node.sizes[k])].extents();
    const bool is_sum = node.kind == "sum";
    if (its.size() != extents.size())
      throw error(base::text("{} gets the shapes {}; they have to be of one kind", node.kind, texts_of(node, shapes)));
    const int size = its[along];
    if (!is_sum) its[along] = extents[along];
    if (its != extents)
      throw error(base::text(
          "{} gets the shapes {}; {}", node.kind, texts_of(node, shapes),
          is_sum ? "they have to be equal" : "they have to be equal but for channels of images, or features"));
    if (!is_sum) extents[along] += size;
  }
  return shape(extents);
}

}  // namespace manta::nn::detail
