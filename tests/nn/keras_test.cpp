// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Weights of Keras: a network that has read them gives what the layers of Keras give, whose formulas keras_numbers.py
// has in NumPy.
#include <doctest/doctest.h>

#include <map>

#include "../support/python.hpp"
#include "../support/text.hpp"
#include "manta/nn/keras.hpp"

namespace nn = manta::nn;
using manta::testing::contains;
using manta::testing::folder;
using manta::testing::text_of;
using manta::testing::thrown;

namespace {

constexpr double keras_epsilon = 1e-3;

struct model {
  const char* name;
  nn::network<double> net;
  nn::keras_options options = {};
};

std::vector<model> models() {
  const nn::spec batch_norm = nn::batch_norm({.epsilon = keras_epsilon}), layer_norm = nn::layer_norm(keras_epsilon);
  const auto net = [](const nn::shape& in, std::vector<nn::spec> layers) { return nn::network<double>(in, layers); };
  return {
      {"images", net({2, 6, 5}, {nn::conv2d(4, 3), batch_norm, nn::relu(), nn::dropout(0.5), nn::flatten(),
                                 nn::linear(5), nn::tanh(), layer_norm, nn::linear(2)})},
      {"flattened", net({2, 6, 5}, {nn::conv2d(3, 2), nn::flatten(), batch_norm, nn::linear(2)})},
      {"filters", net({4, 5, 5}, {nn::conv2d(6, 3, {.groups = 2}), nn::conv2d(12, 2, {.groups = 6}),
                                  nn::conv2d_transposed(3, 2, {.stride = 2}), layer_norm})},
      {"volumes", net({2, 4, 5, 4}, {nn::conv3d(3, 2), nn::linear(2)})},
      {"sequences", net({6, 4}, {nn::conv1d(5, 2), nn::lstm(3), nn::gru(4), nn::last(), nn::linear(2)})},
      {"both_ways",
       net({6, 4}, {nn::bidirectional(nn::gru(3)), nn::linear(2)}),
       {{{"0", "bidirectional"}, {"1", "dense"}}}},
      {"words", net({5}, {nn::embedding(9, 6), nn::positions(), nn::residual(nn::attention(2)), layer_norm})},
  };
}

/// Runs the script; false where there is no Python with NumPy.
bool write_models(const folder& dir) {
  if (!manta::testing::has_python()) return false;
  const std::string script = manta::testing::folder_beside(__FILE__, "keras_numbers.py");
  const int status = std::system(("$MANTA_PYTHON " + script + " " + dir.path + " 2> " + dir.path + "/err").c_str());
  INFO(text_of(dir.path + "/err"));
  REQUIRE(status == 0);
  return true;
}

/// A row a sample in the file, a column here.
nn::matrix<double> columns(const std::vector<nn::stored_array>& all, const std::string& name) {
  for (const nn::stored_array& a : all) {
    if (a.name != name) continue;
    nn::matrix<double> m(static_cast<Eigen::Index>(a.extents[1]), static_cast<Eigen::Index>(a.extents[0]));
    nn::detail::convert(a, m.data());
    return m;
  }
  return {};
}

}  // namespace

TEST_CASE("a network with the weights of Keras gives what Keras' layers give") {
  const folder dir;
  if (!write_models(dir)) return;
  for (model& m : models()) {
    INFO(m.name);
    const std::string path = dir.path + "/" + m.name;
    const nn::keras_report report = nn::load_keras(path + ".npz", m.net, m.options);
    const auto data = nn::read_arrays(path + ".xy.npz");
    const nn::matrix<double> x = columns(data, "x"), y = columns(data, "y");
    REQUIRE(y.size() > 0);
    const nn::matrix<double> own = m.net.forward(x);
    REQUIRE(own.rows() == y.rows());
    CHECK((own - y).cwiseAbs().maxCoeff() < 1e-6);
    CHECK(report.notes.empty());
    if (std::string(m.name) == "both_ways") {
      CHECK(report.unused == std::vector<std::string>{"iteration"});
      CHECK(contains(report.text(), "1.weight <- layers/dense/vars/0 of 6 x 2"));
    }
  }
}

