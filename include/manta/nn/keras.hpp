// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Opt-in, needs nlohmann's JSON: weights of a Keras model for a network of the same layers. Keras has other names and
// orders of numbers: kernels have the inputs first, images the channels last, recurrent layers other gates.
//
//   Python:  numpy.savez("net.npz", *model.get_weights())
//   C++:     std::cout << nn::load_keras("net.npz", net).text();
#pragma once

#include <map>
#include <string>
#include <vector>

#include "manta/nn/weights.hpp"

namespace manta::nn {

struct keras_options {
  /// The name that Keras has for each layer with weights, by its place in the network: {{"0", "dense"}, {"2", "out"}}.
  /// An array is then found by the names in its path, as in "dense/kernel" or "layers/dense/vars/0". Empty: the arrays
  /// are those of the layers in their order, as model.get_weights() gives them.
  std::map<std::string, std::string> layers = {};
};

/// What load_keras has done.
struct keras_report {
  std::vector<std::string> loaded;  ///< "0.weight <- dense/kernel of 784 x 128", with the network's names
  std::vector<std::string> unused;  ///< arrays of the file that went nowhere, by its names; only by names of layers
  std::vector<std::string> notes;   ///< settings that are others in Keras where nothing is said
  [[nodiscard]] MANTA_DECL std::string text() const;
};

namespace detail {
/// The numbers of the network's arrays, by their names. `arrays` are those of the network.
MANTA_DECL std::map<std::string, std::vector<double>> keras_numbers(const std::string& source, const shape& in,
                                                                    const std::vector<spec>& layers,
                                                                    const std::vector<stored_array>& file,
                                                                    const keras_options& options, keras_report& report);
}  // namespace detail

/// Takes the arrays of a model of Keras, wherever the program has read them, such as HDF5; `source` is named in
/// messages. The network has to have the model's layers in their order, with channels first where Keras has them last;
/// the features of an image that was flattened are turned as well. GRU with reset_after=True, Keras' default. Throws
/// manta::error, with what was expected and what is there, and leaves the network as it was, unless each of its arrays
/// has a counterpart. The network is then in use, as after load_weights.
template <class T>
keras_report load_keras(const std::vector<stored_array>& arrays, network<T>& net, const keras_options& options = {},
                        const std::string& source = "the arrays") {
  keras_report report;
  const auto all = detail::keras_numbers(source, net.input_shape(), net.specs(), arrays, options, report);
  const auto take = [&](const std::vector<named_array>& own, std::span<T> numbers) {
    for (const named_array& a : own) {
      const std::vector<double>& its = all.at(a.name);
      for (std::size_t i = 0; i < its.size(); ++i) numbers[a.begin + i] = static_cast<T>(its[i]);
    }
  };
  take(net.arrays(), net.parameters());
  take(net.buffer_arrays(), net.buffers());
  net.mode({.training = false});
  return report;
}

/// Reads the weights from a `.npz` or `.safetensors` file.
template <class T>
keras_report load_keras(const std::string& path, network<T>& net, const keras_options& options = {}) {
  return load_keras(read_arrays(path), net, options, path);
}

}  // namespace manta::nn

#ifndef MANTA_COMPILED
#include "manta/nn/keras.ipp"
#endif
