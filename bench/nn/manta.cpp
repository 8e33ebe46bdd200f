// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Training steps of small networks on one core. The limit of the perceptron is a plain loop on Eigen, written for it,
// in this program: the two run in turn on the same data, and have to get the same parameters.
//
//   bench_nn_manta [repetitions]
//
//   nn_perceptron          microseconds of a step of 784-128-10 with 128 samples, SGD
//   nn_perceptron_ratio    to the plain loop's, the median of pairs
//   nn_perceptron_adam     microseconds of the step with Adam
//   nn_conv_forward        microseconds of conv2d(32 -> 32, 3 x 3) on 28 x 28, 32 samples
//   nn_conv_backward
//   nn_conv_gflops         of both together
//   nn_product_gflops      of a plain product of Eigen's, 512^3: what this core can do
//   nn_lstm_forward        microseconds of 64 sequences of 32 steps, 64 -> 128
//   nn_lstm_backward, nn_lstm_gflops
#include <manta/nn.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "../common/measure.hpp"

namespace nn = manta::nn;
using matrix = nn::matrix<float>;

namespace {

constexpr int inputs = 784, hidden = 128, outputs = 10, samples = 128, steps = 40;
constexpr float rate = 0.05F;

/// The perceptron as one would write it for itself.
struct plain_loop {
  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> w1, w2;
  Eigen::VectorXf b1, b2;
  matrix h, y, dy, dh;

  explicit plain_loop(std::span<const float> p) {
    const float* at = p.data();
    w1 = Eigen::Map<const decltype(w1)>(at, hidden, inputs), at += w1.size();
    b1 = Eigen::Map<const Eigen::VectorXf>(at, hidden), at += hidden;
    w2 = Eigen::Map<const decltype(w2)>(at, outputs, hidden), at += w2.size();
    b2 = Eigen::Map<const Eigen::VectorXf>(at, outputs);
  }
  void step(const matrix& x, const std::vector<int>& labels) {
    h.noalias() = w1 * x;
    h.colwise() += b1;
    h = h.cwiseMax(0);
    y.noalias() = w2 * h;
    y.colwise() += b2;
    dy.resize(y.rows(), y.cols());
    for (int i = 0; i < y.cols(); ++i) {
      dy.col(i) = (y.col(i).array() - y.col(i).maxCoeff()).exp();
      dy.col(i) /= dy.col(i).sum() * static_cast<float>(samples);
      dy(labels[static_cast<std::size_t>(i)], i) -= 1.F / static_cast<float>(samples);
    }
    dh.noalias() = w2.transpose() * dy;
    dh.array() *= (h.array() > 0).cast<float>();
    w2.noalias() -= rate * (dy * h.transpose());
    b2 -= rate * dy.rowwise().sum();
    w1.noalias() -= rate * (dh * x.transpose());
    b1 -= rate * dh.rowwise().sum();
  }
};

double median(std::vector<double> v) {
  std::ranges::nth_element(v, v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2));
  return v[v.size() / 2];
}

bool perceptron(int repetitions) {
  nn::network<float> net(nn::shape{inputs}, nn::linear(hidden), nn::relu(), nn::linear(outputs)), with_adam = net;
  plain_loop plain(std::as_const(net).parameters());
  nn::sgd sgd({.rate = rate});
  nn::adam adam({.rate = 1e-3});
  const nn::loss loss = nn::cross_entropy();
  const matrix x = matrix::Random(inputs, samples);
  std::vector<int> labels(samples);
  for (int i = 0; i < samples; ++i) labels[static_cast<std::size_t>(i)] = i % outputs;
  matrix dy;
  const auto seconds_of = [&](nn::network<float>& n, auto& optimizer) {
    const bench::stopwatch time;
    for (int i = 0; i < steps; ++i) {
      loss(n.forward(x), labels, dy);
      n.zero_gradients();
      n.backward(dy);
      optimizer.step(n.parameters(), n.gradients());
    }
    return time.seconds();
  };
  std::vector<double> times, adam_times, ratios;
  for (int r = -1; r < repetitions * 4; ++r) {
    const double a = seconds_of(net, sgd);
    const bench::stopwatch other;
    for (int i = 0; i < steps; ++i) plain.step(x, labels);
    const double b = other.seconds(), c = seconds_of(with_adam, adam);
    if (r < 0) continue;
    times.push_back(1e6 * a / steps), ratios.push_back(a / b), adam_times.push_back(1e6 * c / steps);
  }
  bench::report("nn_perceptron", "manta", median(times), "us");
  bench::report("nn_perceptron_ratio", "manta", median(ratios), "x");
  bench::report("nn_perceptron_adam", "manta", median(adam_times), "us");
  const Eigen::Map<const Eigen::VectorXf> w(net.parameters().data(), plain.w1.size());
  const Eigen::Map<const Eigen::VectorXf> expected(plain.w1.data(), plain.w1.size());
  return (w - expected).norm() < 1e-3F * expected.norm();
}

/// Medians of forward and backward, in microseconds.
std::pair<double, double> both(nn::network<float> net, int columns, int repetitions) {
  const matrix x = matrix::Random(net.input_shape().size(), columns);
  const matrix dy = matrix::Random(net.output_shape().size(), columns);
  std::vector<double> forward, backward;
  for (int r = -1; r < repetitions * 3; ++r) {
    const bench::stopwatch first;
    net.forward(x);
    const double a = first.seconds();
    const bench::stopwatch second;
    net.backward_to_input(dy);
    if (r < 0) continue;
    forward.push_back(1e6 * a), backward.push_back(1e6 * second.seconds());
  }
  return {median(forward), median(backward)};
}

double product_gflops(int repetitions) {
  const matrix a = matrix::Random(512, 512), b = a;
  matrix c(512, 512);
  std::vector<double> times;
  for (int r = -1; r < repetitions * 3; ++r) {
    const bench::stopwatch w;
    c.noalias() = a * b;
    if (r >= 0) times.push_back(w.seconds());
  }
  return c(0, 0) < 1e9F ? 2e-9 * 512 * 512 * 512 / median(times) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  if (!perceptron(repetitions)) return bench::failed("nn_perceptron", "the plain loop got other parameters");
  const auto [cf, cb] =
      both(nn::network<float>(nn::shape{32, 28, 28}, nn::conv2d(32, 3, {.padding = 1})), 32, repetitions);
  bench::report("nn_conv_forward", "manta", cf, "us");
  bench::report("nn_conv_backward", "manta", cb, "us");
  bench::report("nn_conv_gflops", "manta", 3 * 2e-3 * 32 * 28 * 28 * 32 * 32 * 9 / (cf + cb), "G/s");
  bench::report("nn_product_gflops", "manta", product_gflops(repetitions), "G/s");
  const auto [lf, lb] = both(nn::network<float>(nn::shape{32, 64}, nn::lstm(128)), 64, repetitions);
  bench::report("nn_lstm_forward", "manta", lf, "us");
  bench::report("nn_lstm_backward", "manta", lb, "us");
  bench::report("nn_lstm_gflops", "manta", 3 * 2e-3 * 64 * 32 * 4 * 128 * (64 + 128) / (lf + lb), "G/s");
  return 0;
}
