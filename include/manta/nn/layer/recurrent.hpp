// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// LSTM (Hochreiter, Schmidhuber, 1997; Gers et al., 2000) and GRU (Cho et al., 2014), with PyTorch's parameters.
//
// What all steps can do at once is one product each: the inputs' part of the gates, and the gradients of the weights.
// What is left for each step is the product with the hidden state. Sequences lie in either of two ways, and a step of
// all samples is a matrix in both: a column has a whole sequence (shape {length, features}), or a column has one step,
// and the columns are step by step (shape {features}).
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "manta/error.hpp"
#include "manta/nn/layer/draw.hpp"
#include "manta/nn/product.hpp"

namespace manta::nn::detail {

/// Where the steps of a batch lie in arrays with one column for each step of each sample.
struct step_order {
  Eigen::Index samples = 0, steps = 0;
  bool by_sample = false;  ///< all steps of a sample one after the other

  /// Step t of all samples, of an array with the given number of rows.
  template <class Scalar>
  auto step(Scalar* array, Eigen::Index rows, Eigen::Index t) const {
    using T = std::remove_const_t<Scalar>;
    using type = std::conditional_t<std::is_const_v<Scalar>, const matrix<T>, matrix<T>>;
    return Eigen::Map<type, 0, Eigen::OuterStride<>>(array + (by_sample ? t : t * samples) * rows, rows, samples,
                                                     Eigen::OuterStride<>(by_sample ? steps * rows : rows));
  }
};

/// What a cell works on: the arrays of its layer, with all steps of a batch.
template <class T>
struct recurrence {
  Eigen::Index features;
  const step_order& order;
  /// gates: first the inputs' part of all gates, then the gates; backward overwrites them by their gradients. before:
  /// the states before the steps. now: the state of all samples, or the gradient by it.
  matrix<T>&gates, &before, &now;
  Eigen::Map<row_major<T>> hidden_weights;
  Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>> hidden_bias;
};

/// Cell gives the formulas of a step.
template <class T, class Cell>
class recurrent_layer final : public layer<T> {
 public:
  recurrent_layer(const spec& s, const shape& in)
      : layer<T>(in, in.dimensions() == 2 ? shape{in[0], s.sizes[0]} : shape{s.sizes[0]}),
        inputs_(in.dimensions() == 2 ? in[1] : in.size()),
        features_(s.sizes[0]),
        start_(static_cast<nn::start>(static_cast<int>(s.option("start", 0)))),
        gain_(s.option("gain", 1)) {
    if (features_ < 1) throw error("it needs at least one feature");
    check_start(gain_);
    if (in.dimensions() > 2)
      throw error("it needs steps, nn::shape{features}, or sequences, nn::shape{length, features}");
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<recurrent_layer>(*this); }

  [[nodiscard]] std::vector<parameter_array> arrays() const override {
    return {{"weight_ih_l0", shape{rows(), inputs_}},
            {"weight_hh_l0", shape{rows(), features_}},
            {"bias_ih_l0", shape{rows()}},
            {"bias_hh_l0", shape{rows()}}};
  }
  [[nodiscard]] double flops() const override {
    return this->flops_of_products(this->output_shape().size() / features_);
  }
  void bind(T* parameters, T* gradients, T*) override { p_ = parameters, g_ = gradients; }

  void initialise(const random& numbers) override {
    const int count = rows() * (inputs_ + features_ + 2);
    if (start_ == start::standard) {
      const double bound = 1 / std::sqrt(features_);
      for (int i = 0; i < count; ++i)
        p_[i] = static_cast<T>(bound * (2 * numbers.uniform(static_cast<std::uint64_t>(i)) - 1));
      return;
    }
    std::fill(p_, p_ + count, T(0));
    for (int gate = 0; gate < Cell::gates; ++gate) {  // each gate has a matrix of its own
      const auto part = static_cast<std::uint64_t>(2 * gate);
      Eigen::Map<row_major<T>> in(p_ + gate * features_ * inputs_, features_, inputs_);
      Eigen::Map<row_major<T>> hidden(p_ + rows() * inputs_ + gate * features_ * features_, features_, features_);
      draw<T>(in, start_, gain_, random(numbers.bits(part)));
      draw<T>(hidden, start_, gain_, random(numbers.bits(part + 1)));
    }
  }

