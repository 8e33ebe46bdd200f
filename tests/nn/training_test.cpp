// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What is trained and how: frozen arrays, groups of parameters, means of weights. The oracle is a loop by hand.
#include <doctest/doctest.h>

#include <algorithm>
#include <cereal/archives/binary.hpp>
#include <cmath>
#include <sstream>

#include "manta/error.hpp"
#include "manta/nn.hpp"
#include "support/gradients.hpp"
#include "support/text.hpp"

namespace nn = manta::nn;
using manta::testing::contains;
using manta::testing::numbers;
using manta::testing::thrown;

namespace {

using matrix = nn::matrix<double>;

nn::network<double> three_layers() {
  nn::network<double> net(nn::shape{5}, nn::linear(6), nn::batch_norm(), nn::tanh(), nn::linear(4), nn::relu(),
                          nn::linear(3));
  net.initialise(3);
  return net;
}

/// The gradients of all parameters for a batch; `parts`: which were reported, from the last to the first.
std::vector<double> gradients_of(nn::network<double>& net,
                                 std::vector<std::pair<std::size_t, std::size_t>>* parts = nullptr) {
  net.forward(numbers(5, 7, 1));
  net.zero_gradients();
  net.backward(numbers(3, 7, 2), [&](std::size_t begin, std::size_t end) {
    if (parts) parts->emplace_back(begin, end);
  });
  return {net.gradients().begin(), net.gradients().end()};
}

std::vector<double> parameters_of(const nn::network<double>& net) {
  return {net.parameters().begin(), net.parameters().end()};
}

}  // namespace

TEST_CASE("a pattern is a name in which stars stand for any text") {
  CHECK(nn::matches("0.weight", "0.weight"));
  CHECK(!nn::matches("0.weight", "10.weight"));
  CHECK(nn::matches("*", ""));
  CHECK(nn::matches("0.*", "0.main.1.bias"));
  CHECK(nn::matches("*.main.*.bias", "0.main.1.bias"));
  CHECK(nn::matches("*bias*", "0.bias_ih_l0"));
  CHECK(!nn::matches("0.*.bias", "0.bias"));
}

TEST_CASE("gradients of frozen arrays are 0, and those of the others as before") {
  nn::network<double> net = three_layers();
  const std::vector<double> all = gradients_of(net);
  for (const std::string pattern : {"3.weight", "*.bias", "5.*", "0.weight", "3.*"}) {
    CAPTURE(pattern);
    nn::network<double> some = three_layers();
    some.freeze(pattern);
    std::vector<std::pair<std::size_t, std::size_t>> parts;
    const std::vector<double> gradients = gradients_of(some, &parts);
    for (const nn::named_array& a : some.arrays()) {
      CHECK(a.frozen == nn::matches(pattern, a.name));
      for (std::size_t i = a.begin; i < a.begin + static_cast<std::size_t>(a.extents.size()); ++i)
        CHECK(gradients[i] == doctest::Approx(a.frozen ? 0 : all[i]).epsilon(1e-12));
    }
    std::size_t end = all.size();
    for (const auto& part : parts) {
      CHECK(part.second == end);
      end = part.first;
    }
    CHECK(end == 0);
  }
  net.freeze("*");
  CHECK(std::ranges::all_of(gradients_of(net), [](double g) { return g == 0; }));
  net.unfreeze();
  CHECK(!net.has_frozen());
  CHECK(gradients_of(net) == all);
  CHECK(contains(thrown<manta::error>([&] { net.freeze("7.*"); }),
                 "no array of the network 5 -> linear(6) -> batch_norm() -> tanh() -> linear(4) -> relu() -> linear(3) "
                 "-> 3 has a name like '7.*'; the arrays are 0.weight, 0.bias, 1.weight"));
}

