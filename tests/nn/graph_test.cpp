// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Networks that are graphs, and sequences of different lengths: gradients against central differences, values against
// the same layers put together by hand.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

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

/// A U-Net of one level, whose skip is joined by concatenation.
nn::network<double> small_unet() {
  nn::graph g;
  const nn::node x = g.input({2, 4, 6});
  const nn::node down = g.add("down", nn::sequential(nn::conv2d(3, 3, {.padding = 1}), nn::silu()), x);
  const nn::node below = g.add("below", nn::sequential(nn::max_pool(2), nn::conv2d(4, 1), nn::tanh()), down);
  const nn::node up = g.add("up", nn::conv2d_transposed(3, 2, {.stride = 2}), below);
  const nn::node out = g.add("out", nn::conv2d(2, 3, {.padding = 1}), g.concat({down, up}));
  return nn::network<double>(g.input_shape(), g.outputs({g.sum({out, x})}));
}

/// Two inputs, two outputs, and a sequence whose features are joined.
nn::network<double> two_and_two() {
  nn::graph g;
  const nn::node words = g.input({3, 2}), more = g.input({3, 1}), place = g.input({4});
  const nn::node all = g.add("lstm", nn::lstm(3), g.concat({words, more}));
  const nn::node last = g.add(nn::last(), all);
  const nn::node joined = g.concat({last, place});
  const nn::node a = g.add("a", nn::linear(2), joined),
                 b = g.add("b", nn::sequential(nn::linear(3), nn::elu()), joined);
  return nn::network<double>(g.input_shape(), g.outputs({a, b}));
}

}  // namespace

TEST_CASE("gradients of graphs are those of central differences") {
  for (const bool is_unet : {true, false}) {
    nn::network<double> net = is_unet ? small_unet() : two_and_two();
    INFO(net.describe());
    net.initialise(3);
    manta::testing::check_gradients(net, 3);
  }
}

TEST_CASE("a graph gives what its layers give one by one, and reports gradients from the last node to the first") {
  nn::network<double> net = two_and_two();
  net.initialise(2);
  CHECK(net.input_shape() == nn::shape{13});
  CHECK(net.output_shape() == nn::shape{5});
  const matrix x = numbers(13, 4, 1);
  const matrix y = net.forward(x);
  // The words of a position, and what is joined to them.
  matrix sequence(9, 4);
  for (int t = 0; t < 3; ++t) {
    sequence.middleRows(3 * t, 2) = x.middleRows(2 * t, 2);
    sequence.row(3 * t + 2) = x.row(6 + t);
  }
  nn::network<double> lstm(nn::shape{3, 3}, nn::lstm(3), nn::last()), a(nn::shape{7}, nn::linear(2)),
      b(nn::shape{7}, nn::linear(3), nn::elu());
  auto from = net.parameters().begin();
  for (nn::network<double>* each : {&lstm, &a, &b}) {
    const auto size = static_cast<std::ptrdiff_t>(each->parameters().size());
    std::copy(from, from + size, each->parameters().begin());
    from += size;
  }
  matrix joined(7, 4);
  joined << lstm.forward(sequence), x.bottomRows(4);
  CHECK((y.topRows(2) - a.forward(joined)).norm() < 1e-12);
  CHECK((y.bottomRows(3) - b.forward(joined)).norm() < 1e-12);

  std::vector<std::pair<std::size_t, std::size_t>> parts;
  net.backward(numbers(5, 4, 2), [&](std::size_t begin, std::size_t end) { parts.emplace_back(begin, end); });
  std::size_t end = net.parameters().size();
  for (const auto& part : parts) {
    CHECK(part.second == end);
    end = part.first;
  }
  CHECK(end == 0);
  CHECK(parts.size() == 3);
  CHECK(net.arrays()[0].name == "0.lstm.weight_ih_l0");
  CHECK(net.arrays()[4].name == "0.a.weight");
  CHECK(net.arrays()[6].name == "0.b.0.weight");

  nn::network<double> frozen = net;
  frozen.freeze("0.lstm.*");
  frozen.forward(x);
  frozen.zero_gradients();
  frozen.backward(numbers(5, 4, 2));
  CHECK(frozen.gradients()[0] == 0);
  CHECK(frozen.gradients().back() != 0);
}

