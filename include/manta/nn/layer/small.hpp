// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Layers of a few lines: dropout, embedding, positions, flatten, reshape, last, mean.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "manta/error.hpp"
#include "manta/nn/checks.hpp"
#include "manta/nn/layer.hpp"
#include "manta/nn/sample_error.hpp"

namespace manta::nn::detail {

/// Srivastava et al., 2014. The mask follows seed, step and the sample's number.
template <class T>
class dropout_layer final : public layer<T> {
 public:
  dropout_layer(const spec& s, const shape& in) : layer<T>(in, in), probability_(s.option("probability", 0)) {
    check_layer_option(probability_ >= 0 && probability_ < 1, "the probability", probability_,
                       "at least 0 and below 1");
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<dropout_layer>(*this); }

  [[nodiscard]] bool draws() const override { return true; }
  void forward(const matrix<T>& x, matrix<T>& y, const pass& p) override {
    drops_ = p.training && probability_ > 0;
    if (!drops_) {
      y = x;
      return;
    }
    mask_.resize(x.rows(), x.cols());
    const T kept = static_cast<T>(1 / (1 - probability_));
    const auto limit = static_cast<std::uint32_t>(probability_ * 0x1p32);
    // 32 random bits for each number; no branches, which would be guessed wrongly as often as not.
    const auto scale = [&](std::uint64_t bits) {
      return static_cast<T>(static_cast<std::uint32_t>(bits) >= limit) * kept;
    };
    for (Eigen::Index s = 0; s < x.cols(); ++s) {
      const auto i = static_cast<std::size_t>(s);
      const random numbers(p.seed, i < p.samples.size() ? p.samples[i] : i, p.step);
      T* mask = mask_.data() + s * x.rows();
      Eigen::Index k = 0;
      for (; k + 1 < x.rows(); k += 2) {
        const std::uint64_t bits = numbers.bits(static_cast<std::uint64_t>(k));
        mask[k] = scale(bits);
        mask[k + 1] = scale(bits >> 32U);
      }
      if (k < x.rows()) mask[k] = scale(numbers.bits(static_cast<std::uint64_t>(k)));
    }
    y = x.cwiseProduct(mask_);
  }
  void backward(const matrix<T>&, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    if (!dx) return;
    if (drops_) {
      *dx = dy.cwiseProduct(mask_);
    } else {
      *dx = dy;
    }
  }

 private:
  double probability_;
  bool drops_ = false;
  matrix<T> mask_;
};

/// A vector for each word: the input has the words' numbers.
template <class T>
class embedding_layer final : public layer<T> {
 public:
  embedding_layer(const spec& s, const shape& in)
      : layer<T>(in, shape{in.size(), s.sizes[1]}), words_(s.sizes[0]), features_(s.sizes[1]) {
    if (words_ < 1 || features_ < 1) throw error("it needs at least one word and one feature");
    if (in.dimensions() != 1) throw error("it needs a sequence of words, nn::shape{length}");
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<embedding_layer>(*this); }

  [[nodiscard]] std::vector<parameter_array> arrays() const override { return {{"weight", shape{words_, features_}}}; }
  void bind(T* parameters, T* gradients, T*) override { p_ = parameters, g_ = gradients; }
  /// Normal with variance 1, as PyTorch's.
  void initialise(const random& numbers) override {
    for (int i = 0; i < words_ * features_; ++i) p_[i] = static_cast<T>(numbers.normal(static_cast<std::uint64_t>(i)));
  }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override {
    y.resize(x.rows() * features_, x.cols());
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      const T word = x.data()[i];
      if (!(word >= 0 && word < static_cast<T>(words_) && word == std::floor(word)))
        throw sample_error("manta: nn: embedding: ", static_cast<std::size_t>(i / x.rows()),
                           base::text(" has the word {}; words are whole numbers from 0 to {}",
                                      static_cast<double>(word), words_ - 1));
      column(y.data(), i) = column(p_, static_cast<Eigen::Index>(word));
    }
  }
  /// Words have no gradient: dx is 0.
  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    for (Eigen::Index i = 0; i < x.size(); ++i)
      column(g_, static_cast<Eigen::Index>(x.data()[i])) += column(dy.data(), i);
    if (dx) dx->setZero(x.rows(), x.cols());
  }

 private:
  template <class Number>
  auto column(Number* array, Eigen::Index i) const {
    using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    return Eigen::Map<std::conditional_t<std::is_const_v<Number>, const vector, vector>>(array + i * features_,
                                                                                         features_);
  }

  int words_, features_;
  T *p_ = nullptr, *g_ = nullptr;
};

/// Adds a vector of parameters to each position.
template <class T>
class positions_layer final : public layer<T> {
 public:
  explicit positions_layer(const shape& in) : layer<T>(in, in) {
    if (in.dimensions() != 2) throw error("it needs a sequence, nn::shape{length, features}");
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<positions_layer>(*this); }

