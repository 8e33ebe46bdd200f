// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cereal/archives/binary.hpp>
#include <functional>
#include <limits>
#include <sstream>

#include "manta/error.hpp"
#include "manta/nn.hpp"
#include "manta/nn/checks.hpp"
#include "support/gradients.hpp"
#include "support/text.hpp"

namespace nn = manta::nn;
using manta::testing::difference;
using manta::testing::numbers;
using manta::testing::thrown;

namespace {

using matrix = nn::matrix<double>;

/// Parameters' and input's gradients of a network, against central differences of a loss.
void check_network(nn::network<double> net, const nn::loss& loss, const nn::targets<double>& targets, int samples) {
  INFO(net.describe());
  net.initialise(3);
  matrix x = numbers(net.input_shape().size(), samples, 5), dy;
  const auto value = [&] {
    matrix unused;
    return loss(net.forward(x), targets, unused);
  };
  loss(net.forward(x), targets, dy);
  net.zero_gradients();
  const matrix dx = net.backward_to_input(dy);
  const std::vector<double> gradients(net.gradients().begin(), net.gradients().end());
  CHECK(difference(net.parameters(), gradients, value) < 1e-6);
  CHECK(difference({x.data(), static_cast<std::size_t>(x.size())}, {dx.data(), static_cast<std::size_t>(dx.size())},
                   value) < 1e-6);
}

}  // namespace

TEST_CASE("gradients of layers and losses are those of central differences") {
  const std::vector<int> labels{0, 2, 1, 2};
  const matrix values = numbers(3, 4, 9), part = values.array().logistic();
  const auto with = [](const nn::spec& activation) {
    return nn::network<double>(nn::shape{5}, nn::linear(6), activation, nn::linear(3, {.bias = false}));
  };
  check_network(with(nn::relu()), nn::cross_entropy(), labels, 4);
  check_network(with(nn::tanh()), nn::cross_entropy({.weights = {1, 2, 0.5}, .smoothing = 0.1}), labels, 4);
  check_network(with(nn::sigmoid()), nn::mse(), values, 4);
  check_network(with(nn::tanh()), nn::huber(0.5), values, 4);
  check_network(with(nn::tanh()), nn::binary_cross_entropy(), part, 4);
  check_network(with(nn::tanh()), nn::mae(), values, 4);
  check_network(with(nn::tanh()), nn::quantile(0.9), values, 4);
  check_network(with(nn::tanh()), nn::poisson(), values.cwiseAbs().eval(), 4);
  const matrix chances = part.array().rowwise() / part.colwise().sum().array();
  check_network(with(nn::tanh()), nn::kl_divergence(), chances, 4);
  // Two classes, then a number.
  matrix several(2, 4);
  several << 0, 1, 1, 0, 0.3, -2, 1, 0.5;
  check_network(
      with(nn::tanh()),
      nn::several({{.outputs = 2, .loss = nn::cross_entropy()}, {.outputs = 1, .loss = nn::mse(), .weight = 3}}),
      several, 4);
  check_network(with(nn::tanh()), nn::cross_entropy({.weights = {1, 2, 0.5}, .smoothing = 0.1, .ignore = 1}), labels,
                4);
}

