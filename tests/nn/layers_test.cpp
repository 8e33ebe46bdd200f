// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Layers: gradients against central differences, values against formulas written down here in another way, and what the
// layers promise besides.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "manta/error.hpp"
#include "manta/nn.hpp"
#include "manta/nn/panel_product.hpp"
#include "support/gradients.hpp"
#include "support/text.hpp"

namespace nn = manta::nn;
using manta::testing::check_gradients;
using manta::testing::contains;
using manta::testing::difference;
using manta::testing::numbers;
using manta::testing::thrown;

namespace {

using matrix = nn::matrix<double>;

std::span<double> all(matrix& m) { return {m.data(), static_cast<std::size_t>(m.size())}; }

template <class... Layers>
nn::network<double> network(const nn::shape& in, const Layers&... layers) {
  return nn::network<double>(in, layers...);
}

}  // namespace

TEST_CASE("gradients of all layers are those of central differences") {
  const nn::shape vector{6}, sequence{4, 6}, image{2, 5, 6};
  check_gradients(network(vector, nn::gelu()), 3);
  check_gradients(network(vector, nn::softmax()), 3);
  check_gradients(network(sequence, nn::linear(3), nn::softmax()), 3);
  check_gradients(network(image, nn::conv2d(3, 3)), 2);
  check_gradients(network(image, nn::conv2d(3, 3, {.stride = 2, .padding = 1, .bias = false})), 3);
  check_gradients(network(image, nn::conv2d(4, 1, {.stride = 2})), 2);
  check_gradients(network(nn::shape{1, 15, 14}, nn::conv2d(2, 5, {.padding = 2})), 3);
  check_gradients(network(image, nn::max_pool(2)), 2);
  check_gradients(network(image, nn::max_pool(3, {.stride = 2, .padding = 1})), 2);
  check_gradients(network(image, nn::average_pool(3, {.stride = 2, .padding = 1})), 2);
  check_gradients(network(nn::shape{3, 4, 4}, nn::average_pool(0), nn::linear(2)), 2);
  for (const nn::pool_options& o : {nn::pool_options{}, nn::pool_options{.stride = 2, .padding = 1}}) {
    check_gradients(network(nn::shape{2, 4, 5, 6}, nn::max_pool(3, o)), 2);
    check_gradients(network(nn::shape{2, 4, 5, 6}, nn::average_pool(3, o)), 2);
    check_gradients(network(nn::shape{7, 3}, nn::max_pool(3, o)), 2);
    check_gradients(network(nn::shape{7, 3}, nn::average_pool(3, o)), 2);
  }
  check_gradients(network(nn::shape{2, 3, 3, 3}, nn::average_pool(0), nn::linear(2)), 2);
  check_gradients(network(vector, nn::batch_norm()), 5);
  check_gradients(network(sequence, nn::batch_norm()), 3);
  check_gradients(network(image, nn::batch_norm()), 3);
  check_gradients(network(image, nn::batch_norm()), 3, {.training = false});
  check_gradients(network(vector, nn::layer_norm()), 3);
  check_gradients(network(sequence, nn::layer_norm()), 3);
  check_gradients(network(image, nn::layer_norm()), 3);
  check_gradients(network(vector, nn::linear(8), nn::dropout(0.4), nn::linear(2)), 3, {.seed = 4});
  check_gradients(network(sequence, nn::positions()), 3);
  check_gradients(network(sequence, nn::last(), nn::linear(2)), 3);
  check_gradients(network(image, nn::flatten(), nn::linear(2)), 3);
  check_gradients(network(sequence, nn::lstm(5)), 3);
  check_gradients(network(sequence, nn::gru(5)), 3);
  check_gradients(network(vector, nn::lstm(3), nn::lstm(2)), 3);
  check_gradients(network(sequence, nn::gru(3, {.start = nn::start::orthogonal}), nn::lstm(4), nn::last()), 2);
  check_gradients(network(sequence, nn::mean(), nn::linear(2)), 3);
  check_gradients(network(nn::shape{12}, nn::reshape({3, 2, 2}), nn::conv2d(2, 2)), 2);
  check_gradients(network(nn::shape{4, 3, 2}, nn::group_norm(2), nn::conv2d(2, 2)), 3);
  check_gradients(network(vector, nn::group_norm(3)), 3);
  check_gradients(network(sequence, nn::bidirectional(nn::lstm(3)), nn::bidirectional(nn::gru(2))), 2);
  check_gradients(network(sequence, nn::conv1d(3, 2)), 3);
  check_gradients(
      network(nn::shape{7, 3}, nn::conv1d(4, 3, {.stride = 2, .padding = 2, .dilation = 2}), nn::conv1d(2, 1)), 3);
  check_gradients(network(image, nn::conv2d_transposed(3, 3, {.stride = 2, .padding = 1, .more = 1})), 2);
  check_gradients(network(image, nn::conv2d_transposed(2, 2, {.stride = 2, .bias = false})), 3);
  check_gradients(network(image, nn::upsample(2), nn::conv2d(1, 3)), 2);
  check_gradients(network(image, nn::upsample(3, {.bilinear = true})), 2);
  for (const nn::spec& activation : {nn::leaky_relu(0.1), nn::elu(0.7), nn::silu(), nn::softplus()})
    check_gradients(network(vector, nn::linear(5), activation), 3);
  check_gradients(network(sequence, nn::attention(2)), 3);
  check_gradients(network(sequence, nn::attention(3, {.causal = true})), 3);
  check_gradients(network(sequence, nn::sequential(nn::linear(4), nn::tanh()), nn::residual(nn::linear(4))), 3);
  check_gradients(
      network(image, nn::conv2d(2, 3, {.padding = 1}),
              nn::residual(nn::sequential(nn::batch_norm(), nn::tanh(), nn::conv2d(4, 3, {.stride = 2, .padding = 1})),
                           nn::conv2d(4, 1, {.stride = 2, .bias = false}))),
      3);
  matrix words(3, 2);
  words << 0, 4, 2, 2, 4, 1;
  check_gradients(network(nn::shape{23},
                          nn::parts({nn::part({2, 3, 3}, {nn::conv2d(3, 2), nn::tanh()}), nn::part({2}, {}),
                                     nn::part({3}, {nn::linear(2)})}),
                          nn::linear(3)),
                  3);
  check_gradients(network(nn::shape{3}, nn::embedding(5, 4), nn::residual(nn::attention(2, {.causal = true}))), 2, {},
                  words);
}

