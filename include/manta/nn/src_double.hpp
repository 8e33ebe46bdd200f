// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The layers of nn for double. manta/nn/src.hpp includes this file. A build that defines MANTA_SOURCES_APART compiles
// this file as a source of its own instead.
#pragma once

#ifndef MANTA_COMPILED
#error "manta/nn/src_double.hpp belongs to the compiled mode: compile every unit of the program with -DMANTA_COMPILED"
#endif
#define MANTA_SOURCE

#if __has_include(<Eigen/Core>)

#include "manta/nn/layer.ipp"

namespace manta::nn {
template std::unique_ptr<layer<double>> make_layer(const spec&, const shape&);
}

#endif