TEST_CASE("graphs that cannot be meant are told apart when they are built, or when a network is made") {
  nn::graph g;
  const nn::node image = g.input({2, 4, 4}), vector = g.input({3});
  const nn::node seen = g.add("seen", nn::conv2d(3, 3), image);
  const auto made = [&](const std::vector<nn::node>& outputs) {
    return thrown<manta::error>([&] { nn::network<double>(g.input_shape(), g.outputs(outputs)); });
  };
  CHECK(contains(made({seen}), "node 1, input, leads to no output; take it away, or name it as an output"));
  CHECK(contains(made({}), "a graph needs nodes and at least one output"));
  CHECK(contains(thrown<manta::error>([&] { g.add("seen", nn::relu(), image); }),
                 "manta: nn: two nodes of a graph have the name 'seen'"));
  CHECK(contains(thrown<manta::error>([&] { g.add("a.b", nn::relu(), image); }), "cannot have the name 'a.b'"));
  const nn::node both = g.concat({seen, vector});
  CHECK(contains(made({both}), "concat gets the shapes 3 x 2 x 2, 3; they have to be of one kind"));
  nn::graph h;
  const nn::node x = h.input({2, 4, 4}), small = h.add("small", nn::max_pool(2), x);
  const auto made_of = [&](const nn::node& n) {
    return thrown<manta::error>([&] { nn::network<double>(h.input_shape(), h.outputs({n})); });
  };
  CHECK(contains(made_of(h.concat({x, small})),
                 "concat gets the shapes 2 x 4 x 4, 2 x 2 x 2; they have to be equal but "
                 "for channels of images, or features"));
  nn::graph k;
  const nn::node in = k.input({6});
  CHECK(contains(thrown<manta::error>(
                     [&] { nn::network<double>(k.input_shape(), k.outputs({k.add("deep", nn::conv2d(3, 3), in)})); }),
                 "layer 0 of the node 'deep', conv2d(3, 3), gets an input of shape 6: it needs an image"));
}

TEST_CASE("words behind the end of a sequence change nothing, and each sequence gives what it gives alone") {
  const nn::spec layers[] = {nn::attention(2), nn::residual(nn::attention(2)), nn::lstm(4),
                             nn::bidirectional(nn::gru(2))};
  for (const nn::spec& layer : layers) {
    for (const nn::spec& end : {nn::last(), nn::mean()}) {
      nn::network<double> net(nn::shape{5}, nn::masked(0, {nn::embedding(9, 4), layer, end, nn::linear(3)}));
      net.initialise(1);
      matrix x(5, 3);
      x << 3, 2, 0, 1, 0, 7, 8, 4, 8, 0, 3, 5, 0, 0, 2;  // lengths 3, 4, 5: a 0 within a sequence is a word
      const matrix y = net.forward(x);
      for (int s = 0; s < 3; ++s) {
        const int length = 3 + s;
        nn::network<double> alone(nn::shape{length}, nn::embedding(9, 4), layer, end, nn::linear(3));
        std::ranges::copy(net.parameters(), alone.parameters().begin());
        CHECK((alone.forward(x.col(s).head(length)) - y.col(s)).norm() < 1e-12);
      }
      manta::testing::check_gradients(net, 3, {}, x);
    }
  }
  nn::network<double> empty(nn::shape{2}, nn::masked(0, {nn::embedding(3, 4), nn::attention(2), nn::mean()}));
  CHECK(empty.forward(matrix::Zero(2, 1)).norm() == 0);
}

TEST_CASE("positions of numbers behind the end of a sequence change nothing either") {
  nn::network<double> net(nn::shape{4, 2}, nn::masked(-1, {nn::conv1d(4, 1), nn::attention(2), nn::mean()}));
  net.initialise(1);
  matrix x = matrix::Constant(8, 3, -1);
  x.col(0).head(2) << 3, -1;  // the second number of the only position
  x.col(1).head(6) << -1, -1, 2, 5, -1, 4;
  x.col(2) << 1, 2, 3, 4, 5, 6, 7, -1;
  const matrix y = net.forward(x);
  for (const auto& [s, length] : {std::pair(0, 1), std::pair(1, 3), std::pair(2, 4)}) {
    nn::network<double> alone(nn::shape{length, 2}, nn::conv1d(4, 1), nn::attention(2), nn::mean());
    std::ranges::copy(net.parameters(), alone.parameters().begin());
    CHECK((alone.forward(x.col(s).head(2 * length)) - y.col(s)).norm() < 1e-12);
  }
}

TEST_CASE("masked refuses layers after which the lengths would be others") {
  const auto made = [](std::vector<nn::spec> layers) {
    return thrown<manta::error>([&] { nn::network<float>(nn::shape{6}, nn::masked(0, std::move(layers))); });
  };
  const nn::spec words = nn::embedding(9, 4);
  CHECK(contains(made({words, nn::conv1d(3, 3), nn::last()}),
                 "its layer 1 makes 4 positions of 6, and `masked` knows the words of the latter alone: keep their "
                 "number by .stride = 1 and .padding, or put the layer behind `masked`"));
  CHECK(contains(made({words, nn::max_pool(2), nn::mean()}), "its layer 1 makes 3 positions of 6"));
  CHECK(contains(made({words, nn::sequential(nn::tanh(), nn::conv1d(3, 2)), nn::mean()}), "its layer 1 makes 5"));
  CHECK(contains(made({nn::parts({nn::part({6}, {words, nn::mean()})})}), "put `masked` into the part"));
  nn::graph g;
  const nn::node in = g.input({6});
  const nn::node short_one = g.add("short", nn::sequential(words, nn::conv1d(4, 3)), in);
  CHECK(contains(made({g.outputs({g.add("mean", nn::mean(), short_one)})}), "its layer 1 makes 4 positions of 6"));
  CHECK(made({words, nn::conv1d(3, 3, {.padding = 1}), nn::residual(nn::conv1d(3, 1)), nn::mean()}).empty());
  CHECK(contains(thrown<manta::error>([] {
                   nn::network<float>(nn::shape{1, 6, 6}, nn::masked(0, {nn::flatten()}));
                 }),
                 "it needs a sequence of words, nn::shape{length}, or of features"));
}
