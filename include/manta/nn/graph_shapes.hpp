// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a graph of layers has to be, whatever its scalar type: used when it is built, and when a network is made of it.
#pragma once

#include <string>
#include <vector>

#include "manta/nn/shape.hpp"
#include "manta/nn/source.hpp"
#include "manta/nn/spec.hpp"

namespace manta::nn::detail {

/// Whether a node of this kind has layers: its kind is then its name.
MANTA_DECL bool is_named(const std::string& kind);
/// Throws unless all nodes but the outputs are used, by nodes behind them alone.
MANTA_DECL void check_graph(const spec& graph);
/// The shape of a node that has no layers, behind nodes of these shapes. Throws if they cannot be joined.
MANTA_DECL shape joined_shape(const spec& node, const std::vector<shape>& shapes);

}  // namespace manta::nn::detail

#ifndef MANTA_COMPILED
#include "manta/nn/graph_shapes.ipp"
#endif
