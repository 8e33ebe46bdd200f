// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// L-BFGS against the formula of BFGS with whole matrices, cycled momentum, and parameters that are frozen.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cereal/archives/binary.hpp>
#include <cmath>
#include <sstream>
#include <vector>

#include "../support/gradients.hpp"
#include "../support/text.hpp"

namespace nn = manta::nn;
using manta::testing::contains;
using manta::testing::numbers;
using manta::testing::thrown;
using vector = Eigen::VectorXd;

namespace {

/// A loss that is curved differently in each direction, and not everywhere alike: the sum of r^2 / 2 + 0.3 log(cosh(r))
/// over the residuals r of A x = b.
struct valley {
  Eigen::MatrixXd a = numbers(12, 6, 1);
  vector b = numbers(12, 1, 2);
  [[nodiscard]] vector gradient(const vector& x) const {
    const vector r = a * x - b;
    return a.transpose() * (r + 0.3 * r.array().tanh().matrix());
  }
};

std::span<double> span_of(vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

/// The steps of BFGS by the whole inverse of the curvature, from the last pairs: H' = (1 - s y' / y's) H (1 - y s' / y's) +
/// s s' / y's, begun with the multiple y's / y'y of the last pair.
class whole_bfgs {
 public:
  explicit whole_bfgs(std::size_t history) : history_(history) {}
  vector step(const vector& g) {
    vector d = -g;
    double length = 1;
    if (last_g_.size() == 0) {
      length = std::min(1., 1 / g.cwiseAbs().sum());
    } else {
      const vector y = g - last_g_;
      if (y.dot(last_s_) > 1e-10) pairs_.emplace_back(last_s_, y);
      if (pairs_.size() > history_) pairs_.erase(pairs_.begin());
      if (!pairs_.empty()) {
        const auto& [s1, y1] = pairs_.back();
        const auto one = Eigen::MatrixXd::Identity(g.size(), g.size());
        Eigen::MatrixXd h = one * (s1.dot(y1) / y1.dot(y1));
        for (const auto& [s, yy] : pairs_) {
          const double r = 1 / s.dot(yy);
          h = (one - r * s * yy.transpose()) * h * (one - r * yy * s.transpose()) + r * s * s.transpose();
        }
        d = -h * g;
      }
    }
    last_g_ = g;
    last_s_ = length * d;
    return last_s_;
  }

 private:
  std::size_t history_;
  std::vector<std::pair<vector, vector>> pairs_;
  vector last_g_, last_s_;
};

}  // namespace

TEST_CASE("L-BFGS takes the steps of BFGS with whole matrices over its history, and comes to the minimum") {
  const valley loss;
  for (const int history : {1, 3, 20}) {
    vector x = numbers(6, 1, 3), own = x;
    whole_bfgs oracle(static_cast<std::size_t>(history));
    nn::lbfgs optimizer({.history = history});
    for (int step = 0; step < 30; ++step) {
      vector g = loss.gradient(own);
      optimizer.step(span_of(own), span_of(g));
      x += oracle.step(loss.gradient(x));
      CHECK((own - x).norm() < 1e-7 * (1 + x.norm()));
      own = x;
    }
    CHECK(loss.gradient(x).norm() < (history == 1 ? 0.1 : history == 3 ? 1e-3 : 1e-8));
    CHECK(optimizer.moments<double>().size() == 6 * static_cast<std::size_t>(2 + 2 * history));
  }
}

TEST_CASE("L-BFGS goes on from an archive or from another one's moments, and a history of another length begins anew") {
  const valley loss;
  vector x = numbers(6, 1, 3);
  nn::optimizer optimizer = nn::lbfgs({.history = 4});
  const auto step = [&](nn::optimizer& o, vector& at) {
    vector g = loss.gradient(at);
    o.step(span_of(at), span_of(g));
  };
  for (int i = 0; i < 7; ++i) step(optimizer, x);
  std::stringstream bytes;
  cereal::BinaryOutputArchive{bytes}(optimizer);
  nn::optimizer read, taken = nn::lbfgs({.history = 4}), shorter = nn::lbfgs({.history = 2});
  cereal::BinaryInputArchive{bytes}(read);
  CHECK(read == optimizer);
  taken.take_moments(optimizer);
  shorter.take_moments(optimizer);
  vector a = x, b = x, c = x, d = x;
  nn::optimizer fresh = nn::lbfgs({.history = 2});
  step(optimizer, a), step(read, b), step(taken, c), step(shorter, d);
  CHECK(a == b);
  CHECK(a == c);
  vector e = x;
  step(fresh, e);
  CHECK(d == e);
  CHECK(optimizer.name() == "lbfgs");
  CHECK(nn::optimizer::is_named("lbfgs"));
  CHECK(thrown<manta::error>([] { nn::lbfgs({.history = 0}); }) ==
        "manta: nn: lbfgs: .history is 0; it has to be at least 1");
  CHECK(thrown<manta::error>([] { nn::lbfgs({.rate = -1}); }) ==
        "manta: nn: lbfgs: .rate is -1; it has to be at least 0");
}

TEST_CASE("a linear network that L-BFGS trains comes to the solution of the normal equations") {
  const nn::matrix<double> x = numbers(4, 50, 1), t = numbers(2, 50, 2);
  nn::network<double> net(nn::shape{4}, nn::linear(2));
  nn::lbfgs optimizer;
  for (int i = 0; i < 60; ++i) {
    const auto [loss, dy] = nn::mse(net.forward(x), t);
    net.zero_gradients();
    net.backward(dy);
    optimizer.step(net);
  }
  Eigen::MatrixXd rows(50, 5);
  rows << x.transpose(), Eigen::MatrixXd::Ones(50, 1);
  const Eigen::MatrixXd solution = (rows.transpose() * rows).ldlt().solve(rows.transpose() * t.transpose());  // 5 x 2
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < 4; ++i)
      CHECK(std::abs(net.parameters()[static_cast<std::size_t>(4 * k + i)] - solution(i, k)) < 1e-8);
    CHECK(std::abs(net.parameters()[static_cast<std::size_t>(8 + k)] - solution(4, k)) < 1e-8);
  }
}