TEST_CASE("layers below all that is trained take no part in backward, and frozen batch norm runs as in use") {
  nn::network<double> net = three_layers(), use = net;
  net.freeze("0.*");
  net.freeze("1.*");
  use.mode({.training = false});
  const std::vector<double> before(net.buffers().begin(), net.buffers().end());
  CHECK((net.forward(numbers(5, 7, 1)) - use.forward(numbers(5, 7, 1))).norm() == 0);
  CHECK(std::ranges::equal(net.buffers(), before));
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  gradients_of(net, &parts);
  CHECK(parts.size() == 3);
  CHECK(parts.back() == std::pair<std::size_t, std::size_t>{0, 5 * 6 + 6 + 12});
  // A worker without samples reports the same parts.
  std::vector<std::pair<std::size_t, std::size_t>> without;
  net.forward_without_samples();
  net.backward_without_samples([&](std::size_t begin, std::size_t end) { without.emplace_back(begin, end); });
  CHECK(without == parts);
  // The gradient by the input goes through all layers.
  net.forward(numbers(5, 7, 1));
  CHECK(net.backward_to_input(numbers(3, 7, 2)).norm() > 0);

  std::stringstream bytes;
  cereal::BinaryOutputArchive{bytes}(net);
  nn::network<double> read, copy = net;
  cereal::BinaryInputArchive{bytes}(read);
  CHECK(read.arrays()[2].frozen);
  CHECK(!read.arrays()[4].frozen);
  CHECK(gradients_of(copy) == gradients_of(net));
}

TEST_CASE("an optimiser leaves frozen arrays alone, and treats groups by their rates and decays") {
  for (const bool is_adamw : {true, false}) {
    const std::vector<nn::parameter_group> groups{
        {.dimensions = 1, .weight_decay = 0}, {.arrays = "3.*", .rate = 0.1}, {.arrays = "5.*", .weight_decay = 0.5}};
    const auto made = [&](double rate, double decay, const std::vector<nn::parameter_group>& its) -> nn::optimizer {
      if (is_adamw) return nn::adamw({.rate = rate, .weight_decay = decay, .groups = its});
      return nn::sgd({.rate = rate, .momentum = 0.9, .weight_decay = decay, .groups = its});
    };
    nn::network<double> net = three_layers();
    net.freeze("0.weight");
    const std::vector<double> before = parameters_of(net);
    nn::optimizer optimizer = made(0.01, 0.2, groups);
    // By hand: each array has an optimiser of its own.
    std::vector<nn::optimizer> own;
    std::vector<double> expected = before;
    for (const nn::named_array& a : net.arrays()) {
      const bool is_vector = a.extents.dimensions() == 1, is_third = a.name == "3.weight",
                 is_last = a.name == "5.weight";
      own.push_back(made(is_third ? 0.001 : 0.01, is_vector ? 0 : is_last ? 0.5 : 0.2, {}));
    }
    for (int step = 0; step < 4; ++step) {
      const std::vector<double> gradients = gradients_of(net);
      optimizer.step(net);
      for (std::size_t i = 0; i < own.size(); ++i) {
        const nn::named_array a = net.arrays()[i];
        const auto size = static_cast<std::size_t>(a.extents.size());
        if (!a.frozen)
          own[i].step(std::span(expected).subspan(a.begin, size), std::span(gradients).subspan(a.begin, size));
      }
      for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK(net.parameters()[i] == doctest::Approx(expected[i]).epsilon(1e-13));
    }
    CHECK(std::ranges::equal(net.parameters().first(30), std::span(before).first(30)));
  }
  nn::network<double> net = three_layers();
  nn::adam wrong({.groups = {{.arrays = "9.*", .rate = 0.1}}});
  CHECK(contains(thrown<manta::error>([&] { wrong.step(net); }),
                 "manta: nn: adam: no array of the network suits the group 9.*; the arrays are 0.weight"));
  CHECK(contains(thrown<manta::error>([&] { wrong.step(net.parameters(), net.gradients()); }),
                 "adam has groups of parameters, whose names it gets from the network: call step(net)"));
  CHECK(thrown<manta::error>([] { nn::adam({.groups = {{.arrays = "0.*", .rate = -1}}}); }) ==
        "manta: nn: adam: .rate of the group 0.* is -1; it has to be at least 0");
  CHECK(wrong.settings().back() == std::pair<std::string, double>{"weight_decay of the group 9.*", 0});
}