  [[nodiscard]] int state_size() const override { return Cell::states * features_; }
  void carry(const carried<T>& c) override {
    carried_ = c;
    if (c.state) resets_.assign(c.resets.begin(), c.resets.end());  // backward needs them
  }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override {
    order_.by_sample = this->input_shape().dimensions() == 2;
    const Eigen::Index all = x.size() / inputs_;
    if (order_.by_sample && carried_.state)
      throw error(
          "manta: nn: a state is carried from step to step, and this network's input are whole sequences; make it "
          "for one step, nn::shape{features}");
    if (!carried_.state) resets_.clear();
    order_.samples = order_.by_sample ? x.cols() : carried_.state ? carried_.state->cols() : all;
    order_.steps = all / order_.samples;
    y.resize(this->output_shape().size(), x.cols());
    gates_.resize(rows(), all);
    before_.resize(state_size(), all);
    cell_.keep(features_, all);

    gates_.colwise() = vector(p_ + weights(), rows());
    if constexpr (Cell::hidden_bias_in_gates) gates_.colwise() += hidden_bias();
    add_product(gates_, input_weights(p_), positions(x, inputs_));
    now_.resize(state_size(), order_.samples);
    if (carried_.state) {
      now_ = carried_.state->middleRows(carried_.first_row, state_size());
    } else {
      now_.setZero();
    }
    recurrence<T> all_steps = work();
    for (Eigen::Index t = 0; t < order_.steps; ++t) {
      reset(now_, t);
      order_.step(before_.data(), state_size(), t) = now_;
      cell_.forward(all_steps, t, order_.step(y.data(), features_, t));
    }
    if (carried_.state) carried_.state->middleRows(carried_.first_row, state_size()) = now_;
  }

  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    now_.setZero();  // the gradient by the state after the step
    recurrence<T> all_steps = work();
    for (Eigen::Index t = order_.steps; t-- > 0;) {
      now_.topRows(features_) += order_.step(dy.data(), features_, t);
      cell_.backward(all_steps, t);
      reset(now_, t);
    }
    const matrix<T>& hidden_gates = cell_.hidden_gates(gates_);
    add_product(input_weights(g_), gates_, positions(x, inputs_).transpose());
    const Eigen::Map<const matrix<T>, 0, Eigen::OuterStride<>> h(before_.data(), features_, before_.cols(),
                                                                 Eigen::OuterStride<>(before_.rows()));
    add_product(hidden_weights(g_), hidden_gates, h.transpose());
    vector(g_ + weights(), rows()) += gates_.rowwise().sum();
    vector(g_ + weights() + rows(), rows()) += hidden_gates.rowwise().sum();
    if (!dx) return;
    dx->resize(x.rows(), x.cols());
    set_product(Eigen::Map<matrix<T>>(dx->data(), inputs_, gates_.cols()), input_weights(p_).transpose(), gates_);
  }

 private:
  using vector = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>;
  [[nodiscard]] int rows() const { return Cell::gates * features_; }
  [[nodiscard]] int weights() const { return rows() * (inputs_ + features_); }
  Eigen::Map<row_major<T>> input_weights(T* array) const { return {array, rows(), inputs_}; }
  Eigen::Map<row_major<T>> hidden_weights(T* array) const { return {array + rows() * inputs_, rows(), features_}; }
  [[nodiscard]] vector hidden_bias() const { return {p_ + weights() + rows(), rows()}; }

  recurrence<T> work() { return {features_, order_, gates_, before_, now_, hidden_weights(p_), hidden_bias()}; }

  /// Zero where a sequence begins at step t.
  void reset(matrix<T>& state, Eigen::Index t) const {
    if (resets_.empty()) return;
    for (Eigen::Index i = 0; i < order_.samples; ++i) {
      if (resets_[static_cast<std::size_t>(t * order_.samples + i)]) state.col(i).setZero();
    }
  }

  int inputs_, features_;
  nn::start start_;
  double gain_;
  T *p_ = nullptr, *g_ = nullptr;
  carried<T> carried_;
  std::vector<unsigned char> resets_;
  step_order order_;
  matrix<T> gates_, before_;  ///< a column for each step of each sample; the state before the step
  matrix<T> now_;             ///< the state of all samples, or the gradient by it
  Cell cell_;
};

/// Gates i, f, g, o; the state is h, then c.
template <class T>
class lstm_cell {
 public:
  static constexpr int gates = 4, states = 2;
  static constexpr bool hidden_bias_in_gates = true;

  void keep(int features, Eigen::Index columns) { tanh_.resize(features, columns); }

