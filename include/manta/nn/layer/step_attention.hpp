// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Multi-head attention of a step to itself and to the steps before it, up to a fixed number, for networks that run step
// by step. The state of a sample is what it remembers: how many steps, and the keys and values of the last ones, in a
// ring. A bias for each age, as in relative position biases (Raffel et al., 2020), tells the steps apart. As in
// Transformer-XL (Dai et al., 2019), gradients go through the steps of a call and not into what was remembered before.
#pragma once

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
class step_attention_layer final : public layer<T> {
 public:
  step_attention_layer(const spec& s, const shape& in)
      : layer<T>(in, in), heads_(s.sizes[0]), length_(s.sizes[1]), features_(in.size()) {
    if (in.dimensions() != 1) throw error("it needs steps, nn::shape{features}");
    if (length_ < 2) throw error("it needs a length of at least two steps");
    if (heads_ < 1 || features_ % heads_ != 0)
      throw error(base::text("the {} features have to be a multiple of the {} heads", features_, heads_));
    width_ = features_ / heads_;
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override {
    return std::make_unique<step_attention_layer>(*this);
  }

  [[nodiscard]] std::vector<parameter_array> arrays() const override {
    return {{"in_proj_weight", shape{3 * features_, features_}},
            {"in_proj_bias", shape{3 * features_}},
            {"out_proj.weight", shape{features_, features_}},
            {"out_proj.bias", shape{features_}},
            {"age_bias", shape{heads_, length_}}};
  }
  [[nodiscard]] double flops() const override {
    return this->flops_of_products(1) + 4 * static_cast<double>(length_) * static_cast<double>(features_);
  }
  void bind(T* parameters, T* gradients, T*) override { p_ = parameters, g_ = gradients; }
  /// As attention's; ages are all alike at first.
  void initialise(const random& numbers) override {
    std::fill(p_, p_ + age_bias() + heads_ * length_, T(0));
    draw<T>(in_weights(p_), start::glorot, 1, random(numbers.bits(0)));
    draw<T>(out_weights(p_), start::standard, 1, random(numbers.bits(1)));
  }

  /// The number of steps, then keys and values of the last ones: step n lies at the place n modulo length - 1.
  [[nodiscard]] int state_size() const override { return 1 + (length_ - 1) * 2 * features_; }
  void carry(const carried<T>& c) override {
    carried_ = c;
    if (c.state) resets_.assign(c.resets.begin(), c.resets.end());
  }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override {
    if (!carried_.state) resets_.clear();
    samples_ = carried_.state ? carried_.state->cols() : x.cols();
    steps_ = x.cols() / samples_;
    parts_.resize(3 * features_, x.cols());
    parts_.colwise() = vector(p_ + in_bias(), 3 * features_);
    add_product(parts_, in_weights(p_), x);
    known_.resize(2 * features_, samples_ * line());
    firsts_.resize(static_cast<std::size_t>(x.cols()));
    scores_.setZero(length_ * heads_, x.cols());
    mixed_.resize(features_, x.cols());
    for (Eigen::Index s = 0; s < samples_; ++s) {
      Eigen::Index first = length_ - 1 - recall(s);
      for (Eigen::Index t = 0; t < steps_; ++t) {
        const Eigen::Index column = t * samples_ + s;
        if (begins_at(column)) first = length_ - 1 + t;
        first = std::max(first, t);
        firsts_[static_cast<std::size_t>(column)] = first;
        known_.col(s * line() + length_ - 1 + t) = parts_.col(column).tail(2 * features_);
        for (int h = 0; h < heads_; ++h) attend(s, t, h);
      }
      if (carried_.state) remember(s);
    }
    y.resize(x.rows(), x.cols());
    y.colwise() = vector(p_ + out_bias(), features_);
    add_product(y, out_weights(p_), mixed_);
  }

  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    add_product(out_weights(g_), dy, mixed_.transpose());
    vector(g_ + out_bias(), features_) += dy.rowwise().sum();
    d_mixed_.resize(features_, dy.cols());
    set_product(d_mixed_, out_weights(p_).transpose(), dy);
    d_parts_.setZero(3 * features_, dy.cols());
    d_known_.setZero(known_.rows(), known_.cols());
    for (Eigen::Index s = 0; s < samples_; ++s) {
      for (Eigen::Index t = 0; t < steps_; ++t) {
        for (int h = 0; h < heads_; ++h) attend_back(s, t, h);
      }
      for (Eigen::Index t = 0; t < steps_; ++t)
        d_parts_.col(t * samples_ + s).tail(2 * features_) = d_known_.col(s * line() + length_ - 1 + t);
    }
    add_product(in_weights(g_), d_parts_, x.transpose());
    vector(g_ + in_bias(), 3 * features_) += d_parts_.rowwise().sum();
    if (!dx) return;
    dx->resize(x.rows(), x.cols());
    set_product(*dx, in_weights(p_).transpose(), d_parts_);
  }

