// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// y = W x + b, and how weights are drawn.
#pragma once

#include <cmath>
#include <memory>

#include "manta/nn/layer.hpp"
#include "manta/nn/layers.hpp"

namespace manta::nn::detail {

/// Weights as PyTorch stores them: outputs x inputs, row by row.
template <class T>
using row_major = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Fills w with orthonormal rows, or columns where there are more rows, by Gram and Schmidt, run twice for accuracy.
template <class T>
void make_orthogonal(Eigen::Ref<row_major<T>> w, const random& numbers) {
  const bool wide = w.cols() >= w.rows();
  Eigen::MatrixXd q(wide ? w.cols() : w.rows(), wide ? w.rows() : w.cols());
  for (Eigen::Index i = 0; i < q.size(); ++i) q.data()[i] = numbers.normal(static_cast<std::uint64_t>(i));
  for (Eigen::Index k = 0; k < q.cols(); ++k) {
    for (int again = 0; again < 2; ++again) {
      for (Eigen::Index j = 0; j < k; ++j) q.col(k) -= q.col(j).dot(q.col(k)) * q.col(j);
    }
    q.col(k).normalize();
  }
  if (wide) {
    w = q.transpose().template cast<T>();
  } else {
    w = q.template cast<T>();
  }
}

/// Draws weights of outputs x inputs.
template <class T>
void draw(Eigen::Ref<row_major<T>> w, nn::start how, double gain, const random& numbers) {
  const auto inputs = static_cast<double>(w.cols()), outputs = static_cast<double>(w.rows());
  const auto uniform = [&](double bound) {
    for (Eigen::Index i = 0; i < w.size(); ++i)
      w.data()[i] = static_cast<T>(bound * (2 * numbers.uniform(static_cast<std::uint64_t>(i)) - 1));
  };
  switch (how) {
    case start::standard:
      return uniform(1 / std::sqrt(inputs));
    case start::glorot:
      return uniform(gain * std::sqrt(6 / (inputs + outputs)));
    case start::he:
      for (Eigen::Index i = 0; i < w.size(); ++i)
        w.data()[i] = static_cast<T>(gain * std::sqrt(2 / inputs) * numbers.normal(static_cast<std::uint64_t>(i)));
      return;
    case start::orthogonal:
      make_orthogonal<T>(w, numbers);
      w *= static_cast<T>(gain);
      return;
    case start::zero:
      w.setZero();
      return;
  }
}

template <class T>
class linear_layer final : public layer<T> {
 public:
  linear_layer(const spec& s, const shape& in)
      : layer<T>(in, shape{s.sizes[0]}),
        inputs_(in.size()),
        outputs_(s.sizes[0]),
        has_bias_(s.option("bias", 1) != 0),
        start_(static_cast<nn::start>(static_cast<int>(s.option("start", 0)))),
        gain_(s.option("gain", 1)) {}
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<linear_layer>(*this); }

  [[nodiscard]] std::vector<parameter_array> arrays() const override {
    std::vector<parameter_array> a{{"weight", shape{outputs_, inputs_}}};
    if (has_bias_) a.push_back({"bias", shape{outputs_}});
    return a;
  }
  void bind(T* parameters, T* gradients) override { p_ = parameters, g_ = gradients; }

  void initialise(const random& numbers) override {
    weights w(p_, outputs_, inputs_);
    draw<T>(w, start_, gain_, numbers);
    if (!has_bias_) return;
    const double bound = start_ == start::standard ? 1 / std::sqrt(inputs_) : 0;
    for (int i = 0; i < outputs_; ++i)
      p_[w.size() + i] = static_cast<T>(bound * (2 * numbers.uniform(static_cast<std::uint64_t>(w.size() + i)) - 1));
  }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override {
    const weights w(p_, outputs_, inputs_);
    y.resize(outputs_, x.cols());
    y.noalias() = w * x;
    if (has_bias_) y.colwise() += vector(p_ + w.size(), outputs_);
  }

  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    const weights w(p_, outputs_, inputs_);
    weights(g_, outputs_, inputs_).noalias() += dy * x.transpose();
    if (has_bias_) vector(g_ + w.size(), outputs_) += dy.rowwise().sum();
    if (!dx) return;
    dx->resize(inputs_, x.cols());
    dx->noalias() = w.transpose() * dy;
  }

 private:
  using weights = Eigen::Map<row_major<T>>;
  using vector = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>;

  int inputs_, outputs_;
  bool has_bias_;
  nn::start start_;
  double gain_;
  T *p_ = nullptr, *g_ = nullptr;
};

}  // namespace manta::nn::detail