  template <class Result>
  void forward(recurrence<T>& s, Eigen::Index t, Result h) {
    const Eigen::Index n = s.features;
    auto a = s.order.step(s.gates.data(), 4 * n, t);
    add_product(a, s.hidden_weights, s.now.topRows(n));
    auto c = s.now.bottomRows(n).array();
    auto kept = s.order.step(tanh_.data(), n, t).array();
    a.topRows(2 * n).array() = a.topRows(2 * n).array().logistic();
    a.middleRows(2 * n, n).array() = a.middleRows(2 * n, n).array().tanh();
    a.bottomRows(n).array() = a.bottomRows(n).array().logistic();
    c = a.middleRows(n, n).array() * c + a.topRows(n).array() * a.middleRows(2 * n, n).array();
    kept = c.tanh();
    h.array() = a.bottomRows(n).array() * kept;
    s.now.topRows(n) = h;
  }

  void backward(recurrence<T>& s, Eigen::Index t) {
    const Eigen::Index n = s.features;
    auto a = s.order.step(s.gates.data(), 4 * n, t);
    auto i = a.topRows(n).array(), f = a.middleRows(n, n).array(), g = a.middleRows(2 * n, n).array(),
         o = a.bottomRows(n).array();
    const auto kept = s.order.step(tanh_.data(), n, t).array();
    const auto before = s.order.step(s.before.data(), 2 * n, t).bottomRows(n).array();
    auto dh = s.now.topRows(n).array(), dc = s.now.bottomRows(n).array();
    dc += dh * o * (1 - kept.square());
    o = dh * kept * o * (1 - o);
    carry_ = dc * f;
    f = dc * before * f * (1 - f);
    before_ = g;
    g = dc * i * (1 - g.square());
    i = dc * before_ * i * (1 - i);
    dc = carry_;
    set_product(s.now.topRows(n), s.hidden_weights.transpose(), a);
  }

  const matrix<T>& hidden_gates(const matrix<T>& all) const { return all; }

 private:
  matrix<T> tanh_;  ///< tanh of c, after each step
  Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic> carry_, before_;
};

/// Gates r, z, n, with the reset gate applied after the product, as PyTorch and cuDNN do; the state is h.
template <class T>
class gru_cell {
 public:
  static constexpr int gates = 3, states = 1;
  static constexpr bool hidden_bias_in_gates = false;

  void keep(int features, Eigen::Index columns) { hidden_.resize(3 * features, columns); }

  template <class Result>
  void forward(recurrence<T>& s, Eigen::Index t, Result h) {
    const Eigen::Index n = s.features;
    auto a = s.order.step(s.gates.data(), 3 * n, t);
    auto q = s.order.step(hidden_.data(), 3 * n, t);
    q.colwise() = s.hidden_bias;
    add_product(q, s.hidden_weights, s.now);
    a.topRows(2 * n).array() = (a.topRows(2 * n) + q.topRows(2 * n)).array().logistic();
    const auto r = a.topRows(n).array(), z = a.middleRows(n, n).array();
    a.bottomRows(n).array() = (a.bottomRows(n).array() + r * q.bottomRows(n).array()).tanh();
    s.now.array() = (1 - z) * a.bottomRows(n).array() + z * s.now.array();
    h = s.now;
  }

  void backward(recurrence<T>& s, Eigen::Index t) {
    const Eigen::Index n = s.features;
    auto a = s.order.step(s.gates.data(), 3 * n, t);
    auto q = s.order.step(hidden_.data(), 3 * n, t);
    const auto before = s.order.step(s.before.data(), n, t).array();
    auto r = a.topRows(n).array(), z = a.middleRows(n, n).array(), c = a.bottomRows(n).array();
    auto dh = s.now.array();
    carry_ = dh * z;
    z = dh * (before - c) * z * (1 - z);
    // dh (1 - z) with the old z: dh - carry_
    c = (dh - carry_) * (1 - c.square());
    const auto hidden_candidate = q.bottomRows(n).array();
    candidate_ = c * r;
    r = c * hidden_candidate * r * (1 - r);
    q.topRows(2 * n) = a.topRows(2 * n);
    q.bottomRows(n).array() = candidate_;
    s.now.array() = carry_;
    add_product(s.now, s.hidden_weights.transpose(), q);
  }

  const matrix<T>& hidden_gates(const matrix<T>&) const { return hidden_; }

 private:
  matrix<T> hidden_;  ///< the hidden state's part of the gates; after backward, its gradient
  Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic> carry_, candidate_;
};

}  // namespace manta::nn::detail