TEST_CASE("losses have the values of their formulas") {
  matrix y(3, 2);
  y << 1, 0, 2, 0, 3, 0;
  const auto [loss, dy] = nn::cross_entropy(y, std::vector<int>{2, 0});
  CHECK(loss == doctest::Approx((std::log(1 + std::exp(-1.) + std::exp(-2.)) + std::log(3.)) / 2));
  CHECK(dy(0, 1) == doctest::Approx((1. / 3 - 1) / 2));
  CHECK(nn::mse(y, matrix(matrix::Zero(3, 2))).value == doctest::Approx(14. / 6));
  CHECK(nn::huber(y, matrix(matrix::Zero(3, 2)), 1.).value == doctest::Approx((0.5 + 1.5 + 2.5) / 6));
  // By their formulas, with numpy: t = [[2, 1], [0, 1], [4, 2]]
  matrix t(3, 2);
  t << 2, 1, 0, 1, 4, 2;
  CHECK(nn::mae(y, t).value == doctest::Approx((1 + 2 + 1 + 1 + 1 + 2) / 6.));
  CHECK(nn::quantile(y, t, 0.9).value == doctest::Approx((0.9 * 1 + 0.1 * 2 + 0.9 * (1 + 1 + 1 + 2)) / 6));
  CHECK(nn::poisson(y, t).value == doctest::Approx((std::exp(1.) - 2 + std::exp(2.) + std::exp(3.) - 12 + 3) / 6));
  matrix chances(3, 2);
  chances << 0.5, 1, 0.25, 0, 0.25, 0;
  // mean over samples of sum t (log t - log_softmax(y)); the first column's log of the sum of exponentials is 3.407606
  const double first = 0.5 * (std::log(0.5) - 1 + 3.4076059644) + 0.25 * (std::log(0.25) - 2 + 3.4076059644) +
                       0.25 * (std::log(0.25) - 3 + 3.4076059644);
  CHECK(nn::kl_divergence(y, chances).value == doctest::Approx((first + std::log(3.)) / 2));
  // The parts of the outputs by themselves.
  const nn::loss parts =
      nn::several({{.outputs = 2, .loss = nn::cross_entropy()}, {.outputs = 1, .loss = nn::mae(), .weight = 0.5}});
  matrix wanted(2, 2), gradient;
  wanted << 1, 0, 5, 1;
  CHECK(parts(y, wanted, gradient) ==
        doctest::Approx(nn::cross_entropy(matrix(y.topRows(2)), std::vector<int>{1, 0}).value + 0.5 * (2 + 1) / 2));
  CHECK(gradient(2, 0) == doctest::Approx(-0.25));
  CHECK(parts.describe() == "several(1 * cross_entropy() of 2, 0.5 * mae() of 1)");
  CHECK(thrown<manta::error>([&] { parts(y, t, gradient); }) ==
        "manta: nn: several: the outputs are 3 x 2 and the targets 3 x 2; the parts have 3 outputs and 2 targets "
        "together");
  // PyTorch's cross_entropy(ignore_index=2): the mean over the others
  const auto [some, d_some] = nn::cross_entropy(y, std::vector<int>{2, 0}, {.ignore = 2});
  CHECK(some == doctest::Approx(std::log(3.)));
  CHECK(d_some.col(0).norm() == 0);
  const matrix large = matrix::Constant(2, 1, 1000);
  CHECK(nn::cross_entropy(large, std::vector<int>{0}).value == doctest::Approx(std::log(2.)));
  CHECK(nn::binary_cross_entropy(large, matrix(matrix::Zero(2, 1))).value == doctest::Approx(1000));
}

TEST_CASE("optimisers take the steps of their papers") {
  // The first three steps from 1 with the gradients 0.5, 1, -2, computed by hand from the formulas.
  const auto steps = [](nn::optimizer o) {
    std::vector<double> p{1}, at;
    for (double g : {0.5, 1., -2.}) o.step(p, std::vector<double>{g}), at.push_back(p[0]);
    return at;
  };
  CHECK(steps(nn::sgd({.rate = 0.1})) == std::vector<double>{0.95, 0.85, 1.05});
  const auto momentum = steps(nn::sgd({.rate = 0.1, .momentum = 0.5}));
  CHECK(momentum[1] == doctest::Approx(0.95 - 0.1 * 1.25));
  const auto nesterov = steps(nn::sgd({.rate = 0.1, .momentum = 0.5, .nesterov = true}));
  CHECK(nesterov[0] == doctest::Approx(1 - 0.1 * 0.75));
  const auto adam = steps(nn::adam({.rate = 0.1}));
  CHECK(adam[0] == doctest::Approx(0.9));
  const double m = (0.9 * 0.05 + 0.1) / (1 - 0.81), v = (0.999 * 0.00025 + 0.001) / (1 - 0.998001);
  CHECK(adam[1] == doctest::Approx(0.9 - 0.1 * m / std::sqrt(v)));
  CHECK(steps(nn::adamw({.rate = 0.1, .weight_decay = 0.5}))[0] == doctest::Approx(0.95 - 0.1));
  CHECK(steps(nn::rmsprop({.rate = 0.1, .alpha = 0.75}))[0] == doctest::Approx(1 - 0.1 * 0.5 / 0.25));

  std::vector<float> g{3, 4};
  CHECK(nn::clip_norm(g, 1) == doctest::Approx(5));
  CHECK(g[1] == doctest::Approx(0.8));
}

