// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Convolutions with groups and dilation, of images and of volumes, against the sums of their definition and central
// differences.
#include <doctest/doctest.h>

#include <vector>

#include "../support/gradients.hpp"
#include "../support/text.hpp"

namespace nn = manta::nn;
using manta::testing::check_gradients;
using manta::testing::contains;
using manta::testing::numbers;
using manta::testing::thrown;
using matrix = nn::matrix<double>;

namespace {

/// What PyTorch's Conv3d gives: a volume of depth 1 with a filter of depth 1 is an image.
struct definition {
  int channels, depth, height, width;
  int filters, size_z, size;
  nn::conv2d_options o;

  [[nodiscard]] int outputs(int extent, int k, bool is_depth_of_image) const {
    if (is_depth_of_image) return 1;
    return (extent + 2 * o.padding - o.dilation * (k - 1) - 1) / o.stride + 1;
  }
  [[nodiscard]] matrix result(const matrix& x, std::span<const double> p) const {
    const bool is_image = size_z == 1 && depth == 1;
    const int d = outputs(depth, size_z, is_image), h = outputs(height, size, false), w = outputs(width, size, false);
    const int seen = channels / o.groups, per_group = filters / o.groups, weights = seen * size_z * size * size;
    matrix y(filters * d * h * w, x.cols());
    for (Eigen::Index s = 0; s < x.cols(); ++s)
      for (int f = 0; f < filters; ++f)
        for (int at = 0; at < d * h * w; ++at) {
          double sum = o.bias ? p[static_cast<std::size_t>(filters * weights + f)] : 0;
          for (int k = 0; k < weights; ++k) {
            const int kx = k % size, ky = k / size % size, kz = k / (size * size) % size_z,
                      c = k / (size * size * size_z);
            const int column = at % w * o.stride + kx * o.dilation - o.padding,
                      row = at / w % h * o.stride + ky * o.dilation - o.padding,
                      plane = is_image ? 0 : at / (w * h) * o.stride + kz * o.dilation - o.padding;
            if (column < 0 || column >= width || row < 0 || row >= height || plane < 0 || plane >= depth) continue;
            const int channel = f / per_group * seen + c;
            sum += p[static_cast<std::size_t>(f * weights + k)] *
                   x(((channel * depth + plane) * height + row) * width + column, s);
          }
          y(f * d * h * w + at, s) = sum;
        }
    return y;
  }
};

void check_sums(const nn::network<double>& net, const definition& wanted) {
  nn::network<double> its = net;
  INFO(its.describe());
  its.initialise(3);
  for (const int samples : {1, 5}) {
    const matrix x = numbers(its.input_shape().size(), samples, 1);
    const matrix y = wanted.result(x, its.parameters());
    const matrix& own = its.forward(x);
    REQUIRE(own.rows() == y.rows());
    CHECK((own - y).cwiseAbs().maxCoeff() < 1e-12);
  }
}

}  // namespace

TEST_CASE("convolutions with groups and dilation give the sums of their definition") {
  for (const nn::conv2d_options& o :
       {nn::conv2d_options{.groups = 2}, nn::conv2d_options{.dilation = 2},
        nn::conv2d_options{.padding = 1, .groups = 4},
        nn::conv2d_options{.stride = 2, .padding = 3, .dilation = 2, .groups = 2, .bias = false}}) {
    check_sums(nn::network<double>(nn::shape{4, 7, 6}, nn::conv2d(8, 3, o)), {4, 1, 7, 6, 8, 1, 3, o});
    check_sums(nn::network<double>(nn::shape{4, 18, 17}, nn::conv2d(4, 3, o)), {4, 1, 18, 17, 4, 1, 3, o});
  }
}

TEST_CASE("convolutions of volumes give the sums of their definition") {
  for (const nn::conv3d_options& o : {nn::conv3d_options{}, nn::conv3d_options{.padding = 1},
                                      nn::conv3d_options{.stride = 2, .padding = 1, .groups = 2},
                                      nn::conv3d_options{.padding = 2, .dilation = 2, .bias = false}})
    check_sums(nn::network<double>(nn::shape{2, 4, 5, 6}, nn::conv3d(4, 3, o)), {2, 4, 5, 6, 4, 3, 3, o});
  const nn::network<double> net(nn::shape{2, 4, 5, 6}, nn::conv3d(4, 2));
  CHECK(net.output_shape() == nn::shape{4, 3, 4, 5});
  CHECK(net.arrays()[0].extents == nn::shape{4, 2, 2, 2, 2});
}

TEST_CASE("gradients of these convolutions are those of central differences") {
  const auto network = [](const nn::shape& in, const auto&... layers) { return nn::network<double>(in, layers...); };
  const nn::shape image{4, 6, 5};
  check_gradients(network(image, nn::conv2d(4, 3, {.groups = 2})), 2);
  check_gradients(network(image, nn::conv2d(8, 2, {.padding = 1, .groups = 4, .bias = false})), 2);
  check_gradients(network(image, nn::conv2d(2, 2, {.stride = 2, .padding = 2, .dilation = 2}), nn::tanh()), 3);
  check_gradients(network(nn::shape{2, 15, 14}, nn::conv2d(2, 3, {.dilation = 2, .groups = 2})), 1);
  check_gradients(network(nn::shape{2, 3, 4, 3}, nn::conv3d(3, 2)), 2);
  check_gradients(network(nn::shape{2, 4, 3, 4}, nn::conv3d(4, 2, {.stride = 2, .padding = 1, .groups = 2}),
                          nn::batch_norm(), nn::tanh(), nn::linear(2)),
                  3);
  check_gradients(network(nn::shape{1, 5, 5, 4}, nn::conv3d(2, 2, {.padding = 1, .dilation = 2, .bias = false})), 2);
}

TEST_CASE("convolutions that do not suit their input are named when the network is made") {
  const auto made = [](const nn::shape& in, const nn::spec& layer) {
    return thrown<manta::error>([&] { nn::network<float>(in, layer); });
  };
  CHECK(contains(made({4, 5, 5}, nn::conv2d(6, 3, {.groups = 4})),
                 "the 4 channels of the input and the 6 of the result have to be multiples of the 4 groups"));
  CHECK(contains(made({4, 5, 5}, nn::conv2d(4, 3, {.groups = 0})), "multiples of the 0 groups"));
  CHECK(contains(made({4, 5, 5}, nn::conv2d(4, 3, {.dilation = 0})), "the dilation has to be at least 1"));
  CHECK(contains(made({4, 5, 5}, nn::conv2d(4, 3, {.dilation = 3})),
                 "a window of 7 needs an image of at least 7 x 7 for its padding of 0"));
  CHECK(contains(made({4, 5, 5}, nn::conv3d(4, 3)), "it needs a volume, nn::shape{channels, depth, height, width}"));
  CHECK(contains(made({4, 2, 5, 5}, nn::conv3d(4, 3)), "a window of 3 needs a volume at least 3 deep"));
  CHECK(contains(made({4, 2, 5, 5}, nn::conv2d(4, 3)), "it needs an image"));
}
