// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Sequences of different lengths: words at the end of a sequence that stand for nothing are left out where positions
// are joined, by attention, last and mean.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "manta/nn/layer/chain.hpp"

namespace manta::nn::detail {

template <class T>
class masked_layer final : public layer<T> {
 public:
  masked_layer(const spec& s, const shape& in) : masked_layer(s.sizes[0], chain<T>(in, s.parts, "it"), in) {
    if (in.dimensions() != 1) throw error("it needs a sequence of words, nn::shape{length}");
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<masked_layer>(*this); }

  [[nodiscard]] std::vector<parameter_array> arrays() const override { return chain_.arrays(); }
  [[nodiscard]] double flops() const override { return chain_.flops(); }
  [[nodiscard]] std::vector<parameter_array> buffer_arrays() const override { return chain_.buffer_arrays(); }
  void bind(T* parameters, T* gradients, T* buffers) override { chain_.bind(parameters, gradients, buffers); }
  void initialise(const random& numbers) override { chain_.initialise(numbers); }
  [[nodiscard]] bool draws() const override { return true; }
  void freeze(const std::vector<parameter_range_in_layer>& all) override { chain_.freeze(all); }

  void forward(const matrix<T>& x, matrix<T>& y, const pass& p) override {
    lengths_.resize(static_cast<std::size_t>(x.cols()));
    for (Eigen::Index s = 0; s < x.cols(); ++s) {
      Eigen::Index length = x.rows();
      while (length > 0 && x(length - 1, s) == padding_) --length;
      lengths_[static_cast<std::size_t>(s)] = static_cast<int>(length);
    }
    chain_.lengths(lengths_);
    chain_.forward(x, y, p);
  }
  void backward(const matrix<T>& x, const matrix<T>& y, const matrix<T>& dy, matrix<T>* dx) override {
    chain_.backward(x, y, dy, dx, nullptr);
  }
  [[nodiscard]] bool sums_over_workers() const override { return chain_.sums_over_workers(); }
  void forward_without_samples(const pass& p) override { chain_.forward_without_samples(p); }
  void backward_without_samples(bool wants_dx, const gradients_ready* ready) override {
    chain_.backward_without_samples(wants_dx, ready);
  }
  [[nodiscard]] bool has_parts() const override { return chain_.size() > 0; }
  void backward_in_parts(const matrix<T>& x, const matrix<T>& y, const matrix<T>& dy, matrix<T>* dx,
                         const gradients_ready& ready) override {
    chain_.backward(x, y, dy, dx, &ready);
  }

 private:
  masked_layer(int padding, chain<T> layers, const shape& in)
      : layer<T>(in, layers.output_shape()), padding_(static_cast<T>(padding)), chain_(std::move(layers)) {}

  T padding_;
  chain<T> chain_;
  std::vector<int> lengths_;  ///< of the samples of the last forward
};

}  // namespace manta::nn::detail
