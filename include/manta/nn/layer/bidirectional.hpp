// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A recurrent layer that runs over sequences in both directions (Schuster, Paliwal, 1997).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manta/error.hpp"
#include "manta/nn/layer/chain.hpp"

namespace manta::nn::detail {

/// Each position has the results of the way there, then those of the way back, with the names and the order of
/// PyTorch's LSTM(bidirectional=True). The way back begins at the last position that counts.
template <class T>
class bidirectional_layer final : public layer<T> {
 public:
  bidirectional_layer(const spec& s, const shape& in)
      : bidirectional_layer(in, chain<T>(checked(in), s.parts, "it"), chain<T>(in, s.parts, "it")) {}
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override {
    return std::make_unique<bidirectional_layer>(*this);
  }

  [[nodiscard]] std::vector<parameter_array> arrays() const override {
    std::vector<parameter_array> all = there_.arrays();
    for (parameter_array& a : back_.arrays()) all.push_back({a.name + "_reverse", std::move(a.extents)});
    for (parameter_array& a : all) a.name = a.name.substr(a.name.find('.') + 1);
    return all;
  }
  [[nodiscard]] double flops() const override { return there_.flops() + back_.flops(); }
  void bind(T* parameters, T* gradients, T*) override {
    there_.bind(parameters, gradients, nullptr);
    back_.bind(parameters + there_.size(), gradients + there_.size(), nullptr);
  }
  void initialise(const random& numbers) override {
    there_.initialise(random(numbers.bits(0)));
    back_.initialise(random(numbers.bits(1)));
  }
  void lengths(std::span<const int> all) override { lengths_ = all; }

  void forward(const matrix<T>& x, matrix<T>& y, const pass& p) override {
    there_.forward(x, y_there_, p);
    turn(x, inputs(), turned_x_);
    back_.forward(turned_x_, y_back_, p);
    turn(y_back_, features_, turned_);
    y.resize(this->output_shape().size(), x.cols());
    auto result = positions_of(y, 2 * features_);
    result.topRows(features_) = positions_of(y_there_, features_);
    result.bottomRows(features_) = positions_of(turned_, features_);
  }
  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    const auto d = positions(dy, 2 * features_);
    d_.resize(y_there_.rows(), y_there_.cols());
    positions_of(d_, features_) = d.bottomRows(features_);
    turn(d_, features_, turned_);
    back_.backward(turned_x_, y_back_, turned_, dx ? &dx_back_ : nullptr, nullptr);
    positions_of(d_, features_) = d.topRows(features_);
    there_.backward(x, y_there_, d_, dx, nullptr);
    if (!dx) return;
    turn(dx_back_, inputs(), turned_);
    *dx += turned_;
  }

 private:
  bidirectional_layer(const shape& in, chain<T> there, chain<T> back)
      : layer<T>(in, shape{in[0], 2 * there.output_shape()[1]}),
        features_(there.output_shape()[1]),
        there_(std::move(there)),
        back_(std::move(back)) {}
  static const shape& checked(const shape& in) {
    if (in.dimensions() != 2) throw error("it needs whole sequences, nn::shape{length, features}");
    return in;
  }
  [[nodiscard]] int inputs() const { return this->input_shape()[1]; }
  static Eigen::Map<matrix<T>> positions_of(matrix<T>& m, Eigen::Index features) {
    return {m.data(), features, m.size() / features};
  }
  /// The positions that count in the other order; the others stay.
  void turn(const matrix<T>& from, Eigen::Index features, matrix<T>& to) const {
    const Eigen::Index length = this->input_shape()[0];
    to = from;
    const auto columns = positions(from, features);
    auto turned = positions_of(to, features);
    for (Eigen::Index s = 0; s < from.cols(); ++s) {
      const Eigen::Index count = lengths_.empty() ? length : lengths_[static_cast<std::size_t>(s)];
      turned.middleCols(s * length, count) = columns.middleCols(s * length, count).rowwise().reverse();
    }
  }

  int features_;
  chain<T> there_, back_;
  std::span<const int> lengths_;
  matrix<T> y_there_, y_back_, turned_x_, turned_, d_, dx_back_;
};

}  // namespace manta::nn::detail