  [[nodiscard]] std::vector<parameter_array> arrays() const override { return {{"weight", this->input_shape()}}; }
  void bind(T* parameters, T* gradients, T*) override { p_ = parameters, g_ = gradients; }
  /// Normal with standard deviation 0.02 (Radford et al., 2018).
  void initialise(const random& numbers) override {
    for (int i = 0; i < this->input_shape().size(); ++i)
      p_[i] = static_cast<T>(0.02 * numbers.normal(static_cast<std::uint64_t>(i)));
  }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override { y = x.colwise() + vector(p_, x.rows()); }
  void backward(const matrix<T>&, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    vector(g_, dy.rows()) += dy.rowwise().sum();
    if (dx) *dx = dy;
  }

 private:
  using vector = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>;
  T *p_ = nullptr, *g_ = nullptr;
};

/// The numbers as one vector.
template <class T>
class flatten_layer final : public layer<T> {
 public:
  explicit flatten_layer(const shape& in) : layer<T>(in, shape{in.size()}) {}
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<flatten_layer>(*this); }
  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override { y = x; }
  void backward(const matrix<T>&, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    if (dx) *dx = dy;
  }
};

/// The numbers in another shape.
template <class T>
class reshape_layer final : public layer<T> {
 public:
  reshape_layer(const spec& s, const shape& in) : layer<T>(in, shape(s.sizes)) {
    if (this->output_shape().size() != in.size())
      throw error(base::text("the shape {} has {} numbers; there have to be {}", this->output_shape().text(),
                             this->output_shape().size(), in.size()));
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<reshape_layer>(*this); }
  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override { y = x; }
  void backward(const matrix<T>&, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    if (dx) *dx = dy;
  }
};

/// The last position of a sequence that counts.
template <class T>
class last_layer final : public layer<T> {
 public:
  explicit last_layer(const shape& in) : layer<T>(in, shape{in.dimensions() == 2 ? in[1] : 0}) {
    if (in.dimensions() != 2) throw error("it needs a sequence, nn::shape{length, features}");
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<last_layer>(*this); }
  void lengths(std::span<const int> all) override { lengths_ = all; }
  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override {
    const Eigen::Index features = this->output_shape().size();
    if (lengths_.empty()) {
      y = x.bottomRows(features);
      return;
    }
    y.resize(features, x.cols());
    for (Eigen::Index s = 0; s < x.cols(); ++s) y.col(s) = x.col(s).segment(first_row(s), features);
  }
  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    if (!dx) return;
    dx->setZero(x.rows(), x.cols());
    if (lengths_.empty()) {
      dx->bottomRows(dy.rows()) = dy;
      return;
    }
    for (Eigen::Index s = 0; s < x.cols(); ++s) dx->col(s).segment(first_row(s), dy.rows()) = dy.col(s);
  }

 private:
  /// The row at which the last position that counts begins; 0 if no position does.
  [[nodiscard]] Eigen::Index first_row(Eigen::Index sample) const {
    return Eigen::Index{std::max(1, lengths_[static_cast<std::size_t>(sample)]) - 1} * this->output_shape().size();
  }
  std::span<const int> lengths_;
};

/// The mean over the positions of a sequence that count; 0 if none does.
template <class T>
class mean_layer final : public layer<T> {
 public:
  explicit mean_layer(const shape& in) : layer<T>(in, shape{features_of(in)}) {}
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<mean_layer>(*this); }
  void lengths(std::span<const int> all) override { lengths_ = all; }
  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override {
    y.resize(this->output_shape().size(), x.cols());
    for (Eigen::Index s = 0; s < x.cols(); ++s) {
      const Eigen::Index n = count(s);
      y.col(s) = sequence(x, s).leftCols(n).rowwise().sum() / static_cast<T>(std::max<Eigen::Index>(1, n));
    }
  }
  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    if (!dx) return;
    dx->setZero(x.rows(), x.cols());
    for (Eigen::Index s = 0; s < x.cols(); ++s) {
      if (const Eigen::Index n = count(s); n > 0)
        sequence(*dx, s).leftCols(n).colwise() = dy.col(s) / static_cast<T>(n);
    }
  }

 private:
  static int features_of(const shape& in) {
    if (in.dimensions() != 2) throw error("it needs a sequence, nn::shape{length, features}");
    return in[1];
  }
  [[nodiscard]] Eigen::Index count(Eigen::Index sample) const {
    return lengths_.empty() ? this->input_shape()[0] : lengths_[static_cast<std::size_t>(sample)];
  }
  template <class Matrix>
  auto sequence(Matrix& m, Eigen::Index sample) const {
    using map = std::conditional_t<std::is_const_v<Matrix>, const matrix<T>, matrix<T>>;
    return Eigen::Map<map>(m.data() + sample * m.rows(), this->output_shape().size(), this->input_shape()[0]);
  }
  std::span<const int> lengths_;
};

}  // namespace manta::nn::detail
