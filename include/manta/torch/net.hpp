// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A network of libtorch behind one interface, whether the program has its class or a TorchScript file describes it.
// Nothing here includes libtorch.
#pragma once

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manta/own.hpp"
#include "manta/torch/source.hpp"

namespace at {
class Tensor;
}

namespace manta {

namespace detail {

class torch_net {
 public:
  /// Tensors and their names.
  using named = std::vector<std::pair<std::string, at::Tensor>>;

  torch_net() = default;
  torch_net(const torch_net&) = delete;
  torch_net& operator=(const torch_net&) = delete;
  virtual ~torch_net() = default;
  virtual at::Tensor forward(const at::Tensor& x) = 0;
  virtual named parameters() = 0;
  virtual named buffers() = 0;
  virtual void train(bool on) = 0;
  /// To a file that libtorch reads.
  virtual void save(const std::string& path) = 0;
};

}  // namespace detail

/// The class of a network, derived from torch::nn::Module, with its constructor's arguments: manta::own<mlp>(128).
using torch_class = own_class<detail::torch_net>;

/// A TorchScript file, as torch.jit.script(net).save("net.pt") writes it, as a value: its bytes.
class torch_script {
 public:
  torch_script() = default;
  /// Reads the file, and has libtorch look at it. Throws manta::error if it is missing or no TorchScript.
  MANTA_DECL explicit torch_script(const std::string& path);

  /// The file's name; empty: there is none.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(path_, bytes_);
  }

 private:
  std::string path_, bytes_;
};

/// In which type libtorch computes what gains by it; parameters, gradients and outputs keep their own.
enum class torch_autocast : std::uint8_t { none, bfloat16, float16 };

struct torch_options {
  /// The extents of a sample, such as {1, 28, 28}; empty: a row of numbers.
  std::vector<std::int64_t> input = {};
  /// Mixed precision. Networks of float alone; float16 is refused on processors, for libtorch has it on GPUs only.
  torch_autocast autocast = torch_autocast::none;
  /// By this power of two the gradient of the loss is multiplied before the backward pass, and what it adds to the
  /// gradients is divided afterwards: so that small gradients do not vanish in a type with few bits.
  double loss_scale = 1;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(input), CEREAL_NVP(autocast), CEREAL_NVP(loss_scale));
  }
};

namespace detail {

/// What a network is made from: a class or a file.
struct torch_origin {
  torch_class from_class;
  torch_script from_script;
  torch_options options;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(from_class, from_script, options);
  }
};

}  // namespace detail

}  // namespace manta
