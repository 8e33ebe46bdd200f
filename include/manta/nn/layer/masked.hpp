// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Sequences of different lengths: positions at the end of a sequence that stand for nothing are left out where
// positions are joined, by attention, last and mean.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "manta/nn/layer/chain.hpp"

namespace manta::nn::detail {

template <class T>
class masked_layer final : public chain_layer<T> {
 public:
  masked_layer(const spec& s, const shape& in)
      : chain_layer<T>(chain<T>(in, s.parts, "it"), in), padding_(static_cast<T>(s.sizes[0])) {
    if (in.dimensions() != 1 && in.dimensions() != 2)
      throw error("it needs a sequence of words, nn::shape{length}, or of features, nn::shape{length, features}");
    this->chain_.check_lengths(in[0]);
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<masked_layer>(*this); }

  void forward(const matrix<T>& x, matrix<T>& y, const pass& p) override {
    lengths_.resize(static_cast<std::size_t>(x.cols()));
    const Eigen::Index features = x.rows() / this->input_shape()[0];
    for (Eigen::Index s = 0; s < x.cols(); ++s) {
      Eigen::Index rows = x.rows();
      while (rows > 0 && x(rows - 1, s) == padding_) --rows;
      lengths_[static_cast<std::size_t>(s)] = static_cast<int>((rows + features - 1) / features);
    }
    this->chain_.lengths(lengths_);
    this->chain_.forward(x, y, p);
  }

 private:
  T padding_;
  std::vector<int> lengths_;  ///< lengths of the samples of the last forward
};

}  // namespace manta::nn::detail
