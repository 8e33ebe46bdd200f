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
//     optimizer.step(net);
//   }
#pragma once

#include <algorithm>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "manta/nn/aligned.hpp"
#include "manta/nn/layer/chain.hpp"
#include "manta/nn/layers.hpp"
#include "manta/nn/module.hpp"
#include "manta/nn/parameter_groups.hpp"
#include "manta/nn/parameter_span.hpp"

namespace manta::nn {

namespace detail {
/// Whether Eigen can make a matrix of T of it.
template <class T, class Other>
constexpr bool is_matrix_of = [] {
  if constexpr (requires { typename Other::Scalar; }) return std::is_same_v<typename Other::Scalar, T>;
  return std::is_convertible_v<const Other&, const matrix<T>&>;
}();

template <class... Layers>
std::vector<spec> specs_of(Layers&&... layers) {
  constexpr bool are_layers = (std::is_convertible_v<Layers, spec> && ...);
  static_assert(are_layers,
                "manta: nn: the arguments after the shape are layers: nn::linear(10), nn::relu() and others of "
                "manta/nn/layers.hpp");
  if constexpr (are_layers) return std::vector<spec>{std::forward<Layers>(layers)...};
  return {};
}
}  // namespace detail

/// `T`: float, if it is left out, or double.
template <class T = float>
class network {
 public:
  using scalar = T;

  /// Empty: forward gives its input. To be assigned to, or loaded.
  network();
  /// Checks all shapes: throws manta::error that names the layer, what it gets and what it needs. The parameters are
  /// those of initialise(0).
  template <class... Layers>
    requires(sizeof...(Layers) != 1 || !(std::is_convertible_v<Layers, std::vector<spec>> && ...))
  explicit network(const shape& in, Layers&&... layers)
      : network(in, detail::specs_of(std::forward<Layers>(layers)...)) {}
  network(const shape& in, std::vector<spec> layers);
  template <class First, class... Layers>
    requires(!std::is_convertible_v<const First&, shape> && !std::is_base_of_v<network, First>)
  explicit network(const First&, const Layers&...) {
    static_assert(sizeof(First) == 0,
                  "manta: nn: a network begins with the shape of a sample: nn::network<float>(nn::shape{784}, "
                  "nn::linear(10))");
  }

  network(const network& other);
  network(network&&) noexcept;
  network& operator=(const network& other);
  network& operator=(network&&) noexcept;
  ~network();

  /// Draws all parameters anew: the same numbers for a seed on every machine.
  void initialise(std::uint64_t seed);
  /// How the next passes are meant; at first as a training pass.
  void mode(const pass& p) { pass_ = p; }

  /// x: features x samples. The result, outputs x samples, is the network's and lives until the next forward. Throws if
  /// the number of features is wrong. Allocates only when a batch is larger than those before.
  const matrix<T>& forward(const matrix<T>& x);
  template <class Other>
    requires(!detail::is_matrix_of<T, Other>)
  const matrix<T>& forward(const Other&) = delete;  // manta: an nn::matrix of the network's type, features x samples

  /// Steps of sequences, for networks with recurrent layers (nn::lstm, nn::gru) whose input is one step. `state` has a
  /// column for each sample and is carried from call to call: the call begins with it, and leaves in it what is there
  /// after the last step. x has the steps one after the other, each with all samples: step t of sample i is column
  /// t * samples + i. Where `resets` is not 0, which has a number for each column of x, the sample's state is zero
  /// before that step. backward then goes through all steps of the call, and not beyond its beginning and the resets.
  ///
  ///   nn::matrix<float> state = net.initial_state(environments);
  ///   net.forward(x, state);                       // one step of each environment
  ///   state.col(i).setZero();                      // environment i begins again
  const matrix<T>& forward(const matrix<T>& x, matrix<T>& state, std::span<const unsigned char> resets = {});
  /// Numbers of a sample's state; 0 without recurrent layers.
  [[nodiscard]] int state_size() const { return layers_.state_size(); }
  [[nodiscard]] matrix<T> initial_state(int samples) const { return matrix<T>::Zero(state_size(), samples); }

  /// dy: the gradient of the loss by the result of the last forward. Adds to gradients().
  void backward(const matrix<T>& dy) { run_back(dy, nullptr, nullptr); }
  /// As above, and calls `ready` for each layer's gradients once they are final, from the last layer to the first.
  void backward(const matrix<T>& dy, const gradients_ready& ready) { run_back(dy, &ready, nullptr); }
  template <class Number = int>
    requires(std::is_arithmetic_v<Number>)
  void backward(Number = {}) {
    static_assert(sizeof(Number) == 0,
                  "manta: nn: backward takes the gradient of the loss by the network's result: auto [loss, dy] = "
                  "nn::cross_entropy(y, labels); net.backward(dy)");
  }
  /// As above, and gives the gradient of the loss by x as well, which costs more. The network's own,
  /// as forward's result.
  const matrix<T>& backward_to_input(const matrix<T>& dy) {
    run_back(dy, nullptr, &input_gradient_);
    return input_gradient_;
  }