TEST_CASE_TEMPLATE("products through panels are products, with any number of columns, and add to what is there", T,
                   float, double) {
  const nn::matrix<T> a = numbers(37, 29, 1).template cast<T>();  // its transpose lies row by row
  for (const int columns : {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 64, 70}) {
    const nn::matrix<T> b = numbers(37, columns, 2).template cast<T>();
    nn::matrix<T> result = numbers(29, columns, 3).template cast<T>();
    const nn::matrix<T> expected = result + T(0.5) * a.transpose() * b;
    std::vector<T> panels(static_cast<std::size_t>(37 * nn::detail::columns_in_panels<T>(columns)), T(7));
    nn::detail::add_panel_products<T>({a.data(), b.data(), result.data(), 37, 37, 29, 37, T(0.5)}, 29, columns,
                                      panels.data());
    CAPTURE(columns);
    CHECK((result - expected).cwiseAbs().maxCoeff() < 1e3 * std::numeric_limits<T>::epsilon());
  }
}

TEST_CASE_TEMPLATE("a linear layer gives each sample of a batch the sums of its definition", T, float, double) {
  // Rows that are long, and not a multiple of any packet; batches of all widths that have a way of their own; a small
  // matrix and one that does not fit in a core's second cache.
  for (const auto& [inputs, outputs] : {std::pair(301, 8), std::pair(521, 515), std::pair(40, 9)}) {
    nn::network<T> net(nn::shape{inputs}, nn::linear(outputs));
    net.initialise(2);
    const Eigen::Map<const Eigen::Matrix<T, -1, -1, Eigen::RowMajor>> w(net.parameters().data(), outputs, inputs);
    const Eigen::Map<const Eigen::Matrix<T, -1, 1>> bias(net.parameters().data() + w.size(), outputs);
    const nn::matrix<T> x = numbers(inputs, 66, 3).template cast<T>();
    const matrix expected =
        (w.template cast<double>() * x.template cast<double>()).colwise() + bias.template cast<double>();
    for (const int samples : {1, 2, 3, 4, 5, 7, 8, 9, 30, 33, 64, 66}) {
      const nn::matrix<T>& y = net.forward(x.leftCols(samples));
      CAPTURE(inputs);
      CAPTURE(samples);
      CHECK((y.template cast<double>() - expected.leftCols(samples)).cwiseAbs().maxCoeff() <
            1e3 * std::numeric_limits<T>::epsilon());
    }
  }
}

TEST_CASE("a convolution gives the sums of its definition") {
  for (const int samples : {1, 7}) {
    nn::network<double> net(nn::shape{2, 7, 5}, nn::conv2d(3, 3, {.stride = 2, .padding = 1}));
    const matrix x = numbers(2 * 7 * 5, samples, 1);
    const matrix& y = net.forward(x);
    CHECK(net.output_shape() == nn::shape{3, 4, 3});
    const std::span<const double> p = net.parameters();
    for (int s = 0; s < samples; ++s)
      for (int f = 0; f < 3; ++f)
        for (int i = 0; i < 4; ++i)
          for (int j = 0; j < 3; ++j) {
            double sum = p[static_cast<std::size_t>(3 * 2 * 9 + f)];
            for (int c = 0; c < 2; ++c)
              for (int ky = 0; ky < 3; ++ky)
                for (int kx = 0; kx < 3; ++kx) {
                  const int row = 2 * i + ky - 1, col = 2 * j + kx - 1;
                  if (row < 0 || row >= 7 || col < 0 || col >= 5) continue;
                  sum += p[static_cast<std::size_t>(((f * 2 + c) * 3 + ky) * 3 + kx)] * x((c * 7 + row) * 5 + col, s);
                }
            CHECK(y((f * 4 + i) * 3 + j, s) == doctest::Approx(sum).epsilon(1e-12));
          }
  }
}