TEST_CASE("files of Keras that do not suit the network are one sentence, and leave it as it was") {
  const folder dir;
  nn::network<double> net(nn::shape{4}, nn::linear(3), nn::relu(), nn::linear(2));
  const std::vector<double> before(net.parameters().begin(), net.parameters().end());
  const auto array = [](const char* name, const nn::shape& extents) {
    const std::vector<double> numbers(static_cast<std::size_t>(extents.size()), 7);
    return nn::detail::store(name, extents, numbers.data());
  };
  const auto refused = [&](const std::vector<nn::stored_array>& arrays, const nn::keras_options& options = {}) {
    const std::string text = thrown<manta::error>([&] { nn::load_keras(arrays, net, options, "w.h5"); });
    CHECK(std::ranges::equal(net.parameters(), before));
    return text;
  };
  const auto k0 = array("d/kernel", {4, 3}), b0 = array("d/bias", {3}), k1 = array("e/kernel", {3, 2}),
             b1 = array("e/bias", {2});
  CHECK(refused({k0, b0, k1}) ==
        "manta: nn: load_keras: w.h5 has 3 arrays, and a model of Keras with the layers of the network 4; give "
        "numpy.savez(path, *model.get_weights()), or name the layers by .layers");
  CHECK(refused({k0, b0, b1, k1}) ==
        "manta: nn: load_keras: w.h5: 'e/bias' is 2, and was to be the kernel of layer 2, which is 3 x 2");
  CHECK(contains(refused({k0, b0, k1, b1}, {{{"0", "d"}}}), "the layer 2 has weights, and .layers does not name it"));
  CHECK(contains(refused({k0, b0, k1}, {{{"0", "d"}, {"2", "e"}}}),
                 "has no bias of the layer 'e', which is to be layer 2"));
  CHECK(nn::load_keras({b1, k1, b0, k0}, net, {{{"0", "d"}, {"2", "e"}}}).unused.empty());
  CHECK(net.parameters()[0] == 7);

  nn::network<double> old(nn::shape{5, 4}, nn::gru(2)), own(nn::shape{6}, nn::linear(8), nn::reshape({2, 2, 2}));
  CHECK(contains(thrown<manta::error>([&] {
                   nn::load_keras({array("k", {4, 6}), array("r", {2, 6}), array("b", {6})}, old);
                 }),
                 "It seems to be a GRU with reset_after=False"));
  CHECK(contains(thrown<manta::error>([&] {
                   nn::load_keras({k0, b0}, own);
                 }),
                 "the layer reshape(2, 2, 2) has no counterpart"));
}

TEST_CASE("arrays of numpy.savez are taken by their numbers, and Keras' other defaults are said") {
  nn::network<double> net(nn::shape{2}, nn::batch_norm(), nn::leaky_relu(), nn::linear(11), nn::linear(1),
                          nn::linear(1), nn::linear(1));
  std::vector<nn::stored_array> arrays;
  const std::vector<nn::shape> shapes{{2}, {2}, {2}, {2}, {2, 11}, {11}, {11, 1}, {1}, {1, 1}, {1}, {1, 1}, {1}};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::vector<double> numbers(static_cast<std::size_t>(shapes[i].size()), static_cast<double>(i));
    arrays.push_back(nn::detail::store("arr_" + std::to_string(i), shapes[i], numbers.data()));
  }
  std::ranges::sort(arrays, {}, &nn::stored_array::name);  // arr_10 before arr_2
  const nn::keras_report report = nn::load_keras(arrays, net);
  CHECK(net.parameters()[net.parameters().size() - 1] == 11);
  CHECK(net.buffers()[3] == 3);
  REQUIRE(report.notes.size() == 2);
  CHECK(report.notes[0] ==
        "layer 0: in Keras the epsilon of batch_norm is 0.001 where nothing is said, here it is 1e-05");
  CHECK(contains(report.notes[1], "the slope of leaky_relu is 0.3"));
  CHECK(contains(report.text(), "loaded 12 arrays"));
}
