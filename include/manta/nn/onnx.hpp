// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Opt-in: networks as ONNX models, which ONNX Runtime, OpenVINO, TensorRT and others run.
//
//   nn::save_onnx("net.onnx", net);   // Python: onnxruntime.InferenceSession("net.onnx").run(None, {"input": x})
//
// The input has the batch first, then the shape of a sample: {batch, 3, 32, 32}. That is a matrix of features x samples
// as it lies in memory. Numbers are 32-bit floats, also those of words for nn::embedding. The model predicts: dropout
// is left out, and batch norm has its running means.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "manta/nn/network.hpp"
#include "manta/nn/source.hpp"

namespace manta::nn {

struct onnx_options {
  int batch = 0;  ///< samples of the input; 0: any number
  std::string input = "input", output = "output";
};

namespace detail {
/// An array of a network.
struct onnx_numbers {
  shape extents;
  std::vector<float> numbers;
};
MANTA_DECL void write_onnx(const std::string& path, const shape& in, const std::vector<spec>& layers,
                           const std::map<std::string, onnx_numbers>& arrays, const onnx_options& options);
}  // namespace detail

/// Writes the network as a model of ONNX, of operators of version 17. Throws manta::error, and writes nothing, if a
/// layer has no counterpart there: nn::own, nn::masked, nn::step_attention, and lstm and gru with steps as samples.
template <class T>
void save_onnx(const std::string& path, const network<T>& net, const onnx_options& options = {}) {
  std::map<std::string, detail::onnx_numbers> all;
  const auto add = [&](const std::vector<named_array>& arrays, std::span<const T> numbers) {
    for (const named_array& a : arrays) {
      const auto its = numbers.subspan(a.begin, static_cast<std::size_t>(a.extents.size()));
      detail::onnx_numbers& to = all[a.name];
      to.extents = a.extents;
      for (const T n : its) to.numbers.push_back(static_cast<float>(n));
    }
  };
  add(net.arrays(), net.parameters());
  add(net.buffer_arrays(), net.buffers());
  detail::write_onnx(path, net.input_shape(), net.specs(), all, options);
}

}  // namespace manta::nn

#ifndef MANTA_COMPILED
#include "manta/nn/onnx.ipp"
#endif