TEST_CASE("pooling of sequences, images and volumes gives what its definition says") {
  struct grid {
    nn::shape in;
    int channels, depth, height, width;
    bool channels_last, has_depth, has_height;
  };
  for (const grid& g : {grid{{9, 3}, 3, 1, 1, 9, true, false, false}, grid{{2, 7, 6}, 2, 1, 7, 6, false, false, true},
                        grid{{2, 5, 7, 6}, 2, 5, 7, 6, false, true, true}}) {
    for (const auto& [size, o] : {std::pair(2, nn::pool_options{}), std::pair(3, nn::pool_options{.stride = 2}),
                                  std::pair(3, nn::pool_options{.stride = 1, .padding = 1}),
                                  std::pair(4, nn::pool_options{.stride = 3, .padding = 3})}) {
      nn::network<double> greatest(g.in, nn::max_pool(size, o)), mean(g.in, nn::average_pool(size, o));
      CAPTURE(greatest.describe());
      const int stride = o.stride == 0 ? size : o.stride;
      const auto outputs = [&](int extent, bool is_pooled) {
        return is_pooled ? (extent + 2 * o.padding - size) / stride + 1 : 1;
      };
      const auto sees = [&](int at, int output, bool is_pooled) {
        const int begin = output * stride - o.padding;
        return !is_pooled || (at >= begin && at < begin + size);
      };
      const int d = outputs(g.depth, g.has_depth), h = outputs(g.height, g.has_height), w = outputs(g.width, true);
      REQUIRE(greatest.output_shape().size() == g.channels * d * h * w);
      const matrix x = numbers(g.in.size(), 3, 4), high = greatest.forward(x), middle = mean.forward(x);
      const auto place = [&](int c, int z, int y, int at, int rows, int columns, int planes) {
        if (g.channels_last) return at * g.channels + c;
        return ((c * planes + z) * rows + y) * columns + at;
      };
      for (int s = 0; s < 3; ++s)
        for (int c = 0; c < g.channels; ++c)
          for (int oz = 0; oz < d; ++oz)
            for (int oy = 0; oy < h; ++oy)
              for (int ox = 0; ox < w; ++ox) {
                double most = -1e9, sum = 0;
                int count = 0;
                for (int z = 0; z < g.depth; ++z)
                  for (int y = 0; y < g.height; ++y)
                    for (int at = 0; at < g.width; ++at) {
                      if (!sees(z, oz, g.has_depth) || !sees(y, oy, g.has_height) || !sees(at, ox, true)) continue;
                      const double number = x(place(c, z, y, at, g.height, g.width, g.depth), s);
                      most = std::max(most, number), sum += number, ++count;
                    }
                CHECK(high(place(c, oz, oy, ox, h, w, d), s) == most);
                CHECK(middle(place(c, oz, oy, ox, h, w, d), s) == doctest::Approx(sum / count).epsilon(1e-12));
              }
    }
  }
  CHECK(network(nn::shape{2, 3, 3, 3}, nn::average_pool(0)).output_shape() == nn::shape{2, 1, 1, 1});
  CHECK(network(nn::shape{9, 3}, nn::max_pool(0)).output_shape() == nn::shape{1, 3});
  const auto made = [](const nn::shape& in, const nn::spec& layer) {
    return thrown<manta::error>([&] { nn::network<float>(in, layer); });
  };
  CHECK(contains(made({5}, nn::max_pool(2)), "it needs a sequence, nn::shape{length, features}, an image"));
  CHECK(contains(made({2, 2, 3, 3}, nn::average_pool(0)), "a window of the whole volume needs one that is a cube"));
  CHECK(contains(made({2, 1, 3, 3}, nn::max_pool(2)), "a window of 2 needs a volume at least 2 deep"));
  CHECK(contains(made({1, 4}, nn::max_pool(2)), "a window over 2 positions needs a sequence of at least 2"));
  CHECK(contains(made({9, 4}, nn::max_pool(2, {.padding = 2})), "the padding has to be smaller than the size"));
}

TEST_CASE("activations have the values of PyTorch's") {
  matrix x(5, 1);
  x << -20, -1, 0, 0.5, 30;
  const auto of = [&](const nn::spec& layer) {
    nn::network<double> net(nn::shape{5}, layer);
    return matrix(net.forward(x));
  };
  // torch.nn.functional of [-20, -1, 0, 0.5, 30], in double
  const auto check = [](const matrix& y, const std::vector<double>& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK(y(static_cast<int>(i)) == doctest::Approx(expected[i]).epsilon(1e-12));
  };
  check(of(nn::leaky_relu()), {-0.2, -0.01, 0, 0.5, 30});
  check(of(nn::leaky_relu(0.2)), {-4, -0.2, 0, 0.5, 30});
  check(of(nn::elu()), {-0.9999999979388463, -0.6321205588285577, 0, 0.5, 30});
  check(of(nn::elu(2)), {-1.9999999958776927, -1.2642411176571153, 0, 0.5, 30});
  check(of(nn::silu()), {-4.1223072363804985e-08, -0.2689414213699951, 0, 0.3112296656009273, 29.999999999997193});
  check(of(nn::softplus()),
        {2.061153620314381e-09, 0.3132616875182228, 0.6931471805599453, 0.9740769841801067, 30.000000000000092});
}

TEST_CASE("a convolution over a sequence gives the sums of its definition, with PyTorch's order of weights") {
  const int length = 9, features = 3, size = 3, stride = 2, padding = 2, dilation = 2, filters = 4;
  for (const int samples : {1, 6}) {
    nn::network<double> net(nn::shape{length, features},
                            nn::conv1d(filters, size, {.stride = stride, .padding = padding, .dilation = dilation}));
    CHECK(net.output_shape() == nn::shape{5, filters});
    CHECK(net.arrays()[0].extents == nn::shape{filters, features, size});
    const matrix x = numbers(length * features, samples, 1);
    const matrix& y = net.forward(x);
    const std::span<const double> p = net.parameters();
    for (int s = 0; s < samples; ++s)
      for (int t = 0; t < 5; ++t)
        for (int f = 0; f < filters; ++f) {
          double sum = p[static_cast<std::size_t>(filters * features * size + f)];
          for (int c = 0; c < features; ++c)
            for (int k = 0; k < size; ++k) {
              const int at = t * stride - padding + k * dilation;
              if (at >= 0 && at < length)
                sum += p[static_cast<std::size_t>((f * features + c) * size + k)] * x(at * features + c, s);
            }
          CHECK(y(t * filters + f, s) == doctest::Approx(sum).epsilon(1e-12));
        }
  }
}