 private:
  using vector = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>;
  [[nodiscard]] int in_bias() const { return 3 * features_ * features_; }
  [[nodiscard]] int out_bias() const { return 4 * features_ * features_ + 3 * features_; }
  [[nodiscard]] int age_bias() const { return 4 * features_ * features_ + 4 * features_; }
  Eigen::Map<row_major<T>> in_weights(T* array) const { return {array, 3 * features_, features_}; }
  Eigen::Map<row_major<T>> out_weights(T* array) const {
    return {array + in_bias() + 3 * features_, features_, features_};
  }
  /// The steps in reach go from the oldest one to the step itself, which has the age 0 and the last place.
  auto age_biases(T* array, int h, Eigen::Index count) const {
    return vector(array + age_bias() + (h + 1) * length_ - count, count);
  }
  [[nodiscard]] T scale() const { return 1 / std::sqrt(static_cast<T>(width_)); }

  /// Columns of a sample in known_: what was remembered, and the steps of the call.
  [[nodiscard]] Eigen::Index line() const { return length_ - 1 + steps_; }
  [[nodiscard]] bool begins_at(Eigen::Index column) const {
    return !resets_.empty() && resets_[static_cast<std::size_t>(column)] != 0;
  }
  /// The steps that step t of a sample attends to: of keys (0) or values (1), width x steps.
  auto reach(matrix<T>& known, Eigen::Index s, Eigen::Index t, int which, int h) const {
    const Eigen::Index first = firsts_[static_cast<std::size_t>(t * samples_ + s)];
    return known.block(which * features_ + h * width_, s * line() + first, width_, length_ + t - first);
  }
  auto score(Eigen::Index column, int h, Eigen::Index count) { return scores_.col(column).segment(h * length_, count); }

  void attend(Eigen::Index s, Eigen::Index t, int h) {
    const Eigen::Index column = t * samples_ + s;
    const auto keys = reach(known_, s, t, 0, h);
    auto weights = score(column, h, keys.cols());
    weights.noalias() = scale() * (keys.transpose() * parts_.col(column).segment(h * width_, width_));
    weights += age_biases(p_, h, keys.cols());
    softmax_in_place(weights);
    mixed_.col(column).segment(h * width_, width_).noalias() = reach(known_, s, t, 1, h) * weights;
  }

  void attend_back(Eigen::Index s, Eigen::Index t, int h) {
    const Eigen::Index column = t * samples_ + s;
    const auto keys = reach(known_, s, t, 0, h);
    const auto weights = score(column, h, keys.cols());
    const auto d = d_mixed_.col(column).segment(h * width_, width_);
    reach(d_known_, s, t, 1, h).noalias() += d * weights.transpose();
    d_score_.noalias() = reach(known_, s, t, 1, h).transpose() * d;
    softmax_back(d_score_, weights, d_score_);
    age_biases(g_, h, keys.cols()) += d_score_;
    d_score_ *= scale();
    d_parts_.col(column).segment(h * width_, width_).noalias() = keys * d_score_;
    reach(d_known_, s, t, 0, h).noalias() += parts_.col(column).segment(h * width_, width_) * d_score_.transpose();
  }

  /// Writes what the sample remembers before its place of the call's first step, and gives the number of steps.
  Eigen::Index recall(Eigen::Index s) {
    if (!carried_.state) return 0;
    const T* const state = carried_.state->col(s).data() + carried_.first_row;
    const auto count = static_cast<Eigen::Index>(state[0]), places = Eigen::Index{length_ - 1};
    const Eigen::Index kept = std::min(count, places);
    const Eigen::Map<const matrix<T>> ring(state + 1, 2 * features_, places);
    for (Eigen::Index n = count - kept; n < count; ++n)
      known_.col(s * line() + places - count + n) = ring.col(n % places);
    return kept;
  }
  void remember(Eigen::Index s) {
    T* const state = carried_.state->col(s).data() + carried_.first_row;
    const auto places = Eigen::Index{length_ - 1};
    Eigen::Index count = static_cast<Eigen::Index>(state[0]) + steps_;
    for (Eigen::Index t = 0; t < steps_; ++t) {
      if (begins_at(t * samples_ + s)) count = steps_ - t;
    }
    Eigen::Map<matrix<T>> ring(state + 1, 2 * features_, places);
    // What a reset moved in the ring is among the steps of the call.
    for (Eigen::Index n = count - std::min({count, places, steps_}); n < count; ++n)
      ring.col(n % places) = known_.col(s * line() + places + steps_ - count + n);
    state[0] = static_cast<T>(count < 2 * places ? count : places + count % places);
  }

  int heads_, length_, features_, width_ = 0;
  T *p_ = nullptr, *g_ = nullptr;
  carried<T> carried_;
  std::vector<unsigned char> resets_;
  Eigen::Index samples_ = 0, steps_ = 0;
  std::vector<Eigen::Index> firsts_;  ///< the first step to which each column attends, in its sample's line
  matrix<T> parts_, known_, scores_, mixed_, d_parts_, d_known_, d_mixed_;
  Eigen::Matrix<T, Eigen::Dynamic, 1> d_score_;
};

}  // namespace manta::nn::detail
