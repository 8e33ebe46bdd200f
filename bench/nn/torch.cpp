// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The training steps of manta.cpp by libtorch, on one thread. Which BLAS the machine has (libblas.so.3) decides its
// speed: Debian's libopenblas0-pthread is many times faster than the default one.
//
//   bench_nn_torch [repetitions]
//
//   nn_perceptron        microseconds of a step of 784-128-10 with 128 samples, SGD
//   nn_perceptron_adam   microseconds of the step with Adam
//   nn_conv_forward      microseconds of Conv2d(32 -> 32, 3 x 3) on 28 x 28, 32 samples
//   nn_conv_backward
//   nn_lstm_forward      microseconds of 64 sequences of 32 steps, 64 -> 128
//   nn_lstm_backward
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "../common/measure.hpp"

namespace {

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

/// False if the loss does not fall.
template <class Optimizer, class Options>
bool perceptron(const char* name, const Options& options, int repetitions) {
  constexpr int steps = 40;
  torch::nn::Sequential net(torch::nn::Linear(784, 128), torch::nn::ReLU(), torch::nn::Linear(128, 10));
  Optimizer optimizer(net->parameters(), options);
  const torch::Tensor x = 2 * torch::rand({128, 784}) - 1, labels = torch::arange(128).remainder(10);
  float first = 0, last = 0;
  std::vector<double> times;
  for (int r = -1; r < repetitions * 4; ++r) {
    const bench::stopwatch time;
    for (int i = 0; i < steps; ++i) {
      const torch::Tensor loss = torch::nn::functional::cross_entropy(net->forward(x), labels);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      last = loss.item<float>();
      if (r < 0 && i == 0) first = last;
    }
    if (r >= 0) times.push_back(1e6 * time.seconds() / steps);
  }
  bench::report(name, "torch", median(times), "us");
  return last < first;
}

/// Medians of forward and backward, in microseconds; with the gradient by the input, as manta.cpp has it.
template <class Forward>
std::pair<double, double> both(torch::nn::Module& net, torch::Tensor x, Forward forward, int repetitions) {
  x.requires_grad_();
  const torch::Tensor dy = torch::randn_like(forward(x)).detach();
  std::vector<double> times, backward_times;
  for (int r = -1; r < repetitions * 3; ++r) {
    net.zero_grad();
    const bench::stopwatch first;
    const torch::Tensor y = forward(x);
    const double a = first.seconds();
    const bench::stopwatch second;
    y.backward(dy);
    if (r < 0) continue;
    times.push_back(1e6 * a), backward_times.push_back(1e6 * second.seconds());
  }
  return {median(times), median(backward_times)};
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  at::set_num_threads(1);
  torch::manual_seed(1);
  const bool learns =
      perceptron<torch::optim::SGD>("nn_perceptron", torch::optim::SGDOptions(0.05), repetitions) &&
      perceptron<torch::optim::Adam>("nn_perceptron_adam", torch::optim::AdamOptions(1e-3), repetitions);
  if (!learns) return bench::failed("nn_perceptron", "the loss does not fall");
  torch::nn::Conv2d conv(torch::nn::Conv2dOptions(32, 32, 3).padding(1));
  const auto [cf, cb] = both(
      *conv, torch::randn({32, 32, 28, 28}), [&](const torch::Tensor& x) { return conv(x); }, repetitions);
  bench::report("nn_conv_forward", "torch", cf, "us");
  bench::report("nn_conv_backward", "torch", cb, "us");
  torch::nn::LSTM lstm(torch::nn::LSTMOptions(64, 128).batch_first(true));
  const auto [lf, lb] = both(
      *lstm, torch::randn({64, 32, 64}), [&](const torch::Tensor& x) { return std::get<0>(lstm(x)); }, repetitions);
  bench::report("nn_lstm_forward", "torch", lf, "us");
  bench::report("nn_lstm_backward", "torch", lb, "us");
  return 0;
}