TEST_CASE("an optimiser keeps the moments that it uses and no others, and takes over those that another one kept") {
  const auto kept = [](nn::optimizer o) {
    std::vector<float> p(100, 1.F);
    o.step(p, std::vector<float>(100, .1F));
    return o.moments<float>().size();
  };
  CHECK(kept(nn::sgd()) == 0);
  CHECK(kept(nn::sgd({.momentum = .9})) == 100);
  CHECK(kept(nn::rmsprop()) == 100);
  CHECK(kept(nn::rmsprop({.momentum = .9})) == 200);
  CHECK(kept(nn::adam()) == 200);
  CHECK(kept(nn::adamw()) == 200);

  const std::vector<double> g{0.5};
  std::vector<double> p{1}, q{1};
  nn::rmsprop with({.rate = .1, .momentum = .9}), without({.rate = .1}), fresh({.rate = .1});
  with.step(p, g);
  without.take_moments(with);
  CHECK(without.moments<double>().size() == 1);
  CHECK(without.moments<double>()[0] == doctest::Approx(.01 * .25));  // the mean of squares
  with.take_moments(without);
  CHECK(with.moments<double>()[1] == 0);
  nn::sgd plain({.rate = .1}), heavy({.rate = .1, .momentum = .9});
  plain.step(q, g);
  heavy.take_moments(plain);
  heavy.step(q, g);
  CHECK(q[0] == doctest::Approx(1 - .05 - .05));
  CHECK(thrown<manta::error>([&] {
          plain.step(std::span<double>(), std::span<const double>());
        }).find("has stepped 1 parameters so far, and got 0") != std::string::npos);
}

TEST_CASE("settings that cannot be meant are refused by optimisers, losses and schedules") {
  const auto refused = [](auto&& f) { return thrown<manta::error>(f); };
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  CHECK(refused([] { nn::sgd({.rate = -.1}); }) == "manta: nn: sgd: .rate is -0.1; it has to be at least 0");
  CHECK(refused([&] { nn::adam({.rate = nan}); }) == "manta: nn: adam: .rate is nan; it has to be at least 0");
  CHECK(refused([&] { nn::rmsprop({.rate = infinite}); }) ==
        "manta: nn: rmsprop: .rate is inf; it has to be at least 0");
  CHECK(refused([] { nn::adam({.beta1 = 1.5}); }) ==
        "manta: nn: adam: .beta1 is 1.5; it has to be at least 0 and below 1");
  CHECK(refused([] { nn::adamw({.beta2 = 1}); }) ==
        "manta: nn: adamw: .beta2 is 1; it has to be at least 0 and below 1");
  CHECK(refused([] { nn::adam({.epsilon = -1}); }) == "manta: nn: adam: .epsilon is -1; it has to be at least 0");
  CHECK(refused([] { nn::sgd({.momentum = 2}); }) == "manta: nn: sgd: .momentum is 2; it has to be from 0 to 1");
  CHECK(refused([] { nn::rmsprop({.alpha = -.1}); }) ==
        "manta: nn: rmsprop: .alpha is -0.1; it has to be at least 0 and below 1");
  CHECK(refused([] { nn::sgd({.weight_decay = -1}); }) ==
        "manta: nn: sgd: .weight_decay is -1; it has to be at least 0");
  nn::adam optimizer;
  CHECK(refused([&] { optimizer.rate(-1); }) == "manta: nn: adam: the rate is -1; it has to be at least 0");
  CHECK(optimizer.rate() == 1e-3);
  CHECK(refused([] { nn::cross_entropy({.smoothing = 2}); }) ==
        "manta: nn: cross_entropy: .smoothing is 2; it has to be at least 0 and below 1");
  CHECK(refused([] {
          nn::cross_entropy({.weights = {1, -1}});
        }) == "manta: nn: cross_entropy: a number of .weights is -1; it has to be at least 0");
  CHECK(refused([] { nn::quantile(1); }) == "manta: nn: quantile: the quantile is 1; it has to be above 0 and below 1");
  CHECK(refused([] { nn::huber(0); }) == "manta: nn: huber: delta is 0; it has to be above 0");
  CHECK(refused([] { nn::cosine(0); }) == "manta: nn: cosine: the length is 0; it has to be above 0");
  CHECK(refused([] { nn::step_decay(-1); }) == "manta: nn: step_decay: the length is -1; it has to be above 0");
  CHECK(refused([] { nn::one_cycle(10, 1.5); }) ==
        "manta: nn: one_cycle: the rising part is 1.5; it has to be above 0 and at most 1");
  CHECK(refused([] { nn::one_cycle(10, .3, 0); }) == "manta: nn: one_cycle: the divisor is 0; it has to be above 0");
  CHECK(refused([] { nn::warm_up(-1); }) == "manta: nn: warm_up: the length is -1; it has to be at least 0");
  CHECK(refused([] {
          std::vector<float> g{1};
          nn::clip_norm(g, -1);
        }) == "manta: nn: clip_norm: the limit is -1; it has to be at least 0");
}

