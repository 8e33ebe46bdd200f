// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Layers with the weights of another layer. The oracle is a network with two arrays, whose gradients add up.
#include <doctest/doctest.h>

#include <algorithm>
#include <span>

#include "../support/gradients.hpp"
#include "../support/text.hpp"
#include "manta/nn/weights.hpp"

namespace nn = manta::nn;
using manta::testing::check_gradients;
using manta::testing::contains;
using manta::testing::folder;
using manta::testing::numbers;
using manta::testing::thrown;
using matrix = nn::matrix<double>;

namespace {

nn::network<double> autoencoder() {
  return nn::network<double>(nn::shape{6}, nn::linear(4), nn::tanh(), nn::tied_linear(0, {.transposed = true}));
}
nn::network<double> language() {
  return nn::network<double>(nn::shape{5}, nn::embedding(7, 4), nn::residual(nn::attention(2)), nn::tied_linear(0));
}
matrix words() {
  matrix x(5, 3);
  for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<double>(i * i % 7);
  return x;
}

}  // namespace

TEST_CASE("gradients of tied weights are those of central differences") {
  check_gradients(autoencoder(), 3);
  check_gradients(language(), 3, {}, words());
  check_gradients(nn::network<double>(nn::shape{3, 4}, nn::linear(4), nn::tanh(), nn::tied_linear(0, {.bias = false}),
                                      nn::tanh(), nn::tied_linear(0)),
                  2);
}

TEST_CASE("tied weights give what two equal arrays give, and the sum of their gradients") {
  nn::network<double> tied = language();
  nn::network<double> apart(nn::shape{5}, nn::embedding(7, 4), nn::residual(nn::attention(2)), nn::linear(7));
  tied.initialise(4);
  const auto array = [](nn::network<double>& net, const std::string& name) {
    const auto all = net.arrays();
    const auto a = std::ranges::find(all, name, &nn::named_array::name);
    return std::pair(a->begin, static_cast<std::size_t>(a->extents.size()));
  };
  std::copy_n(tied.parameters().begin(), apart.parameters().size() - 28 - 7, apart.parameters().begin());
  std::copy_n(tied.parameters().begin(), 28,
              apart.parameters().begin() + static_cast<std::ptrdiff_t>(array(apart, "2.weight").first));
  std::copy_n(tied.parameters().begin() + static_cast<std::ptrdiff_t>(array(tied, "2.bias").first), 7,
              apart.parameters().begin() + static_cast<std::ptrdiff_t>(array(apart, "2.bias").first));
  const matrix y = tied.forward(words());
  CHECK((y - apart.forward(words())).norm() < 1e-12);
  CHECK(tied.parameters().size() + 28 == apart.parameters().size());
  const matrix dy = numbers(static_cast<int>(y.rows()), 3, 2);
  for (nn::network<double>* net : {&tied, &apart}) {
    net->zero_gradients();
    net->backward(dy);
  }
  for (std::size_t i = 0; i < 28; ++i)
    CHECK(tied.gradients()[i] ==
          doctest::Approx(apart.gradients()[i] + apart.gradients()[array(apart, "2.weight").first + i]).epsilon(1e-12));
}

TEST_CASE("a copy of a network with tied weights has its own, and frozen ones get no gradient from either layer") {
  nn::network<double> net = autoencoder();
  nn::network<double> copy = net;
  for (double& p : copy.parameters()) p = 0;
  const matrix x = numbers(6, 2, 1);
  CHECK(net.forward(x).norm() > 0);
  CHECK(copy.forward(x).norm() == 0);
  net.freeze("0.weight");
  net.zero_gradients();
  const matrix dy = net.forward(x);
  net.backward(dy);
  CHECK(std::ranges::all_of(net.gradients().first(24), [](double g) { return g == 0; }));
  CHECK(std::ranges::any_of(net.gradients().subspan(24), [](double g) { return g != 0; }));
  net.unfreeze();
  net.forward(x);
  net.backward(dy);
  CHECK(std::ranges::any_of(net.gradients().first(24), [](double g) { return g != 0; }));
}

TEST_CASE("files have tied weights once, and one that has them twice is read by name") {
  const folder dir;
  nn::network<double> net = language(), read = language();
  net.initialise(8);
  nn::save_weights(dir.path + "/w.npz", net);
  CHECK(std::ranges::none_of(nn::read_arrays(dir.path + "/w.npz"), [](const auto& a) { return a.name == "2.weight"; }));
  nn::load_weights(dir.path + "/w.npz", read);
  CHECK(std::ranges::equal(read.parameters(), net.parameters()));
  std::vector<nn::stored_array> both = nn::read_arrays(dir.path + "/w.npz");
  both.push_back(both[0]);
  both.back().name = "2.weight";
  nn::write_arrays(dir.path + "/both.safetensors", both);
  CHECK(nn::load_matching(dir.path + "/both.safetensors", read).unused == std::vector<std::string>{"2.weight"});
}

TEST_CASE("ties that cannot be meant are named when the network is made") {
  const auto made = [](auto... layers) {
    return thrown<manta::error>([&] { nn::network<float>(nn::shape{6}, layers...); });
  };
  CHECK(contains(made(nn::linear(4), nn::tied_linear(0)), "the weights of layer 0 are 4 x 6, and take 6 features"));
  CHECK(contains(made(nn::linear(4), nn::tied_linear(0)),
                 "layer 1 of the network, tied_linear(0), gets an input of shape 4"));
  CHECK(contains(made(nn::linear(6), nn::tied_linear(1)), "layer 1 is no linear and no embedding before it"));
  CHECK(contains(made(nn::relu(), nn::tied_linear(0)), "layer 0 is no linear and no embedding before it"));
  CHECK(contains(made(nn::residual(nn::tied_linear(-1))), "layer -1 is no linear and no embedding before it"));
  nn::graph g;
  const nn::node x = g.input({6}), y = g.add("a", nn::linear(6), x);
  const nn::spec s = g.outputs({g.add("b", nn::tied_linear(0), y)});
  CHECK(contains(thrown<manta::error>([&] { nn::network<float>(g.input_shape(), s); }),
                 "no linear and no embedding before it"));
}