  /// Whether layers take sums over all workers that train together (pass::sum_over_workers).
  [[nodiscard]] bool sums_over_workers() const { return layers_.sums_over_workers(); }
  /// A worker without samples takes part in these sums with zeros, in the order of forward and backward. `ready` is
  /// called for all gradients.
  void forward_without_samples() { layers_.forward_without_samples(pass_); }
  void backward_without_samples(const gradients_ready& ready) { layers_.backward_without_samples(false, &ready); }

  /// The span knows which parameters are frozen, as long as none is frozen or unfrozen.
  parameter_span<T> parameters() {
    is_fresh_ = false;
    return {parameters_, frozen_ranges_};
  }
  [[nodiscard]] parameter_span<const T> parameters() const { return {parameters_, frozen_ranges_}; }
  std::span<T> gradients() { return gradients_; }
  [[nodiscard]] std::span<const T> gradients() const { return gradients_; }
  void zero_gradients() { std::fill(gradients_.begin(), gradients_.end(), T(0)); }

  /// Numbers besides the parameters that training changes: the running means and variances of batch norm.
  std::span<T> buffers() { return buffers_; }
  [[nodiscard]] std::span<const T> buffers() const { return buffers_; }

  [[nodiscard]] const shape& input_shape() const { return in_; }
  [[nodiscard]] const shape& output_shape() const { return layers_.output_shape(); }
  /// The layers, as they were given.
  [[nodiscard]] const std::vector<spec>& specs() const { return specs_; }
  /// The parameters are still those of the constructor. A trainer initialises a fresh network by its own seed, and
  /// leaves one alone that was initialised, loaded or changed.
  [[nodiscard]] bool is_fresh() const { return is_fresh_; }
  /// The architecture in words: "784 -> linear(..) -> relu() -> 10". Networks of equal text have the same parameters.
  [[nodiscard]] std::string describe() const;

  /// A table for people: each layer with its output, parameters, bytes, and the operations of a forward for a sample
  /// (an addition and a multiplication count as two).
  [[nodiscard]] std::string summary() const;

  using array = named_array;
  /// The arrays of parameters().
  [[nodiscard]] std::vector<array> arrays() const;
  /// The arrays of buffers(): "1.running_mean".
  [[nodiscard]] std::vector<array> buffer_arrays() const;

  /// Excludes the arrays whose names match the pattern from training: freeze("0.*") the first layer, freeze("*") all.
  /// Their gradients stay 0, backward leaves out the layers below the first one that is trained, and
  /// optimizer::step(net) neither moves nor decays them. A layer all of whose arrays are frozen runs as in use: batch
  /// norm by its running means. Throws if no name matches.
  void freeze(const std::string& pattern) { set_frozen(pattern, true); }
  void unfreeze(const std::string& pattern = "*") { set_frozen(pattern, false); }
  [[nodiscard]] bool has_frozen() const { return !frozen_.empty(); }
  /// Freezes what is frozen in another network of the same architecture, and nothing else.
  void freeze_as(const network& other) { keep_frozen(other.frozen_); }

  template <class Archive>
  void save(Archive& archive) const;
  /// Gradients are not saved: they are zero after loading.
  template <class Archive>
  void load(Archive& archive);

 private:
  void run_back(const matrix<T>& dy, const gradients_ready* ready, matrix<T>* dx);
  void take(const std::vector<T>& parameters, const std::vector<T>& buffers);
  void set_frozen(const std::string& pattern, bool frozen);
  void keep_frozen(std::vector<unsigned char> frozen);

  shape in_;
  std::vector<spec> specs_;
  detail::chain<T> layers_;
  detail::aligned_vector<T> parameters_, gradients_, buffers_;
  typename parameter_span<T>::frozen_ranges frozen_ranges_;
  std::vector<unsigned char> frozen_;  ///< a byte for each of arrays(): 1 if it is frozen; empty if none is
  bool is_fresh_ = true;
  pass pass_;
  matrix<T> x_, y_, input_gradient_;
};

template <class T>
template <class Archive>
void network<T>::save(Archive& archive) const {
  archive(in_, specs_, parameters_, buffers_, frozen_);
}
template <class T>
template <class Archive>
void network<T>::load(Archive& archive) {
  shape in;
  std::vector<spec> specs;
  std::vector<T> parameters, buffers;
  std::vector<unsigned char> frozen;
  archive(in, specs, parameters, buffers, frozen);
  *this = network(in, std::move(specs));
  take(parameters, buffers);
  keep_frozen(std::move(frozen));
}

#ifdef MANTA_COMPILED
extern template class network<float>;
extern template class network<double>;
extern template void network<float>::save(cereal::BinaryOutputArchive&) const;
extern template void network<double>::save(cereal::BinaryOutputArchive&) const;
extern template void network<float>::load(cereal::BinaryInputArchive&);
extern template void network<double>::load(cereal::BinaryInputArchive&);
#endif

}  // namespace manta::nn

#ifndef MANTA_COMPILED
#include "manta/nn/network.ipp"
#endif
