// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A network of layers, for float or double: a value that can be copied, sent and saved. All parameters lie in one array
// and all gradients in another.
//
//   nn::network<float> net(nn::shape{784}, nn::linear(128), nn::relu(), nn::linear(10));
//   net.initialise(seed);
//   for (...) {
//     auto [loss, dy] = nn::cross_entropy(net.forward(x), labels);   // x: features x samples
//     net.zero_gradients();
//     net.backward(dy);                                             // adds to net.gradients()
//     optimizer.step(net.parameters(), net.gradients());
//   }
#pragma once

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "manta/nn/layer.hpp"
#include "manta/nn/layers.hpp"
#include "manta/nn/module.hpp"

namespace manta::nn {

template <class T>
class network {
 public:
  using scalar = T;

  /// Empty: forward gives its input. To be assigned to, or loaded.
  network() = default;
  /// Checks all shapes: throws manta::error that names the layer, what it gets and what it needs. The parameters are
  /// those of initialise(0).
  template <std::convertible_to<spec>... Layers>
  explicit network(const shape& in, Layers&&... layers)
      : network(in, std::vector<spec>{std::forward<Layers>(layers)...}) {}
  network(const shape& in, std::vector<spec> layers);

  network(const network& other);
  network(network&&) noexcept = default;
  network& operator=(const network& other);
  network& operator=(network&&) noexcept = default;
  ~network() = default;

  /// Draws all parameters anew: the same numbers for a seed on every machine.
  void initialise(std::uint64_t seed);
  /// How the next passes are meant; at first as a training pass.
  void mode(const pass& p) { pass_ = p; }

  /// x: features x samples. The result, outputs x samples, is the network's and lives until the next forward. Throws if
  /// the number of features is wrong. Allocates only when a batch is larger than those before.
  const matrix<T>& forward(const matrix<T>& x);

  /// dy: the gradient of the loss by the result of the last forward. Adds to gradients().
  void backward(const matrix<T>& dy) { run_back(dy, nullptr, nullptr); }
  /// As above, and calls `ready` for each layer's gradients once they are final, from the last layer to the first.
  void backward(const matrix<T>& dy, const gradients_ready& ready) { run_back(dy, &ready, nullptr); }
  /// As above, and gives the gradient of the loss by x as well, which costs more. The network's own, as forward's
  /// result.
  const matrix<T>& backward_to_input(const matrix<T>& dy) {
    run_back(dy, nullptr, &input_gradient_);
    return input_gradient_;
  }

  std::span<T> parameters() {
    is_fresh_ = false;
    return parameters_;
  }
  [[nodiscard]] std::span<const T> parameters() const { return parameters_; }
  std::span<T> gradients() { return gradients_; }
  [[nodiscard]] std::span<const T> gradients() const { return gradients_; }
  void zero_gradients() { std::fill(gradients_.begin(), gradients_.end(), T(0)); }

  [[nodiscard]] const shape& input_shape() const { return in_; }
  [[nodiscard]] const shape& output_shape() const { return layers_.empty() ? in_ : layers_.back()->output_shape(); }
  /// The layers, as they were given.
  [[nodiscard]] const std::vector<spec>& specs() const { return specs_; }
  /// The parameters are still those of the constructor. A trainer initialises a fresh network by its own seed, and leaves
  /// one alone that was initialised, loaded or changed.
  [[nodiscard]] bool is_fresh() const { return is_fresh_; }
  /// The architecture in words: "784 -> linear(..) -> relu() -> 10". Networks of equal text have the same parameters.
  [[nodiscard]] std::string describe() const;

  /// An array of parameters and where it begins in parameters(). Names are the layer's number and the array's:
  /// "0.weight".
  struct array {
    std::string name;
    shape extents;
    std::size_t begin;
  };
  [[nodiscard]] std::vector<array> arrays() const;

  template <class Archive>
  void save(Archive& archive) const {
    archive(in_, specs_, parameters_, all_buffers());
  }
  /// Gradients are not saved: they are zero after loading.
  template <class Archive>
  void load(Archive& archive) {
    shape in;
    std::vector<spec> specs;
    std::vector<T> parameters, buffers;
    archive(in, specs, parameters, buffers);
    *this = network(in, std::move(specs));
    take(parameters, buffers);
  }

 private:
  void bind();
  void run_back(const matrix<T>& dy, const gradients_ready* ready, matrix<T>* dx);
  [[nodiscard]] std::vector<T> all_buffers() const;
  void take(const std::vector<T>& parameters, const std::vector<T>& buffers);

  shape in_;
  std::vector<spec> specs_;
  std::vector<std::unique_ptr<layer<T>>> layers_;
  std::vector<std::size_t> begins_;  ///< where each layer's parameters begin; one more at the end
  std::vector<T> parameters_, gradients_;
  bool is_fresh_ = true;
  pass pass_;
  std::vector<matrix<T>> values_;              ///< the input and each layer's result
  std::vector<matrix<T>> gradients_by_value_;  ///< of the loss, by the results of the layers but the last
  matrix<T> input_gradient_;
};

#ifdef MANTA_COMPILED
extern template class network<float>;
extern template class network<double>;
#endif

}  // namespace manta::nn

#ifndef MANTA_COMPILED
#include "manta/nn/network.ipp"
#endif
