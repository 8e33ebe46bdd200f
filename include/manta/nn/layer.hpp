// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A layer with its scalar type and shapes: what a network runs. Users write specs (layers.hpp); layer/ has the layers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "manta/nn/module.hpp"
#include "manta/nn/random.hpp"
#include "manta/nn/shape.hpp"
#include "manta/nn/spec.hpp"

namespace manta::nn {

/// An array of a layer's parameters, in the order and with the name that PyTorch gives it.
struct parameter_array {
  std::string name;  ///< "weight", "bias"
  shape extents;     ///< the last extent fastest
};

/// Parameters and gradients lie in the network's arrays: `bind` says where. All matrices are features x samples. A
/// layer may keep what its backward needs of the last forward, in memory that it uses again.
template <class T>
class layer {
 public:
  layer(shape in, shape out) : in_(std::move(in)), out_(std::move(out)) {}
  virtual ~layer() = default;
  [[nodiscard]] virtual std::unique_ptr<layer> clone() const = 0;

  [[nodiscard]] const shape& input_shape() const { return in_; }
  [[nodiscard]] const shape& output_shape() const { return out_; }

  [[nodiscard]] virtual std::vector<parameter_array> arrays() const { return {}; }
  /// The layer's part of the network's parameters and gradients, as long as its arrays together.
  virtual void bind(T* parameters, T* gradients) {
    (void)parameters;
    (void)gradients;
  }
  virtual void initialise(const random& numbers) { (void)numbers; }
  /// Numbers that a layer keeps besides its parameters, such as the running means of batch norm: saved with the
  /// network.
  virtual std::span<T> buffers() { return {}; }

  /// Writes y, which it resizes.
  virtual void forward(const matrix<T>& x, matrix<T>& y, const pass& p) = 0;
  /// x and y are those of the last forward. Adds to the gradients, and writes dx unless it is null.
  virtual void backward(const matrix<T>& x, const matrix<T>& y, const matrix<T>& dy, matrix<T>* dx) = 0;

 private:
  shape in_, out_;
};

/// The layer that a spec describes, for inputs of this shape. Throws manta::error if the shape does not suit it; the
/// text has what the layer got and what it needs, and the network adds which layer it is.
template <class T>
std::unique_ptr<layer<T>> make_layer(const spec& s, const shape& in);

}  // namespace manta::nn
