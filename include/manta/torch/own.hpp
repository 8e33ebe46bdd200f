// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Classes of the program's own, derived from torch::nn::Module, as networks: manta::own<mlp>(128).
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "manta/torch/headers.hpp"
#include "manta/torch/net.hpp"

namespace manta::detail {

template <class Net>
class torch_net_of final : public torch_net {
 public:
  template <class... Args>
    requires(std::is_constructible_v<Net, Args...>)
  explicit torch_net_of(Args&&... arguments) : net_(std::make_shared<Net>(std::forward<Args>(arguments)...)) {}

  at::Tensor forward(const at::Tensor& x) override { return net_->forward(x); }
  named parameters() override { return list(net_->named_parameters()); }
  named buffers() override { return list(net_->named_buffers()); }
  void train(bool on) override { net_->train(on); }
  void save(const std::string& path) override { torch::save(net_, path); }

 private:
  static named list(const torch::OrderedDict<std::string, at::Tensor>& tensors) {
    named all;
    for (const auto& t : tensors) all.emplace_back(t.key(), t.value());
    return all;
  }
  std::shared_ptr<Net> net_;
};

template <class Net>
struct standing_for<torch_net, Net> {
  static_assert(std::is_base_of_v<torch::nn::Module, Net>,
                "manta: own: a network of libtorch is a class derived from torch::nn::Module with a member "
                "torch::Tensor forward(torch::Tensor); of a class made by TORCH_MODULE name the one that ends in Impl");
  using type = torch_net_of<Net>;
};

}  // namespace manta::detail
