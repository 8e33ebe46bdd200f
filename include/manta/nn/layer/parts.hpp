// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Layers beside each other: each part of the input goes through layers of its own, and the results are joined.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/nn/layer/chain.hpp"

namespace manta::nn::detail {

template <class T>
class parts_layer final : public layer<T> {
 public:
  parts_layer(const spec& s, const shape& in) : layer<T>(in, shape{size_after(s)}) {
    Eigen::Index from = 0, to = 0;
    for (const spec& one : s.parts) {
      part p{.layers = layers_of(one), .from = from, .to = to};
      from += shape(one.sizes).size();
      to += p.layers.output_shape().size();
      parts_.push_back(std::move(p));
    }
    if (from != in.size())
      throw error(base::text("its parts have {} numbers together; there have to be {}", from, in.size()));
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<parts_layer>(*this); }

  [[nodiscard]] std::vector<parameter_array> arrays() const override { return named(&chain<T>::arrays); }
  [[nodiscard]] std::vector<parameter_array> buffer_arrays() const override { return named(&chain<T>::buffer_arrays); }
  [[nodiscard]] double flops() const override {
    double all = 0;
    for (const part& p : parts_) all += p.layers.flops();
    return all;
  }
  void bind(T* parameters, T* gradients, T* buffers) override {
    for (part& p : parts_) {
      p.layers.bind(parameters, gradients, buffers);
      parameters += p.layers.size();
      gradients += p.layers.size();
      buffers += size_of(p.layers.buffer_arrays());
    }
  }
  [[nodiscard]] bool draws() const override { return true; }
  void check_lengths(int) const override {
    throw error("`parts` inside of `masked` would not leave out words: put `masked` into the part that has the words");
  }
  void initialise(const random& numbers) override {
    for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i].layers.initialise(random(numbers.bits(i)));
  }
  [[nodiscard]] int state_size() const override {
    int size = 0;
    for (const part& p : parts_) size += p.layers.state_size();
    return size;
  }
  void carry(const carried<T>& c) override {
    carried<T> its = c;
    for (part& p : parts_) {
      p.layers.carry(its);
      its.first_row += p.layers.state_size();
    }
  }

  void freeze(const std::vector<parameter_range_in_layer>& all) override {
    std::size_t begin = 0;
    for (part& p : parts_) {
      p.layers.freeze(part_of(all, begin, begin + p.layers.size()));
      begin += p.layers.size();
    }
  }

  void forward(const matrix<T>& x, matrix<T>& y, const pass& how) override {
    y.resize(this->output_shape().size(), x.cols());
    pass own = how;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      part& p = parts_[i];
      own.seed = random(how.seed, i).bits(0);
      p.x = x.middleRows(p.from, end_of(i, &part::from, x.rows()) - p.from);
      p.layers.forward(p.x, p.y, own);
      y.middleRows(p.to, p.y.rows()) = p.y;
    }
  }
  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    if (dx) dx->resize(x.rows(), x.cols());
    for (part& p : parts_) {
      p.dy = dy.middleRows(p.to, p.y.rows());
      p.layers.backward(p.x, p.y, p.dy, dx ? &p.dx : nullptr, nullptr);
      if (dx) dx->middleRows(p.from, p.x.rows()) = p.dx;
    }
  }
  [[nodiscard]] bool sums_over_workers() const override {
    return std::ranges::any_of(parts_, [](const part& p) { return p.layers.sums_over_workers(); });
  }
  void forward_without_samples(const pass& how) override {
    for (part& p : parts_) p.layers.forward_without_samples(how);
  }
  void backward_without_samples(bool wants_dx, const gradients_ready* ready) override {
    for (part& p : parts_) p.layers.backward_without_samples(wants_dx, nullptr);
    layer<T>::backward_without_samples(wants_dx, ready);
  }

 private:
  struct part {
    chain<T> layers;
    Eigen::Index from = 0, to = 0;  ///< where its rows begin, of the input and of the result
    matrix<T> x = {}, y = {}, dx = {}, dy = {};
  };
  static chain<T> layers_of(const spec& one) { return chain<T>(shape(one.sizes), one.parts, one.text()); }
  static int size_after(const spec& s) {
    int size = 0;
    for (const spec& one : s.parts) size += layers_of(one).output_shape().size();
    return size;
  }
  [[nodiscard]] Eigen::Index end_of(std::size_t i, Eigen::Index part::*where, Eigen::Index end) const {
    return i + 1 < parts_.size() ? parts_[i + 1].*where : end;
  }
  [[nodiscard]] std::vector<parameter_array> named(std::vector<parameter_array> (chain<T>::*which)() const) const {
    std::vector<parameter_array> all;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      for (parameter_array& a : (parts_[i].layers.*which)())
        all.push_back({base::text("{}.{}", i, a.name), std::move(a.extents)});
    }
    return all;
  }

  std::vector<part> parts_;
};

}  // namespace manta::nn::detail