TEST_CASE_TEMPLATE("any number that reaches a limit is found, at every place of an array of every length", T, float,
                   double) {
  const T infinite = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  for (std::size_t size = 0; size < 70; ++size) {
    std::vector<T> numbers(size, T(-2));
    CHECK(nn::all_finite(std::span<const T>(numbers)));
    CHECK(nn::any_reaches(std::span<const T>(numbers), T(2)) == (size > 0));
    for (std::size_t i = 0; i < size; ++i) {
      for (const T odd : {nan, -nan, infinite, -infinite}) {
        numbers[i] = odd;
        CHECK_FALSE(nn::all_finite(std::span<const T>(numbers)));
      }
      numbers[i] = std::numeric_limits<T>::lowest();
      CHECK(nn::all_finite(std::span<const T>(numbers)));
      CHECK(nn::any_reaches(std::span<const T>(numbers), T(3)));
      numbers[i] = T(-2);
    }
  }
}

TEST_CASE("a network learns, is a value, and comes back from an archive as it was") {
  nn::network<float> net(nn::shape{2}, nn::linear(16), nn::tanh(), nn::linear(2));
  net.initialise(1);
  nn::matrix<float> x(2, 4), dy;
  x << 0, 0, 1, 1, 0, 1, 0, 1;
  const std::vector<int> labels{0, 1, 1, 0};
  nn::adam optimizer({.rate = 0.05});
  const auto step = [&](nn::network<float>& n, nn::optimizer& o) {
    const float loss = nn::cross_entropy()(n.forward(x), labels, dy);
    n.zero_gradients();
    n.backward(dy);
    o.step(n.parameters(), n.gradients());
    return loss;
  };
  for (int i = 0; i < 200; ++i) step(net, optimizer);
  CHECK(nn::correct(net.forward(x), labels) == 4);

  std::stringstream bytes;
  {
    cereal::BinaryOutputArchive out(bytes);
    out(net, optimizer);
  }
  nn::network<float> read, copy = net;
  nn::adam read_optimizer, copied_optimizer = optimizer;
  {
    cereal::BinaryInputArchive in(bytes);
    in(read, read_optimizer);
  }
  CHECK(read.describe() == net.describe());
  CHECK(std::ranges::equal(read.parameters(), net.parameters()));
  CHECK(step(read, read_optimizer) == step(net, optimizer));
  CHECK(std::ranges::equal(read.parameters(), net.parameters()));
  CHECK(!std::ranges::equal(copy.parameters(), net.parameters()));
  step(copy, copied_optimizer);
  CHECK(std::ranges::equal(copy.parameters(), net.parameters()));
  const nn::network<float> constant = net;
  CHECK(constant.parameters().size() == 2 * 16 + 16 + 16 * 2 + 2);
  CHECK(net.describe() == "2 -> linear(16) -> tanh() -> linear(2) -> 2");
}

TEST_CASE("backward reports the parts of the gradients as they become final") {
  nn::network<double> net(nn::shape{3}, nn::linear(4), nn::relu(), nn::linear(2));
  net.forward(numbers(3, 5, 1));
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  net.backward(numbers(2, 5, 2), [&](std::size_t begin, std::size_t end) { parts.emplace_back(begin, end); });
  CHECK(parts == std::vector<std::pair<std::size_t, std::size_t>>{{16, 26}, {0, 16}});
}

TEST_CASE("large weights are reported in parts, which give the gradients of the whole") {
  nn::network<double> net(nn::shape{700}, nn::sequential(nn::linear(600), nn::tanh()), nn::linear(3));
  net.initialise(1);
  matrix dy;
  nn::cross_entropy()(net.forward(numbers(700, 9, 2)), std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2}, dy);
  net.zero_gradients();
  net.backward(dy);
  const std::vector<double> whole(net.gradients().begin(), net.gradients().end());

  net.zero_gradients();
  std::vector<std::size_t> begins{whole.size()};
  std::vector<double> reported(whole.size());
  net.backward(dy, [&](std::size_t begin, std::size_t end) {
    REQUIRE(begin < end);
    CHECK(end == begins.back());
    begins.push_back(begin);
    std::copy(net.gradients().begin() + static_cast<std::ptrdiff_t>(begin),
              net.gradients().begin() + static_cast<std::ptrdiff_t>(end),
              reported.begin() + static_cast<std::ptrdiff_t>(begin));
  });
  CHECK(begins.back() == 0);
  CHECK(begins.size() == 5);  // the end, the small layer, and three parts of 420 000 weights
  double most = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) most = std::max(most, std::abs(whole[i] - reported[i]));
  CHECK(most < 1e-15);
}