TEST_CASE("a transposed convolution gives the sums of its definition, and upsampling PyTorch's pixels") {
  const int inputs = 2, height = 3, width = 2, size = 3, stride = 2, padding = 1, filters = 3;
  nn::network<double> net(nn::shape{inputs, height, width},
                          nn::conv2d_transposed(filters, size, {.stride = stride, .padding = padding, .more = 1}));
  CHECK(net.output_shape() == nn::shape{filters, 6, 4});
  CHECK(net.arrays()[0].extents == nn::shape{inputs, filters, size, size});
  const matrix x = numbers(inputs * height * width, 2, 1);
  const std::span<const double> p = net.parameters();
  matrix expected(filters * 6 * 4, 2);
  for (int f = 0; f < filters; ++f) expected.middleRows(f * 24, 24).setConstant(p[static_cast<std::size_t>(54 + f)]);
  for (int s = 0; s < 2; ++s)
    for (int c = 0; c < inputs; ++c)
      for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j)
          for (int f = 0; f < filters; ++f)
            for (int ky = 0; ky < size; ++ky)
              for (int kx = 0; kx < size; ++kx) {
                const int row = stride * i + ky - padding, col = stride * j + kx - padding;
                if (row < 0 || row >= 6 || col < 0 || col >= 4) continue;
                expected((f * 6 + row) * 4 + col, s) +=
                    p[static_cast<std::size_t>(((c * filters + f) * size + ky) * size + kx)] *
                    x((c * height + i) * width + j, s);
              }
  CHECK((net.forward(x) - expected).norm() < 1e-12);

  matrix pixels(4, 1);
  pixels << 1, 2, 3, 4;
  nn::network<double> nearest(nn::shape{1, 2, 2}, nn::upsample(2)),
      linear(nn::shape{1, 2, 2}, nn::upsample(2, {.bilinear = true}));
  const matrix a = nearest.forward(pixels), b = linear.forward(pixels);
  CHECK(std::vector<double>(a.data(), a.data() + 8) == std::vector<double>{1, 1, 2, 2, 1, 1, 2, 2});
  // torch.nn.Upsample(scale_factor=2, mode="bilinear") of [[1, 2], [3, 4]]
  CHECK(std::vector<double>(b.data(), b.data() + 8) == std::vector<double>{1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5});
}

TEST_CASE("group norm is layer norm of one group, and normalises each channel where there are as many groups") {
  const matrix x = numbers(4 * 3 * 2, 5, 1);
  nn::network<double> one(nn::shape{4, 3, 2}, nn::group_norm(1)), all(nn::shape{24}, nn::layer_norm()),
      each(nn::shape{4, 3, 2}, nn::group_norm(4, 0));
  CHECK((one.forward(x) - all.forward(x)).norm() < 1e-12);
  const matrix& y = each.forward(x);
  for (int s = 0; s < 5; ++s)
    for (int c = 0; c < 4; ++c) {
      CHECK(std::abs(y.col(s).segment(6 * c, 6).mean()) < 1e-12);
      CHECK(y.col(s).segment(6 * c, 6).squaredNorm() == doctest::Approx(6));
    }
  CHECK(one.arrays()[0].extents == nn::shape{4});
}

TEST_CASE("a bidirectional layer gives what two layers give, of which one reads the sequence from its end") {
  const matrix x = numbers(5 * 2, 3, 1);
  nn::network<double> both(nn::shape{5, 2}, nn::bidirectional(nn::lstm(3))), there(nn::shape{5, 2}, nn::lstm(3)),
      back(nn::shape{5, 2}, nn::lstm(3));
  both.initialise(2);
  const std::size_t half = there.parameters().size();
  std::ranges::copy(both.parameters().first(half), there.parameters().begin());
  std::ranges::copy(both.parameters().subspan(half), back.parameters().begin());
  matrix turned(10, 3);
  for (int t = 0; t < 5; ++t) turned.middleRows(2 * t, 2) = x.middleRows(2 * (4 - t), 2);
  const matrix y = both.forward(x), a = there.forward(x), b = back.forward(turned);
  for (int t = 0; t < 5; ++t) {
    CHECK((y.middleRows(6 * t, 3) - a.middleRows(3 * t, 3)).norm() < 1e-12);
    CHECK((y.middleRows(6 * t + 3, 3) - b.middleRows(3 * (4 - t), 3)).norm() < 1e-12);
  }
  CHECK(both.arrays()[3].name == "0.bias_hh_l0");
  CHECK(both.arrays()[4].name == "0.weight_ih_l0_reverse");
}

TEST_CASE("pooling takes maxima and means of what lies in the image") {
  matrix x(9, 1);
  x << 1, 2, 3, 4, 9, 6, 7, 8, 5;
  const auto pooled = [&](const nn::spec& layer) {
    nn::network<double> net(nn::shape{1, 3, 3}, layer);
    const matrix y = net.forward(x);
    return std::vector<double>(y.data(), y.data() + y.size());
  };
  CHECK(pooled(nn::max_pool(2, {.stride = 1})) == std::vector<double>{9, 9, 9, 9});
  CHECK(pooled(nn::max_pool(2, {.padding = 1})) == std::vector<double>{1, 3, 7, 9});
  CHECK(pooled(nn::average_pool(2, {.padding = 1})) == std::vector<double>{1, 2.5, 5.5, 7});
  CHECK(pooled(nn::average_pool(0)) == std::vector<double>{5});
}

