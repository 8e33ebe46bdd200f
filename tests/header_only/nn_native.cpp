// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What depends on the widest vectors of the machine (-march=native). Optimisers give the same bits wherever the arrays
// lie: narrow vectors are never wider than what malloc's addresses are multiples of. Convolutions of stride 1 take
// their sums from shifted planes, and give what the definition gives.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "manta/nn/aligned.hpp"
#include "manta/nn/layer/convolution.hpp"
#include "manta/nn/optimizer.hpp"
#include "manta/nn/random.hpp"

namespace nn = manta::nn;

namespace {

/// Parameters after three steps, with arrays that begin so many numbers after a multiple of 64 bytes.
std::vector<float> steps(nn::optimizer optimizer, std::size_t shift) {
  constexpr std::size_t count = 77;
  nn::detail::aligned_vector<float> p(count + shift), g(count + shift);
  for (std::uint64_t step = 0; step < 3; ++step) {
    const nn::random random(step);
    for (std::size_t i = 0; i < count; ++i) g[shift + i] = static_cast<float>(2 * random.uniform(i) - 1);
    optimizer.step(std::span(p).subspan(shift), std::span<const float>(g).subspan(shift));
  }
  return {p.begin() + static_cast<std::ptrdiff_t>(shift), p.end()};
}

using matrix = nn::matrix<double>;

matrix normal_numbers(int rows, int cols, std::uint64_t seed) {
  const nn::random random(seed);
  matrix m(rows, cols);
  for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = random.normal(static_cast<std::uint64_t>(i));
  return m;
}

/// The largest differences of a convolution's result and gradients from those by the definition.
double convolution_error(int channels, int height, int width, int filters, int size, int padding) {
  constexpr int images = 3;
  const int out_h = height + 2 * padding - size + 1, out_w = width + 2 * padding - size + 1;
  const int weights = channels * size * size;
  nn::detail::convolution_layer<double, 2> layer(nn::conv2d(filters, size, {.padding = padding}),
                                                 nn::shape{channels, height, width});
  matrix p = normal_numbers(filters * (weights + 1), 1, 1), g = matrix::Zero(p.rows(), 1), y, dx;
  layer.bind(p.data(), g.data(), nullptr);
  const matrix x = normal_numbers(channels * height * width, images, 2),
               dy = normal_numbers(filters * out_h * out_w, images, 3);
  layer.forward(x, y, {});
  layer.backward(x, y, dy, &dx);

  matrix want_y = matrix::Zero(dy.rows(), images), want_g = matrix::Zero(p.rows(), 1),
         want_dx = matrix::Zero(x.rows(), images);
  for (int s = 0; s < images; ++s) {
    for (int at = 0; at < filters * out_h * out_w; ++at) {
      const int f = at / (out_h * out_w), top = at / out_w % out_h - padding, left = at % out_w - padding;
      want_y(at, s) += p(filters * weights + f, 0);
      want_g(filters * weights + f, 0) += dy(at, s);
      for (int k = 0; k < weights; ++k) {
        const int row = top + k / size % size, column = left + k % size;
        if (row < 0 || row >= height || column < 0 || column >= width) continue;
        const int from = (k / (size * size) * height + row) * width + column;
        want_y(at, s) += p(f * weights + k, 0) * x(from, s);
        want_g(f * weights + k, 0) += dy(at, s) * x(from, s);
        want_dx(from, s) += dy(at, s) * p(f * weights + k, 0);
      }
    }
  }
  return std::max(
      {(y - want_y).cwiseAbs().maxCoeff(), (g - want_g).cwiseAbs().maxCoeff(), (dx - want_dx).cwiseAbs().maxCoeff()});
}

}  // namespace

int main() {
  const std::vector<nn::optimizer> optimizers = {nn::adam(), nn::adamw({.weight_decay = 0.1}),
                                                 nn::rmsprop({.momentum = 0.9}), nn::sgd({.rate = 0.1}),
                                                 nn::sgd({.rate = 0.1, .momentum = 0.9, .nesterov = true})};
  int failures = 0;
  for (const nn::optimizer& o : optimizers) {
    for (std::size_t shift = 1; shift < 16; ++shift) {
      if (steps(o, shift) == steps(o, 0)) continue;
      std::printf("%s differs where the arrays begin %zu numbers later\n", o.name().c_str(), shift);
      ++failures;
    }
  }
  struct {
    int channels, height, width, filters, size, padding;
  } const shapes[] = {
      {4, 9, 14, 5, 3, 1}, {5, 13, 7, 4, 2, 0}, {1, 28, 28, 3, 5, 2}, {9, 6, 31, 1, 3, 2}, {6, 8, 8, 8, 1, 0}};
  for (const auto& s : shapes) {
    const double error = convolution_error(s.channels, s.height, s.width, s.filters, s.size, s.padding);
    if (error < 1e-11) continue;
    std::printf("conv2d(%d, %d) of %d x %d x %d differs from the definition by %g\n", s.filters, s.size, s.channels,
                s.height, s.width, error);
    ++failures;
  }
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