TEST_CASE("the arrays of a network begin at a cache line, so that sums have the same bits wherever they lie") {
  const auto is_aligned = [](const auto& array) { return reinterpret_cast<std::uintptr_t>(array.data()) % 64 == 0; };
  std::vector<nn::network<float>> kept;
  std::vector<std::vector<char>> between;
  for (int i = 1; i < 20; ++i) {
    nn::network<float> net(nn::shape{3}, nn::linear(i), nn::batch_norm());
    kept.push_back(net);
    between.emplace_back(static_cast<std::size_t>(24 * i));
    for (nn::network<float>& each : {std::ref(net), std::ref(kept.back())}) {
      CHECK(is_aligned(each.parameters()));
      CHECK(is_aligned(each.gradients()));
      CHECK(is_aligned(each.buffers()));
    }
  }
}

TEST_CASE("orthogonal weights are orthogonal") {
  nn::network<double> net(nn::shape{6}, nn::linear(4, {.start = nn::start::orthogonal, .gain = 2}));
  const Eigen::Map<const Eigen::Matrix<double, 4, 6, Eigen::RowMajor>> w(net.parameters().data());
  CHECK((w * w.transpose() - 4 * Eigen::Matrix4d::Identity()).norm() < 1e-12);
}

TEST_CASE("mistakes are told with what was given and what is needed") {
  nn::network<double> net(nn::shape{3}, nn::linear(2));
  CHECK(thrown<manta::error>([&] {
          net.forward(matrix(4, 2));
        }).find("takes columns of 3 numbers (3), and got a matrix of 4 x 2") != std::string::npos);
  CHECK(thrown<manta::error>([&] { net.backward(matrix(2, 2)); }).find("the last forward gave") != std::string::npos);
  CHECK(thrown<manta::error>([&] {
          nn::network<double>(nn::shape{3}, nn::linear(2), nn::linear(0));
        }).find("layer 1 of the network, linear(0)") != std::string::npos);
  CHECK(thrown<manta::error>([&] {
          nn::cross_entropy(matrix(3, 1), std::vector<int>{3});
        }).find("sample 0 of the batch has the class 3") != std::string::npos);
  CHECK(thrown<manta::error>([&] {
          nn::cross_entropy(matrix(3, 2), std::vector<int>{1});
        }).find("outputs for 2 samples, and 1 classes") != std::string::npos);
  CHECK(thrown<manta::error>([&] {
          nn::adam().step(net.parameters(), std::vector<double>(3));
        }).find("adam got 8 parameters and 3 gradients") != std::string::npos);
}

TEST_CASE("a later forward uses the memory of the first") {
  nn::network<float> net(nn::shape{20}, nn::linear(30), nn::relu(), nn::linear(4));
  const nn::matrix<float> x = nn::matrix<float>::Random(20, 16);
  const float* first = nullptr;
  for (int i = 0; i < 3; ++i) {
    const float* y = net.forward(x).data();
    if (i > 0) CHECK(y == first);
    first = y;
  }
}

TEST_CASE("a summary has a row for each layer, with its output, parameters, bytes and operations") {
  const nn::network<float> net(nn::shape{1, 28, 28}, nn::conv2d(8, 3), nn::relu(), nn::max_pool(2), nn::flatten(),
                               nn::linear(10));
  CHECK(net.summary() ==
        "layer            output       parameters      bytes   flops\n"
        "input            1 x 28 x 28\n"
        "0  conv2d(8, 3)  8 x 26 x 26          80  320 bytes   103 k\n"
        "1  relu()        8 x 26 x 26           0    0 bytes  5.41 k\n"
        "2  max_pool(2)   8 x 13 x 13           0    0 bytes  1.35 k\n"
        "3  flatten()     1352                  0    0 bytes  1.35 k\n"
        "4  linear(10)    10               13 530   52.9 KiB  27.1 k\n"
        "all                               13 610   53.2 KiB   138 k\n");
  // Products of weights, and of all pairs of positions: 2 * (4 * 32 * 32) * 16 + 4 * 16 * 16 * 32.
  const nn::network<float> pairs(nn::shape{16, 32}, nn::attention(4));
  CHECK(pairs.summary().find("164 k") != std::string::npos);
  CHECK(nn::network<float>().summary().find("all") != std::string::npos);
}