TEST_CASE("batch norm normalises a batch in training, and by running means in use") {
  nn::network<double> net(nn::shape{2, 1, 2}, nn::batch_norm({.epsilon = 0}));
  matrix x(4, 2);
  x << 1, 3, 3, 5, 10, 10, 10, 14;  // channel 0: 1 3 3 5, channel 1: 10 10 10 14
  const matrix y = net.forward(x);
  CHECK(y(0, 0) == doctest::Approx(-std::sqrt(2.)));
  CHECK(y(3, 1) == doctest::Approx(3 / std::sqrt(3.)));
  const std::vector<double> running(net.buffers().begin(), net.buffers().end());
  const std::vector<double> expected{0.3, 1.1, 0.9 + 0.1 * 8 / 3, 0.9 + 0.1 * 4};
  for (std::size_t i = 0; i < 4; ++i) CHECK(running[i] == doctest::Approx(expected[i]));
  CHECK(net.buffer_arrays()[1].name == "0.running_var");
  net.mode({.training = false});
  CHECK(net.forward(x)(0, 0) == doctest::Approx((1 - 0.3) / std::sqrt(expected[2])));
  const nn::network<double> copy = net;
  CHECK(std::ranges::equal(copy.buffers(), running));
}

TEST_CASE("batch norm over two workers gives what one gives, whatever their shares") {
  const nn::shape in{2, 3, 2};
  nn::network<double> one(in, nn::conv2d(2, 1), nn::batch_norm({.all_workers = true}));
  const matrix x = numbers(12, 7, 2), dy = numbers(12, 7, 3) / 7;  // of a mean over all samples
  one.forward(x);
  const matrix dx = one.backward_to_input(dy);

  // A worker is run as often as needed: the sums of the others are those of the pass before.
  const std::vector<std::pair<int, int>> shares{{0, 2}, {2, 5}};
  std::vector<nn::network<double>> workers(
      2, nn::network<double>(in, nn::conv2d(2, 1), nn::batch_norm({.all_workers = true})));
  std::vector<std::vector<std::vector<double>>> sums(2, std::vector<std::vector<double>>(2));
  std::vector<matrix> parts(2);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t w = 0; w < 2; ++w) {
      std::size_t call = 0;
      const auto sum = [&](std::span<double> own) {
        sums[w][call].assign(own.begin(), own.end());
        if (!sums[1 - w][call].empty())
          for (std::size_t i = 0; i < own.size(); ++i) own[i] += sums[1 - w][call][i];
        ++call;
      };
      const auto [begin, count] = shares[w];
      workers[w].mode({.sum_over_workers = sum});
      workers[w].forward(x.middleCols(begin, count));
      workers[w].zero_gradients();
      parts[w] = workers[w].backward_to_input(dy.middleCols(begin, count) * 7 / count) * count / 7;
    }
  }
  CHECK((dx.leftCols(2) - parts[0]).norm() < 1e-12);
  CHECK((dx.rightCols(5) - parts[1]).norm() < 1e-12);
  for (std::size_t i = 0; i < one.gradients().size(); ++i)
    CHECK(one.gradients()[i] ==
          doctest::Approx(workers[0].gradients()[i] * 2 / 7 + workers[1].gradients()[i] * 5 / 7).epsilon(1e-10));
}

TEST_CASE("a dropout mask follows the sample's number, not its place in a batch") {
  nn::network<double> net(nn::shape{1000}, nn::dropout(0.25), nn::dropout(0.25));
  const std::vector<std::uint64_t> samples{7, 8, 9}, alone{9};
  const matrix ones = matrix::Ones(1000, 3);
  net.mode({.seed = 1, .step = 5, .samples = samples});
  const matrix y = net.forward(ones);
  CHECK(y.mean() == doctest::Approx(1).epsilon(0.05));
  const auto kept = (y.array() > 0).count();
  CHECK(kept == doctest::Approx(3000 * 0.75 * 0.75).epsilon(0.05));  // the two masks are independent
  net.mode({.seed = 1, .step = 5, .samples = alone});
  CHECK(net.forward(matrix::Ones(1000, 1)) == y.col(2));
  net.mode({.seed = 1, .step = 6, .samples = alone});
  CHECK(net.forward(matrix::Ones(1000, 1)) != y.col(2));
  net.mode({.training = false});
  CHECK(net.forward(ones) == ones);
}

TEST_CASE("sequences give what their steps give with a carried state") {
  for (const nn::spec& layer : {nn::lstm(4), nn::gru(4)}) {
    const int length = 5, samples = 3;
    nn::network<double> whole(nn::shape{length, 2}, layer, nn::linear(3)), steps(nn::shape{2}, layer, nn::linear(3));
    whole.initialise(4);
    std::ranges::copy(whole.parameters(), steps.parameters().begin());
    const matrix x = numbers(length * 2, samples, 1);
    const matrix y = whole.forward(x);

    matrix in_order(2, length * samples), expected(3, length * samples);
    for (int t = 0; t < length; ++t) {
      in_order.middleCols(t * samples, samples) = x.middleRows(2 * t, 2);
      expected.middleCols(t * samples, samples) = y.middleRows(3 * t, 3);
    }
    matrix state = steps.initial_state(samples);
    for (int t = 0; t < length; ++t) {
      const matrix& now = steps.forward(in_order.middleCols(t * samples, samples), state);
      CHECK((now - expected.middleCols(t * samples, samples)).norm() < 1e-12);
    }
    matrix other = steps.initial_state(samples);
    CHECK((steps.forward(in_order, other) - expected).norm() < 1e-12);
    CHECK((state - other).norm() < 1e-12);

    const matrix dy = numbers(3, length * samples, 2);
    matrix dy_whole(3 * length, samples);
    for (int t = 0; t < length; ++t) dy_whole.middleRows(3 * t, 3) = dy.middleCols(t * samples, samples);
    steps.backward(dy);
    whole.backward(dy_whole);
    for (std::size_t i = 0; i < steps.gradients().size(); ++i)
      CHECK(steps.gradients()[i] == doctest::Approx(whole.gradients()[i]).epsilon(1e-10));
  }
}