TEST_CASE("momentum cycles as in PyTorch's OneCycleLR, and is set where the optimiser has one") {
  // OneCycleLR(max_lr=1, total_steps=10, cycle_momentum=True): the first phase ends at step 2, the second at step 9.
  const nn::schedule s = nn::one_cycle_momentum(10);
  CHECK(s(0) == doctest::Approx(0.95));
  CHECK(s(1) == doctest::Approx(0.90));
  CHECK(s(2) == doctest::Approx(0.85));
  CHECK(s(3) == doctest::Approx(0.85 + 0.1 * (1 - std::cos(std::acos(-1.) / 7)) / 2));
  CHECK(s(9) == doctest::Approx(0.95));
  CHECK(s(50) == doctest::Approx(0.95));
  CHECK(nn::warm_up(5, s)(7) == doctest::Approx(0.85));
  CHECK(thrown<manta::error>([] { nn::one_cycle_momentum(10, 0.3, 0.9, 0.8); }) ==
        "manta: nn: one_cycle_momentum: the least momentum is 0.9; it has to be at least 0 and at most the greatest");

  // v = m v + g, p -= rate v, with another m in each step.
  nn::sgd sgd({.rate = 0.1, .momentum = 0.9});
  std::vector<double> p{1}, g{1};
  double v = 0, expected = 1;
  for (const double m : {0.9, 0.5, 0.8}) {
    sgd.momentum(m);
    sgd.step(std::span<double>(p), g);
    v = m * v + 1;
    expected -= 0.1 * v;
    CHECK(p[0] == doctest::Approx(expected).epsilon(1e-14));
  }
  CHECK(sgd.momentum() == 0.8);
  nn::adam adam;
  adam.momentum(0.85);
  CHECK(adam.momentum() == 0.85);
  nn::sgd plain;
  CHECK(thrown<manta::error>([&] { plain.momentum(0.9); }) ==
        "manta: nn: sgd was made without momentum, so that none can be set; make it with one");
  CHECK(thrown<manta::error>([&] { sgd.momentum(1.5); }) ==
        "manta: nn: sgd: the momentum is 1.5; it has to be above 0 and below 1");
}

TEST_CASE("frozen parameters do not move in step(parameters, gradients) either, by decay or by moments") {
  const std::vector<nn::optimizer> all{nn::adamw({.weight_decay = 0.1}), nn::adam({.weight_decay = 0.1}),
                                       nn::sgd({.momentum = 0.9, .weight_decay = 0.1}),
                                       nn::rmsprop({.weight_decay = 0.1}), nn::lbfgs({.weight_decay = 0.1})};
  for (const nn::optimizer& each : all) {
    INFO(each.name());
    nn::network<double> net(nn::shape{3}, nn::linear(4), nn::tanh(), nn::linear(2)), same = net;
    nn::optimizer by_spans = each, by_network = each;
    for (int step = 0; step < 5; ++step) {
      if (step == 2) net.freeze("0.weight"), same.freeze("0.weight");
      const std::vector<double> before(net.parameters().begin(), net.parameters().end());
      for (nn::network<double>* its : {&net, &same}) {
        const auto [loss, dy] = nn::mse(its->forward(numbers(3, 5, 1)), numbers(2, 5, 2));
        its->zero_gradients();
        its->backward(dy);
      }
      by_spans.step(net.parameters(), net.gradients());
      by_network.step(same);
      CHECK(std::ranges::equal(net.parameters(), same.parameters()));
      CHECK(std::ranges::equal(net.parameters().first(12), std::span(before).first(12)) == (step >= 2));
      CHECK(!std::ranges::equal(net.parameters().subspan(12), std::span(before).subspan(12)));
    }
  }
}
