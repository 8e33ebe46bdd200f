// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A network of libtorch as a module that train, data_parallel and serve take, as they take nn::network: a value that
// can be copied, sent and saved. Its parameters lie in one array, its gradients in another.
//
//   struct mlp : torch::nn::SequentialImpl {
//     explicit mlp(int hidden) : SequentialImpl(torch::nn::Linear(784, hidden), torch::nn::ReLU(),
//                                               torch::nn::Linear(hidden, 10)) {}
//   };
//   manta::torch_module<float> net(manta::own<mlp>(128));                        // a class of the program's own
//   manta::torch_module<float> cnn(manta::torch_script("cnn.pt"), {.input = {1, 28, 28}});  // what Python has written
//
// Optimisers, losses and data are manta's: nn::adam, nn::cross_entropy(), train::samples. This header includes nothing
// of libtorch in the compiled mode; a program with classes of its own includes manta/torch.hpp.
#pragma once

#include <algorithm>
#include <cereal/cereal.hpp>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/module.hpp"
#include "manta/torch/core.hpp"

namespace manta {

/// T: float or double.
template <class T>
class torch_module {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "manta: torch_module is for float and double");

 public:
  using scalar = T;

  /// Empty: to be assigned to, or loaded.
  torch_module() = default;
  /// The parameters are those of initialise(0). Throws manta::error with libtorch's words if the constructor fails.
  torch_module(const torch_class& c, const torch_options& o = {}) : torch_module(detail::torch_origin{c, {}, o}) {
    initialise(0);
    is_fresh_ = true;
  }
  /// The parameters are those of the file.
  torch_module(const torch_script& s, const torch_options& o = {}) : torch_module(detail::torch_origin{{}, s, o}) {}

  torch_module(const torch_module& other) { *this = other; }
  torch_module(torch_module&&) noexcept = default;
  torch_module& operator=(const torch_module& other);
  torch_module& operator=(torch_module&&) noexcept = default;
  ~torch_module() = default;

  /// Makes the network anew by its class: what libtorch draws for this seed. A network of a file keeps its parameters.
  void initialise(std::uint64_t seed) {
    core().initialise(seed);
    is_fresh_ = false;
  }
  /// As nn::network has it: a trainer initialises a fresh network by its own seed.
  [[nodiscard]] bool is_fresh() const { return is_fresh_; }
  /// How the next passes are meant; at first as a training pass. What libtorch draws in a training pass, for dropout,
  /// follows the seed, the step and the first sample, and so the way in which a batch is divided among workers.
  void mode(const nn::pass& p) { core().mode(p); }

  /// x: numbers of a sample x samples. The result lives until the next forward. Throws manta::error
  /// with libtorch's words.
  const nn::matrix<T>& forward(const nn::matrix<T>& x) {
    const detail::torch_matrix y = core().forward({x.data(), x.rows(), x.cols()});
    y_ = Eigen::Map<const nn::matrix<T>>(static_cast<const T*>(y.data), y.rows, y.columns);
    return y_;
  }
  void backward(const nn::matrix<T>& dy) { core().backward({dy.data(), dy.rows(), dy.cols()}, nullptr); }
  /// Calls `ready` while the backward pass goes on.
  void backward(const nn::matrix<T>& dy, const nn::gradients_ready& ready) {
    core().backward({dy.data(), dy.rows(), dy.cols()}, &ready);
  }

  /// What libtorch trains (requires_grad), in the order of named_parameters().
  std::span<T> parameters() {
    is_fresh_ = false;
    return span(core_ ? core_->parameters() : detail::torch_array());
  }
  [[nodiscard]] std::span<const T> parameters() const {
    return span(core_ ? core_->parameters() : detail::torch_array());
  }
  std::span<T> gradients() { return span(core_ ? core_->gradients() : detail::torch_array()); }
  /// Running means of batch norm, and parameters that are not trained.
  std::span<T> buffers() { return span(core_ ? core_->buffers() : detail::torch_array()); }
  [[nodiscard]] std::span<const T> buffers() const { return span(core_ ? core_->buffers() : detail::torch_array()); }

  /// The class or file with the names and shapes of the parameters.
  [[nodiscard]] std::string describe() const { return core_ ? core_->describe() : "an empty torch_module"; }
  /// Writes a file for libtorch: a network of a file becomes a TorchScript file, torch.jit.load("net.pt") in Python;
  /// one of a class becomes what torch::load(net, "net.pt") reads in C++. Throws manta::error.
  void save_file(const std::string& path) const {
    if (!core_) refuse();
    core_->save(path);
  }

  template <class Archive>
  void save(Archive& archive) const {
    const bool is_empty = core_ == nullptr;
    archive(is_empty);
    if (is_empty) return;
    archive(core_->origin(), is_fresh_, core_->counts());
    for (const detail::torch_array& a : {core_->parameters(), core_->buffers()}) {
      archive(cereal::make_size_tag(static_cast<cereal::size_type>(a.size)));
      archive(cereal::binary_data(static_cast<const T*>(a.data), a.size * sizeof(T)));
    }
  }
  template <class Archive>
  void load(Archive& archive) {
    bool is_empty = true, is_fresh = false;
    archive(is_empty);
    torch_module loaded;
    if (!is_empty) {
      detail::torch_origin origin;
      std::vector<std::int64_t> counts;
      archive(origin, is_fresh, counts);
      loaded = torch_module(origin);
      loaded.core_->counts(counts);
      for (const detail::torch_array& a : {loaded.core_->parameters(), loaded.core_->buffers()}) {
        cereal::size_type size = 0;
        archive(cereal::make_size_tag(size));
        if (size != a.size)
          throw error(base::text(
              "manta: torch: {} numbers were saved of {}, which has {} of them: its class has changed since then", size,
              loaded.describe(), a.size));
        archive(cereal::binary_data(static_cast<T*>(a.data), a.size * sizeof(T)));
      }
    }
    loaded.is_fresh_ = is_fresh;
    *this = std::move(loaded);
  }

 private:
  explicit torch_module(const detail::torch_origin& o)
      : core_(std::make_unique<detail::torch_core>(o, std::is_same_v<T, double>)) {}

  [[noreturn]] static void refuse() {
    throw error("manta: torch: this torch_module is empty: assign one that was made from a class or a file");
  }
  detail::torch_core& core() {
    if (!core_) refuse();
    return *core_;
  }
  static std::span<T> span(const detail::torch_array& a) { return {static_cast<T*>(a.data), a.size}; }

  std::unique_ptr<detail::torch_core> core_;
  bool is_fresh_ = false;
  nn::matrix<T> y_;
};

template <class T>
torch_module<T>& torch_module<T>::operator=(const torch_module& other) {
  if (this == &other) return *this;
  torch_module copy;
  if (other.core_) {
    copy = torch_module(other.core_->origin());
    copy.core_->counts(other.core_->counts());
    const auto copy_numbers = [](std::span<const T> from, std::span<T> to) {
      std::copy(from.begin(), from.end(), to.begin());
    };
    copy_numbers(other.parameters(), copy.parameters());
    copy_numbers(other.buffers(), copy.buffers());
    copy.is_fresh_ = other.is_fresh_;
  }
  return *this = std::move(copy);
}

}  // namespace manta
