// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Multi-head attention of a sequence to itself (Vaswani et al., 2017), with the parameters
// of PyTorch's MultiheadAttention.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/layer/activation.hpp"
#include "manta/nn/layer/draw.hpp"
#include "manta/nn/product.hpp"

namespace manta::nn::detail {

template <class T>
class attention_layer final : public layer<T> {
 public:
  attention_layer(const spec& s, const shape& in)
      : layer<T>(in, in), heads_(s.sizes[0]), causal_(s.option("causal", 0) != 0) {
    if (in.dimensions() != 2) throw error("it needs a sequence, nn::shape{length, features}");
    length_ = in[0], features_ = in[1];
    if (heads_ < 1 || features_ % heads_ != 0)
      throw error(base::text("the {} features have to be a multiple of the {} heads", features_, heads_));
    width_ = features_ / heads_;
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<attention_layer>(*this); }

  [[nodiscard]] std::vector<parameter_array> arrays() const override {
    return {{"in_proj_weight", shape{3 * features_, features_}},
            {"in_proj_bias", shape{3 * features_}},
            {"out_proj.weight", shape{features_, features_}},
            {"out_proj.bias", shape{features_}}};
  }
  [[nodiscard]] double flops() const override {
    const double all_pairs = static_cast<double>(length_) * static_cast<double>(length_);
    return this->flops_of_products(static_cast<double>(length_)) + 4 * all_pairs * static_cast<double>(features_);
  }
  void bind(T* parameters, T* gradients, T*) override { p_ = parameters, g_ = gradients; }
  /// As PyTorch's: the inputs' weights by Glorot, the outputs' uniform, no biases.
  void initialise(const random& numbers) override {
    vector(p_ + in_bias(), 3 * features_).setZero();
    vector(p_ + out_bias(), features_).setZero();
    draw<T>(in_weights(p_), start::glorot, 1, random(numbers.bits(0)));
    draw<T>(out_weights(p_), start::standard, 1, random(numbers.bits(1)));
  }

  void lengths(std::span<const int> all) override { lengths_ = all; }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override {
    const auto columns = positions(x, features_);
    const Eigen::Index samples = x.cols();
    parts_.resize(3 * features_, columns.cols());
    parts_.colwise() = vector(p_ + in_bias(), 3 * features_);
    add_product(parts_, in_weights(p_), columns);
    scores_.resize(length_, length_ * heads_ * samples);
    mixed_.resize(features_, columns.cols());
    for (Eigen::Index s = 0; s < samples; ++s) {
      for (int h = 0; h < heads_; ++h) {
        auto score = scores(scores_, s, h);
        score.setZero();
        add_product(score, part(parts_, s, 1, h).transpose(), part(parts_, s, 0, h), scale());
        const int keys = lengths_.empty() ? length_ : lengths_[static_cast<std::size_t>(s)];
        if (causal_ || keys < length_) {
          for (int q = 0; q < length_; ++q) {
            const int seen = causal_ ? std::min(keys, q + 1) : keys;
            if (seen > 0) softmax_in_place(score.block(0, q, seen, 1));
            score.col(q).tail(length_ - seen).setZero();
          }
        } else {
          softmax_in_place(score);
        }
        set_product(head(mixed_, s, h), part(parts_, s, 2, h), score);
      }
    }
    y.resize(x.rows(), x.cols());
    Eigen::Map<matrix<T>> result(y.data(), features_, columns.cols());
    result.colwise() = vector(p_ + out_bias(), features_);
    add_product(result, out_weights(p_), mixed_);
  }

  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    const auto d = positions(dy, features_);
    add_product(out_weights(g_), d, mixed_.transpose());
    vector(g_ + out_bias(), features_) += d.rowwise().sum();
    d_mixed_.resize(features_, d.cols());
    set_product(d_mixed_, out_weights(p_).transpose(), d);
    d_parts_.resize(3 * features_, d.cols());
    d_score_.resize(length_, length_);
    for (Eigen::Index s = 0; s < x.cols(); ++s) {
      for (int h = 0; h < heads_; ++h) {
        const auto score = scores(scores_, s, h);
        set_product(part(d_parts_, s, 2, h), head(d_mixed_, s, h), score.transpose());
        set_product(d_score_, part(parts_, s, 2, h).transpose(), head(d_mixed_, s, h));
        softmax_back(d_score_, score, d_score_);  // 0 where the mask is: scores are 0 there
        d_score_ *= scale();
        set_product(part(d_parts_, s, 0, h), part(parts_, s, 1, h), d_score_);
        set_product(part(d_parts_, s, 1, h), part(parts_, s, 0, h), d_score_.transpose());
      }
    }
    add_product(in_weights(g_), d_parts_, positions(x, features_).transpose());
    vector(g_ + in_bias(), 3 * features_) += d_parts_.rowwise().sum();
    if (!dx) return;
    dx->resize(x.rows(), x.cols());
    set_product(Eigen::Map<matrix<T>>(dx->data(), features_, d.cols()), in_weights(p_).transpose(), d_parts_);
  }

 private:
  using vector = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>;
  [[nodiscard]] int in_bias() const { return 3 * features_ * features_; }
  [[nodiscard]] int out_bias() const { return 4 * features_ * features_ + 3 * features_; }
  Eigen::Map<row_major<T>> in_weights(T* array) const { return {array, 3 * features_, features_}; }
  Eigen::Map<row_major<T>> out_weights(T* array) const {
    return {array + in_bias() + 3 * features_, features_, features_};
  }
  [[nodiscard]] T scale() const { return 1 / std::sqrt(static_cast<T>(width_)); }

  /// What a head has of a sample: of queries (0), keys (1) or values (2), width x length.
  auto part(matrix<T>& parts, Eigen::Index sample, int which, int h) const {
    return parts.block(which * features_ + h * width_, sample * length_, width_, length_);
  }
  auto head(matrix<T>& m, Eigen::Index sample, int h) const {
    return m.block(h * width_, sample * length_, width_, length_);
  }
  /// Keys x queries.
  auto scores(matrix<T>& all, Eigen::Index sample, int h) const {
    return all.middleCols((sample * heads_ + h) * length_, length_);
  }

  int heads_, length_ = 0, features_ = 0, width_ = 0;
  bool causal_;
  std::span<const int> lengths_;  ///< positions of each sample that are attended to; empty: all
  T *p_ = nullptr, *g_ = nullptr;
  matrix<T> parts_, scores_, mixed_, d_parts_, d_mixed_, d_score_;
};

}  // namespace manta::nn::detail
