// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A small network learns two intertwined spirals, is saved for Python, and comes back as it was. 17_nn.md walks through
// it.
//
//   scripts/run nn_first        or        ./nn_first
//
// Expected output, with other digits on other machines:
//   2 -> linear(32) -> tanh() -> linear(32) -> tanh() -> linear(2) -> 2: 1218 parameters
//   step 0: loss 0.7
//   step 500: loss 0.0
//   400 of 400 points are right, before and after the file
#include <manta/manta.hpp>
#include <manta/nn.hpp>
#include <manta/nn/onnx.hpp>
#include <manta/nn/weights.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace nn = manta::nn;

/// Points of two spirals, one column each, and the spiral of each.
struct points {
  nn::matrix<float> x;
  std::vector<int> labels;
};

points spirals(int count) {
  points p{nn::matrix<float>(2, count), std::vector<int>(static_cast<std::size_t>(count))};
  for (int i = 0; i < count; ++i) {
    const int spiral = i % 2;
    const float along = static_cast<float>(i) / static_cast<float>(count);
    const float angle = 8 * along + 3.14159F * static_cast<float>(spiral);
    p.x.col(i) << along * std::cos(angle), along * std::sin(angle);
    p.labels[static_cast<std::size_t>(i)] = spiral;
  }
  return p;
}

/// A step that leaves the first layer alone.
void tune(nn::network<float>& net) {
  // [groups]
  net.freeze("0.*");
  nn::adamw optimizer({.rate = 1e-3,
                       .weight_decay = 0.05,
                       .groups = {{.dimensions = 1, .weight_decay = 0}, {.arrays = "2.weight", .rate = 0.1}}});
  optimizer.step(net);
  // [end]
}

int learn(const std::string& file) {
  const auto [x, labels] = spirals(400);
  // [network]
  nn::network<float> net(nn::shape{2}, nn::linear(32), nn::tanh(), nn::linear(32), nn::tanh(), nn::linear(2));
  net.initialise(1);
  // [end]
  std::printf("%s: %zu parameters\n", net.describe().c_str(), net.parameters().size());

  // [training]
  nn::adam optimizer({.rate = 0.02});
  const nn::schedule schedule = nn::warm_up(20, nn::cosine(480));
  for (int step = 0; step <= 500; ++step) {
    const auto [loss, dy] = nn::cross_entropy(net.forward(x), labels);
    net.zero_gradients();
    net.backward(dy);
    nn::clip_norm(net.gradients(), 1);
    optimizer.rate(0.02 * schedule(step));
    optimizer.step(net);
    if (step % 500 == 0) std::printf("step %d: loss %.1f\n", step, static_cast<double>(loss));
  }
  // [end]

  // [file]
  nn::save_weights(file, net);  // Python: safetensors.numpy.load_file(file)["0.weight"]
  nn::network<float> read(net.input_shape(), net.specs());
  nn::load_weights(file, read);
  nn::save_onnx(file + ".onnx", net);  // Python: onnxruntime.InferenceSession(file).run(None, {"input": x})
  // [end]
  std::filesystem::remove(file + ".onnx");
  const auto right = nn::correct(net.forward(x), labels), again = nn::correct(read.forward(x), labels);
  std::printf("%d of 400 points are right, before and after the file\n", static_cast<int>(right));
  tune(read);
  const bool is_kept = std::ranges::equal(net.parameters().first(64), read.parameters().first(64));
  return right == 400 && again == 400 && is_kept ? 0 : 1;
}

// [custom]
/// y = a x, with one parameter: a module of one's own.
struct gain {
  using scalar = float;
  const nn::matrix<float>& forward(const nn::matrix<float>& x) {
    x_ = x;
    return y_ = a_[0] * x;
  }
  const nn::matrix<float>& backward(const nn::matrix<float>& dy) {
    da_[0] += dy.cwiseProduct(x_).sum();
    return dx_ = a_[0] * dy;
  }
  std::span<float> parameters() { return a_; }
  std::span<const float> parameters() const { return a_; }
  std::span<float> gradients() { return da_; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(a_);
  }

 private:
  std::vector<float> a_{1}, da_{0};
  nn::matrix<float> x_, y_, dx_;
};
static_assert(nn::module<gain>);
// [end]

// [loss]
/// The sum of log cosh (y - target); dy is 0 before.
float log_cosh(std::span<const float> y, std::span<const float> target, std::span<float> dy) {
  float sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    dy[i] = std::tanh(y[i] - target[i]);
    sum += std::log(std::cosh(y[i] - target[i]));
  }
  return sum;
}
struct curve {
  nn::own_loss<float> loss() const { return log_cosh; }  // of a recipe
};
// [end]

// [steps]
/// Feeds sequences of two environments to an LSTM, a step at a time; environment 1 begins again after the first step.
nn::matrix<float> two_steps(nn::network<float>& net, const nn::matrix<float>& first, const nn::matrix<float>& second) {
  nn::matrix<float> state = net.initial_state(2);
  net.forward(first, state);
  state.col(1).setZero();
  return net.forward(second, state);
}
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    nn::network<float> recurrent(nn::shape{3}, nn::lstm(4), nn::linear(1));
    const nn::matrix<float> one = nn::matrix<float>::Ones(3, 2);
    const nn::matrix<float> y = two_steps(recurrent, one, one);
    if (y(0, 0) == y(0, 1)) return 1;  // environment 0 remembers its first step
    nn::matrix<float> dy;
    if (curve().loss()(one, nn::matrix<float>(2 * one), dy) <= 0 || dy(0, 0) >= 0) return 1;

    const auto folder = std::filesystem::temp_directory_path() / ("manta_nn_first_" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    const int failed = learn((folder / "spirals.safetensors").string());
    std::filesystem::remove_all(folder);
    return failed;
  });
}
