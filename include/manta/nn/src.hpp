// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of nn, small networks, compiled once in the compiled mode (base/config.hpp). manta/src.hpp includes
// this file. A build that defines MANTA_SOURCES_APART compiles this file, src_float.hpp and src_double.hpp as sources
// of their own instead.
#pragma once

#ifndef MANTA_COMPILED
#error "manta/nn/src.hpp belongs to the compiled mode: compile every unit of the program with -DMANTA_COMPILED"
#endif
#define MANTA_SOURCE

#if __has_include(<Eigen/Core>)

#include "manta/nn/checks.ipp"
#include "manta/nn/graph.ipp"
#include "manta/nn/graph_shapes.ipp"
#include "manta/nn/layers.ipp"
#include "manta/nn/loss.ipp"
#include "manta/nn/network.ipp"
#include "manta/nn/onnx.ipp"
#include "manta/nn/optimizer.ipp"
#include "manta/nn/parameter_groups.ipp"
#include "manta/nn/random.ipp"
#include "manta/nn/schedule.ipp"
#include "manta/nn/shape.ipp"
#include "manta/nn/source.hpp"
#include "manta/nn/spec.ipp"
#include "manta/nn/summary.ipp"
#if __has_include(<nlohmann/json.hpp>)
#include "manta/nn/keras.ipp"
#include "manta/nn/weights.ipp"
#endif

namespace manta::nn {
extern template std::unique_ptr<layer<float>> make_layer(const spec&, const shape&);
extern template std::unique_ptr<layer<double>> make_layer(const spec&, const shape&);
template class network<float>;
template class network<double>;
template void network<float>::save(cereal::BinaryOutputArchive&) const;
template void network<double>::save(cereal::BinaryOutputArchive&) const;
template void network<float>::load(cereal::BinaryInputArchive&);
template void network<double>::load(cereal::BinaryInputArchive&);
template void optimizer::serialize(cereal::BinaryOutputArchive&);
template void optimizer::serialize(cereal::BinaryInputArchive&);
template void loss::serialize(cereal::BinaryOutputArchive&);
template void loss::serialize(cereal::BinaryInputArchive&);
template float loss::over(const matrix<float>&, const targets<float>&, matrix<float>&, double) const;
template double loss::over(const matrix<double>&, const targets<double>&, matrix<double>&, double) const;
template double loss::weight(const targets<float>&) const;
template double loss::weight(const targets<double>&) const;
template Eigen::Index correct(const matrix<float>&, std::span<const int>);
template Eigen::Index correct(const matrix<double>&, std::span<const int>);
MANTA_PROVIDES_SOURCE(one_source_of_this_program_has_to_include_manta_src_hpp_and_to_find_Eigen);
MANTA_PROVIDES_SOURCE(MANTA_EIGEN_ALIGNMENT);
}  // namespace manta::nn

#endif

#ifndef MANTA_SOURCES_APART
#include "manta/nn/src_double.hpp"
#include "manta/nn/src_float.hpp"
#endif
