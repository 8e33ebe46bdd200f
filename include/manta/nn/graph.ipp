// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/graph.hpp"
#include "manta/nn/graph_shapes.hpp"

namespace manta::nn {

inline node graph::push(spec s) {
  nodes_.push_back(std::move(s));
  return node(static_cast<int>(nodes_.size()) - 1);
}

MANTA_DECL node graph::input(const shape& extents) { return push({"input", extents.extents(), {}, {}}); }

MANTA_DECL node graph::add(const std::string& name, const spec& layer, node from) {
  if (name.empty() || name.find_first_of("*.") != std::string::npos || !detail::is_named(name))
    throw error(base::text("manta: nn: a node of a graph cannot have the name '{}'", name));
  if (std::ranges::any_of(nodes_, [&](const spec& s) { return s.kind == name; }))
    throw error(base::text("manta: nn: two nodes of a graph have the name '{}'", name));
  return push({name, {from.number()}, {}, {layer}});
}
MANTA_DECL node graph::add(const spec& layer, node from) { return add(base::text("{}", nodes_.size()), layer, from); }

inline spec graph::joined(const char* kind, const std::vector<node>& all) {
  spec s{kind, {}, {}, {}};
  for (const node& n : all) s.sizes.push_back(n.number());
  return s;
}
MANTA_DECL node graph::concat(const std::vector<node>& all) { return push(joined("concat", all)); }
MANTA_DECL node graph::sum(const std::vector<node>& all) { return push(joined("sum", all)); }

MANTA_DECL shape graph::input_shape() const {
  std::vector<shape> all;
  int size = 0;
  for (const spec& s : nodes_) {
    if (s.kind != "input") continue;
    all.emplace_back(s.sizes);
    size += all.back().size();
  }
  return all.size() == 1 ? all[0] : shape{size};
}

MANTA_DECL spec graph::outputs(const std::vector<node>& all) const {
  spec s{"graph", {}, {}, nodes_};
  s.parts.push_back(joined("outputs", all));
  return s;
}

}  // namespace manta::nn
