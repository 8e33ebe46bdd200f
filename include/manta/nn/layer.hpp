// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A layer with its scalar type and shapes: what a network runs. Users write specs (layers.hpp); layer/ has the layers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
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

/// All numbers of these arrays.
inline std::size_t size_of(const std::vector<parameter_array>& arrays) {
  std::size_t n = 0;
  for (const parameter_array& a : arrays) n += static_cast<std::size_t>(a.extents.size());
  return n;
}

/// Parameters of a layer from the first number to before the second.
using parameter_range_in_layer = std::pair<std::size_t, std::size_t>;

/// What recurrent layers carry from step to step, during one forward of network<T>::forward(x, state, resets).
template <class T>
struct carried {
  matrix<T>* state = nullptr;  ///< all layers' state x samples; null: each sequence begins at zero
  Eigen::Index first_row = 0;  ///< where the layer's part begins
  std::span<const unsigned char>
      resets{};  ///< a byte for each column of x: not 0 where a sequence begins anew; empty: nowhere
};

/// Parameters, gradients and buffers lie in the network's arrays: `bind` says where. All matrices are features x
/// samples. A layer may keep what its backward needs of the last forward, in memory that it uses again.
template <class T>
class layer {
 public:
  layer(shape in, shape out) : in_(std::move(in)), out_(std::move(out)) {}
  virtual ~layer() = default;
  [[nodiscard]] virtual std::unique_ptr<layer> clone() const = 0;

  [[nodiscard]] const shape& input_shape() const { return in_; }
  [[nodiscard]] const shape& output_shape() const { return out_; }

  [[nodiscard]] virtual std::vector<parameter_array> arrays() const { return {}; }
  /// Numbers that a layer keeps besides its parameters, such as the running means of batch norm: saved with the
  /// network, and set by initialise.
  [[nodiscard]] virtual std::vector<parameter_array> buffer_arrays() const { return {}; }
  /// The layer's part of the network's parameters, gradients and buffers, as long as its arrays together.
  virtual void bind(T*, T*, T*) {}
  virtual void initialise(const random&) {}
  /// For a layer with the weights of another one: where these lie, and whether they are not trained.
  virtual void bind_tied(T* /*parameters*/, T* /*gradients*/) {}
  virtual void freeze_tied(bool /*is_frozen*/) {}

  /// Additions and multiplications of a forward for a sample. An operation for each number of the output, unless the
  /// layer says more.
  [[nodiscard]] virtual double flops() const { return out_.size(); }

  /// How many numbers a sample's state has; 0 but for recurrent layers.
  [[nodiscard]] virtual int state_size() const { return 0; }
  /// For the forwards that follow, until it is called again.
  virtual void carry(const carried<T>&) {}

  /// For each sample the positions of its sequence that count, for the forwards that follow, until it is called again;
  /// empty: all do. Layers that join positions leave out the others.
  virtual void lengths(std::span<const int>) {}
  /// Throws if a layer inside of this one gives a sequence that is not as long: lengths would not
  /// be those of its positions.
  virtual void check_lengths(int /*length*/) const {}
  /// These ranges of the layer's parameters, in their order, are not trained; layers that consist of layers use that.
  virtual void freeze(const std::vector<parameter_range_in_layer>&) {}

  /// Whether forward uses pass::seed; then the seed is the layer's own.
  [[nodiscard]] virtual bool draws() const { return false; }
  /// Writes y, which it resizes.
  virtual void forward(const matrix<T>& x, matrix<T>& y, const pass& p) = 0;
  /// x and y are those of the last forward. Adds to the gradients, and writes dx unless it is null.
  virtual void backward(const matrix<T>& x, const matrix<T>& y, const matrix<T>& dy, matrix<T>* dx) = 0;
  /// Whether parts of the gradients are final before the end of backward.
  [[nodiscard]] virtual bool has_parts() const { return false; }
  /// If it has: as backward, and calls `ready` for ranges of the layer's gradients, from the last to the first.
  virtual void backward_in_parts(const matrix<T>& x, const matrix<T>& y, const matrix<T>& dy, matrix<T>* dx,
                                 const gradients_ready& /*ready*/) {
    backward(x, y, dy, dx);
  }

  /// Whether the layer calls pass::sum_over_workers.
  [[nodiscard]] virtual bool sums_over_workers() const { return false; }
  /// Makes the sums over workers that forward makes, with zeros, for a worker without samples.
  virtual void forward_without_samples(const pass&) {}
  /// Makes those that backward makes, where it is asked for the gradient by its input or not. Calls `ready`, unless it
  /// is null, for the layer's gradients, as backward_in_parts does.
  virtual void backward_without_samples(bool /*wants_dx*/, const gradients_ready* ready) {
    if (const std::size_t size = size_of(arrays()); ready && size > 0) (*ready)(0, size);
  }

 protected:
  /// The operations of products of all weights, which are used once at each of these positions of a sample.
  [[nodiscard]] double flops_of_products(double positions) const {
    double weights = 0;
    for (const parameter_array& a : arrays()) weights += a.extents.dimensions() > 1 ? a.extents.size() : 0;
    return 2 * weights * positions;
  }

 private:
  shape in_, out_;
};

/// A batch of sequences, length x features a column, as a matrix of features x (samples * length): a column a position.
/// A batch of vectors is that of sequences of one position.
template <class T>
Eigen::Map<const matrix<T>> positions(const matrix<T>& x, Eigen::Index features) {
  return {x.data(), features, x.size() / features};
}

/// The layer that a spec describes, for inputs of this shape. Throws manta::error if the shape does not suit it; the
/// text has what the layer got and what it needs, and the network adds which layer it is.
template <class T>
std::unique_ptr<layer<T>> make_layer(const spec& s, const shape& in);

}  // namespace manta::nn