TEST_CASE("a reset begins a sample's sequence anew, in both directions") {
  for (const nn::spec& layer : {nn::lstm(4), nn::gru(4)}) {
    const int length = 6, samples = 2;
    nn::network<double> net(nn::shape{2}, layer, nn::tanh(), layer);
    matrix x = numbers(2, length * samples, 1);
    const matrix weights = numbers(4, length * samples, 2), start = numbers(net.state_size(), samples, 3) / 2;
    std::vector<unsigned char> resets(static_cast<std::size_t>(length * samples), 0);
    resets[0] = resets[3 * samples + 1] = 1;
    const auto run = [&] {
      matrix state = start;
      return matrix(net.forward(x, state, resets));
    };
    const matrix y = run();
    matrix fresh = net.initial_state(1);
    for (int t = 3; t < length; ++t) {
      const matrix& one = net.forward(x.col(t * samples + 1), fresh);
      CHECK((one - y.col(t * samples + 1)).norm() < 1e-12);
    }
    const auto value = [&] { return run().cwiseProduct(weights).sum(); };
    value();
    net.zero_gradients();
    matrix dx = net.backward_to_input(weights);
    const std::vector<double> gradients(net.gradients().begin(), net.gradients().end());
    CHECK(difference(net.parameters(), gradients, value) < 1e-6);
    CHECK(difference(all(x), all(dx), value) < 1e-6);
  }
}

TEST_CASE("attention over steps gives what its formula gives, for any division into calls, and forgets at a reset") {
  const int length = 4, steps = 11, samples = 2, features = 6, heads = 2;
  nn::network<double> net(nn::shape{features}, nn::step_attention(heads, length));
  net.initialise(2);
  const matrix ages = numbers(heads * length, 1, 7);
  std::ranges::copy(ages.reshaped(), net.parameters().last(heads * length).begin());
  const matrix x = numbers(features, steps * samples, 1);
  std::vector<unsigned char> resets(static_cast<std::size_t>(steps * samples), 0);
  const int reset = 6;  // of sample 1
  resets[reset * samples + 1] = 1;

  // The definition, step by step.
  const double* const p = net.parameters().data();
  const auto weights = [&](int first, int rows) {
    return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(p + first, rows,
                                                                                                    features);
  };
  const matrix parts = weights(0, 3 * features) * x;
  matrix expected(features, steps * samples);
  for (int s = 0; s < samples; ++s) {
    for (int t = 0; t < steps; ++t) {
      const int first = std::max(s == 1 && t >= reset ? reset : 0, t - length + 1);
      Eigen::VectorXd mixed = Eigen::VectorXd::Zero(features);
      for (int h = 0; h < heads; ++h) {
        double sum = 0;
        Eigen::Vector3d value = Eigen::Vector3d::Zero();
        for (int k = first; k <= t; ++k) {
          const auto part = [&](int step, int which) {
            return parts.col(step * samples + s).segment<3>(which * features + 3 * h);
          };
          const double bias = p[4 * features * features + 4 * features + h * length + length - 1 - (t - k)];
          const double e = std::exp(part(t, 0).dot(part(k, 1)) / std::sqrt(3.0) + bias);
          sum += e;
          value += e * part(k, 2);
        }
        mixed.segment<3>(3 * h) = value / sum;
      }
      expected.col(t * samples + s) = weights(3 * features * features + 3 * features, features) * mixed;
    }
  }
  for (const int part : {1, 2, 3, 5, steps}) {
    matrix state = net.initial_state(samples);
    for (int t = 0; t < steps; t += part) {
      const int n = std::min(part, steps - t) * samples;
      const auto some = std::span<const unsigned char>(resets).subspan(static_cast<std::size_t>(t * samples),
                                                                       static_cast<std::size_t>(n));
      const matrix& y = net.forward(x.middleCols(t * samples, n), state, some);
      CHECK((y - expected.middleCols(t * samples, n)).norm() < 1e-12);
    }
  }
}

TEST_CASE("gradients of attention over steps are those of central differences") {
  const int length = 4, steps = 7, samples = 2;
  nn::network<double> net(nn::shape{4}, nn::linear(4), nn::residual(nn::step_attention(2, length)), nn::lstm(3));
  matrix x = numbers(4, steps * samples, 1), start = net.initial_state(samples);
  net.forward(numbers(4, 3 * samples, 4), start);  // what is remembered
  const matrix weights = numbers(3, steps * samples, 2);
  std::vector<unsigned char> resets(static_cast<std::size_t>(steps * samples), 0);
  resets[3 * samples + 1] = 1;
  const auto value = [&] {
    matrix state = start;
    return net.forward(x, state, resets).cwiseProduct(weights).sum();
  };
  value();
  net.zero_gradients();
  matrix dx = net.backward_to_input(weights);
  const std::vector<double> gradients(net.gradients().begin(), net.gradients().end());
  CHECK(difference(net.parameters(), gradients, value) < 1e-6);
  CHECK(difference(all(x), all(dx), value) < 1e-6);
}