TEST_CASE("means of the parameters follow them as TensorFlow's moving averages do") {
  nn::network<double> net = three_layers();
  nn::adam optimizer({.rate = 0.01, .ema = 0.5}), without({.rate = 0.01});
  CHECK(optimizer.averages<double>().empty());
  std::vector<double> expected = parameters_of(net);
  for (int t = 0; t < 20; ++t) {
    gradients_of(net);
    optimizer.step(net);
    const double kept = std::min(0.5, (1. + t) / (10. + t));
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] = kept * expected[i] + (1 - kept) * net.parameters()[i];
  }
  const std::span<double> means = optimizer.averages<double>();
  REQUIRE(means.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(means[i] == doctest::Approx(expected[i]).epsilon(1e-13));

  // The moments are kept apart from the means, also where one of two optimisers has none.
  std::stringstream bytes;
  cereal::BinaryOutputArchive{bytes}(optimizer);
  nn::adam read;
  cereal::BinaryInputArchive{bytes}(read);
  CHECK(read == optimizer);
  without.take_moments(optimizer);
  CHECK(without.averages<double>().empty());
  CHECK(std::ranges::equal(without.moments<double>(), optimizer.moments<double>().first(2 * expected.size())));
  nn::adam begins({.rate = 0.01, .ema = 0.5});
  begins.take_moments(without);
  gradients_of(net);
  begins.step(net);  // the first mean begins with the parameters before the step
  CHECK(begins.averages<double>()[0] != 0);
  CHECK(std::abs(begins.averages<double>()[0] - net.parameters()[0]) < 0.02);
  CHECK(thrown<manta::error>([] { nn::sgd({.ema = 1}); }) ==
        "manta: nn: sgd: .ema is 1; it has to be at least 0 and below 1");
}

TEST_CASE("schedules that end or begin again have the values of PyTorch's") {
  // PolynomialLR(total_iters=10, power=2) at 0, 5, 10, 12: (1 - t / 10)^2. Keras' end_learning_rate is `least`.
  const nn::schedule square = nn::polynomial(10, 2), line = nn::polynomial(10, 1, 0.2);
  CHECK(square(0) == 1);
  CHECK(square(5) == doctest::Approx(0.25));
  CHECK(square(12) == 0);
  CHECK(line(5) == doctest::Approx(0.6));
  CHECK(line(11) == doctest::Approx(0.2));
  // CosineAnnealingWarmRestarts(T_0=4, T_mult=2, eta_min=0.1): rounds of 4, 8, 16 epochs.
  const nn::schedule rounds = nn::cosine_restarts(4, 2, 0.1), equal = nn::cosine_restarts(5);
  for (const int begin : {0, 4, 12, 28}) {
    CHECK(rounds(begin) == doctest::Approx(1));
    CHECK(rounds(begin + (begin + 4) / 2.) == doctest::Approx(0.55));
  }
  CHECK(rounds(3.999999) == doctest::Approx(0.1));
  CHECK(rounds(13) == doctest::Approx(0.1 + 0.9 * (1 + std::cos(std::acos(-1.) / 16)) / 2));
  CHECK(equal(7.5) == doctest::Approx(0.5));
  CHECK(equal(10) == doctest::Approx(1));
  CHECK(thrown<manta::error>([] { nn::cosine_restarts(5, 0.5); }) ==
        "manta: nn: cosine_restarts: the growth is 0.5; it has to be at least 1");
  CHECK(thrown<manta::error>([] { nn::polynomial(5, 0); }) ==
        "manta: nn: polynomial: the power is 0; it has to be above 0");
}

TEST_CASE("a plateau lowers the rate when PyTorch's ReduceLROnPlateau does") {
  // torch.optim.lr_scheduler.ReduceLROnPlateau(o, factor=0.5, patience=2, threshold=0.1, cooldown=1, min_lr=0.3), by its
  // rules: the epochs 3 to 5 are bad, so the rate falls after epoch 5; epoch 6 is the cooldown's; 7 to 9 are bad.
  nn::plateau plateau({.factor = 0.5, .patience = 2, .least_change = 0.1, .cooldown = 1, .least_rate = 0.3});
  const std::vector<double> losses{4, 3, 1, 0.95, 0.91, 1.2, 2, 1, std::nan(""), 0.92, 1, 0.5, 1};
  const std::vector<double> expected{1, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.3, 0.3, 0.3, 0.3};
  double rate = 1;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    rate = plateau.next(losses[i], rate);
    CAPTURE(i);
    CHECK(rate == expected[i]);
  }
  CHECK(thrown<manta::error>([] { nn::plateau({.factor = 1}); }) ==
        "manta: nn: plateau: .factor is 1; it has to be above 0 and below 1");
}