TEST_CASE("causal attention does not see what comes later") {
  nn::network<double> net(nn::shape{5, 4}, nn::attention(2, {.causal = true}));
  matrix x = numbers(20, 1, 1);
  const matrix before = net.forward(x);
  x.bottomRows(4) = numbers(4, 1, 2);
  const matrix& after = net.forward(x);
  CHECK((after - before).topRows(16).norm() == 0);
  CHECK((after - before).bottomRows(4).norm() > 1e-3);
}

TEST_CASE("a copy of a network shares nothing with it") {
  nn::network<double> net(nn::shape{4, 4}, nn::residual(nn::sequential(nn::layer_norm(), nn::attention(2))),
                          nn::lstm(3), nn::batch_norm(), nn::last());
  const matrix x = numbers(16, 4, 1);
  const matrix y = net.forward(x);
  nn::network<double> copy = net, moved = std::move(net);
  std::ranges::fill(moved.parameters(), 0.);
  copy.initialise(0);
  CHECK(copy.forward(x) == y);
  CHECK(copy.arrays()[0].name == "0.main.0.weight");
  CHECK(copy.arrays()[2].name == "0.main.1.in_proj_weight");
  CHECK(copy.arrays()[6].name == "1.weight_ih_l0");
}

TEST_CASE("layers that do not suit their input are named, with what they need") {
  const auto made = [](const nn::shape& in, const nn::spec& layer) {
    return thrown<manta::error>([&] { nn::network<float>(in, nn::relu(), layer); });
  };
  CHECK(contains(made({10}, nn::conv2d(3, 3)),
                 "layer 1 of the network, conv2d(3, 3), gets an input of shape 10: it needs an "
                 "image, nn::shape{channels, height, width}"));
  CHECK(contains(made({1, 2, 2}, nn::conv2d(3, 5, {.padding = 1})), "needs an image of at least 3 x 3"));
  CHECK(contains(made({1, 4, 4}, nn::max_pool(2, {.padding = 2})), "the padding smaller than the size"));
  CHECK(contains(made({4, 6}, nn::attention(4)), "the 6 features have to be a multiple of the 4 heads"));
  CHECK(contains(made({6}, nn::attention(2)), "gets an input of shape 6: it needs a sequence"));
  CHECK(contains(made({6}, nn::dropout(1)), "at least 0 and below 1"));
  CHECK(contains(made({6}, nn::residual(nn::linear(5))), "its layers give 5, and the shortcut 6"));
  CHECK(contains(made({6}, nn::parts({nn::part({2}, {}), nn::part({3}, {})})), "its parts have 5 numbers together"));
  CHECK(contains(made({6}, nn::conv1d(2, 3)), "it needs a sequence, nn::shape{length, features}"));
  CHECK(contains(made({4, 2}, nn::conv1d(2, 3, {.padding = 1, .dilation = 3})),
                 "a window over 7 positions needs a sequence of at least 5 for its padding of 1"));
  CHECK(contains(made({1, 2, 2}, nn::conv2d_transposed(1, 2, {.stride = 2, .more = 2})),
                 "the rows that are added have to be fewer than the stride"));
  CHECK(contains(made({1, 1, 1}, nn::conv2d_transposed(1, 2, {.padding = 1})), "its padding leaves nothing"));
  CHECK(contains(made({6}, nn::upsample(2)), "it needs an image"));
  CHECK(contains(made({6}, nn::leaky_relu(-1)), "the slope is -1; it has to be at least 0 and below 1"));
  CHECK(contains(made({6}, nn::mean()), "it needs a sequence"));
  CHECK(contains(made({6}, nn::reshape({2, 2})), "the shape 2 x 2 has 4 numbers; there have to be 6"));
  CHECK(contains(made({6}, nn::group_norm(4)), "the 6 channels have to be a multiple of the 4 groups"));
  CHECK(contains(made({6}, nn::bidirectional(nn::gru(2))), "it needs whole sequences"));
  CHECK(
      contains(thrown<manta::error>([] { nn::bidirectional(nn::relu()); }), "takes an lstm or a gru, and got relu()"));
  CHECK(contains(made({6}, nn::sequential(nn::linear(5), nn::last())),
                 "layer 1 of it, last(), gets an input of shape 5"));
  nn::network<double> steps(nn::shape{2}, nn::lstm(3)), words(nn::shape{2}, nn::embedding(3, 2));
  matrix state(5, 2), x = matrix::Zero(2, 4);
  CHECK(contains(thrown<manta::error>([&] { steps.forward(x, state); }), "the state has to be 6 x samples"));
  x(1, 2) = 3;
  CHECK(contains(thrown<manta::error>([&] { words.forward(x); }),
                 "embedding: sample 2 of the batch has the word 3; words are whole numbers from 0 to 2"));
  x(1, 2) = 0.5;
  CHECK(contains(thrown<manta::error>([&] { words.forward(x); }),
                 "sample 2 of the batch has the word 0.5; words are whole"));
}

TEST_CASE("options that cannot be meant are refused by every layer, with the option's value") {
  const auto made = [](const nn::shape& in, const nn::spec& layer) {
    return thrown<manta::error>([&] { nn::network<float>(in, layer); });
  };
  CHECK(contains(made({4}, nn::dropout(-0.5)), "the probability is -0.5; it has to be at least 0 and below 1"));
  CHECK(contains(made({4}, nn::dropout(std::nan(""))), "the probability is nan"));
  CHECK(contains(made({4}, nn::batch_norm({.momentum = 0})), "the momentum is 0; it has to be above 0 and at most 1"));
  CHECK(contains(made({4}, nn::batch_norm({.epsilon = -1})), "epsilon is -1; it has to be at least 0"));
  CHECK(contains(made({4}, nn::layer_norm(-1e-5)), "epsilon is -1e-05"));
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(contains(made({4}, nn::linear(2, {.gain = -1})), "the gain is -1; it has to be at least 0"));
  CHECK(contains(made({4}, nn::lstm(2, {.gain = infinite})), "the gain is inf"));
  CHECK(contains(made({1, 4, 4}, nn::conv2d(2, 3, {.gain = std::nan("")})), "the gain is nan"));
  CHECK(contains(made({1, 4, 4}, nn::conv2d(2, 3, {.stride = 0})), "size and stride have to be at least 1"));
}

TEST_CASE_TEMPLATE("every layer passes NaN on: what is no number in a sample is none in what comes of it", T, float,
                   double) {
  const auto passes = [](const nn::shape& in, const nn::spec& layer, bool training = true) {
    nn::network<T> net(in, layer);
    net.mode({.training = training});
    INFO(net.describe());
    const nn::matrix<T> x = numbers(in.size(), 5, 1).template cast<T>();
    for (const int row : {0, in.size() / 2, in.size() - 1}) {
      nn::matrix<T> damaged = x;
      damaged(row, 1) = std::numeric_limits<T>::quiet_NaN();
      CHECK(net.forward(damaged).col(1).hasNaN());
    }
  };
  const nn::shape vector{17}, sequence{5, 6}, image{2, 6, 6};
  for (const nn::spec& l :
       {nn::linear(9), nn::relu(), nn::tanh(), nn::sigmoid(), nn::gelu(), nn::softmax(), nn::leaky_relu(), nn::elu(),
        nn::silu(), nn::softplus(), nn::batch_norm(), nn::layer_norm(), nn::dropout(0), nn::residual(nn::linear(17)),
        nn::lstm(3), nn::gru(3), nn::sequential(nn::linear(6), nn::step_attention(2, 4))})
    passes(vector, l);
  for (const nn::spec& l :
       {nn::lstm(7), nn::gru(7), nn::attention(2), nn::attention(2, {.causal = true}), nn::positions(),
        nn::layer_norm(), nn::batch_norm(), nn::flatten(), nn::mean(), nn::conv1d(3, 2)})
    passes(sequence, l);
  for (const nn::spec& l :
       {nn::conv2d(3, 3, {.padding = 1}), nn::conv2d(3, 3, {.stride = 2, .padding = 1}), nn::max_pool(2),
        nn::max_pool(3, {.stride = 2, .padding = 1}), nn::average_pool(2), nn::batch_norm(),
        nn::conv2d_transposed(2, 2), nn::upsample(2), nn::group_norm(2), nn::upsample(2, {.bilinear = true})})
    passes(image, l);
  passes(vector, nn::batch_norm(), false);
}

TEST_CASE("in the rest of an epoch batch norm takes its running means where a batch is a single number") {
  nn::network<double> net(nn::shape{3}, nn::batch_norm());
  net.forward(numbers(3, 6, 1));
  const std::vector<double> before(net.buffers().begin(), net.buffers().end());
  const matrix one = numbers(3, 1, 2);
  CHECK(contains(thrown<manta::error>([&] { net.forward(one); }),
                 "no variance of a single number: a worker's share of a batch needs two samples"));
  net.mode({.is_rest = true});
  const matrix y = net.forward(one);
  CHECK(std::ranges::equal(net.buffers(), before));
  net.mode({.training = false});
  CHECK(net.forward(one) == y);
  net.mode({.is_rest = true});
  net.forward(numbers(3, 2, 2));  // two samples have a variance
  CHECK(!std::ranges::equal(net.buffers(), before));
  check_gradients(network(nn::shape{3}, nn::linear(4), nn::batch_norm(), nn::tanh()), 1, {.is_rest = true});
}

TEST_CASE("a worker without samples makes the same sums over workers as the others, in the same order") {
  const nn::spec norm = nn::batch_norm({.all_workers = true}), alone = nn::batch_norm();
  const auto block = nn::residual(nn::sequential(nn::conv2d(2, 3, {.padding = 1}), norm, nn::relu()),
                                  nn::sequential(norm, nn::conv2d(2, 1)));
  nn::network<double> net(nn::shape{2, 4, 4}, norm, nn::relu(), block, alone,
                          nn::sequential(nn::linear(5), norm, nn::tanh(), nn::dropout(.1), norm), nn::linear(2));
  REQUIRE(net.sums_over_workers());
  CHECK(!nn::network<double>(nn::shape{4}, alone, nn::linear(2)).sums_over_workers());
  std::vector<std::string> calls;
  const nn::gradients_ready ready = [&](std::size_t begin, std::size_t end) {
    calls.push_back("ready " + std::to_string(begin) + " to " + std::to_string(end));
  };
  const auto calls_of = [&](const auto& run) {
    calls.clear();
    net.mode({.sum_over_workers = [&](std::span<double> s) {
      calls.push_back("sum of " + std::to_string(s.size()));
      if (s.size() % 2 == 1 && s.back() == 0) s.back() = 7;  // the others have seven numbers
    }});
    run();
    return calls;
  };
  const auto with = calls_of([&] { net.forward(numbers(32, 3, 1)), net.backward(numbers(2, 3, 2), ready); });
  const auto without = calls_of([&] { net.forward_without_samples(), net.backward_without_samples(ready); });
  CHECK(with == without);
  CHECK(std::ranges::count(with, "sum of 5") == 3);  // two channels and the number of samples, in forward
  CHECK(std::ranges::count(with, "sum of 4") == 2);  // and but for the first layer in backward
  CHECK(std::ranges::count(with, "sum of 11") == 2);
}
