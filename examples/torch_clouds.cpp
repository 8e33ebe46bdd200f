// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// PyTorch's C++ library with manta: a network of torch::nn that several ranks train, and a TorchScript file that is
// trained further and served. Needs libtorch (scripts/setup long, or Debian's libtorch-dev).
//
//   export MANTA_BUILD=build-torch MANTA_MESON_ARGS=-Dtorch=enabled
//   scripts/run torch_clouds -n 4                            with a file of its own
//   scripts/run torch_clouds -n 4 -- net.pt                  with one from Python, of 8 numbers to 3 scores
//
// Expected output:
//   epoch 1: loss 0.8346, accuracy 0.655, 600 samples in 0.25 s
//   ..
//   trained by 3 workers: 0.896667 of 300 other samples are right
//   the file: 0.283333 are right, and after training 0.89
//   manta: serving on http://127.0.0.1:45497
//   [1.0809675,-1.3890527,-1.3066397]
#include <manta/manta.hpp>
#include <manta/serve.hpp>
#include <manta/serve/http.hpp>
#include <manta/serve/torch.hpp>
#include <manta/torch.hpp>
#include <manta/train.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "serve_check.hpp"

namespace nn = manta::nn;
namespace serve = manta::serve;
namespace train = manta::train;

/// Three clouds of points in eight dimensions.
train::samples clouds(std::uint64_t seed, int count) {
  const nn::random numbers(seed);
  Eigen::MatrixXf x(8, count);
  std::vector<int> y(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    y[static_cast<std::size_t>(i)] = i % 3;
    for (int k = 0; k < 8; ++k)
      x(k, i) =
          static_cast<float>(numbers.normal(static_cast<std::uint64_t>(8 * i + k))) + (k % 3 == i % 3 ? 1.5F : 0.F);
  }
  return train::samples(std::move(x), std::move(y));
}

// [recipe]
struct perceptron : torch::nn::SequentialImpl {  // any class derived from torch::nn::Module with forward(tensor)
  explicit perceptron(int hidden)
      : SequentialImpl(torch::nn::Linear(8, hidden), torch::nn::Tanh(), torch::nn::Linear(hidden, 3)) {}
};

struct recipe {
  int hidden = 16;
  manta::torch_script file = {};  // a TorchScript file as a value: all workers get it

  manta::torch_module<float> model() const {
    if (!file.path().empty()) return file;
    return manta::torch_module<float>(manta::own<perceptron>(hidden));
  }
  nn::adam optimizer() const { return nn::adam({.rate = 1e-2}); }
  nn::loss loss() const { return nn::cross_entropy(); }
  train::samples training_data() const { return clouds(1, 600); }
  train::samples validation_data() const { return clouds(2, 300); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(hidden), CEREAL_NVP(file));
  }
};
// [end]

/// In Python: torch.jit.script(net).save(path).
void write_script(const std::string& path) {
  torch::manual_seed(1);
  torch::jit::Module net("net");
  net.register_parameter("w", torch::randn({3, 8}).mul_(.1).requires_grad_(), false);
  net.register_parameter("b", torch::zeros({3}).requires_grad_(), false);
  net.define("def forward(self, x):\n    return torch.matmul(x, self.w.t()) + self.b\n");
  net.save(path);
}

int run(const std::string& path) {
  // [train]
  const int workers = std::max(1, manta::size() - 1);
  train::trainer trainer(recipe{}, {.workers = workers, .batch = 30, .seed = 1});
  for (int epoch = 0; epoch < 5; ++epoch) std::cout << trainer.train() << std::endl;
  const double accuracy = trainer.validate()["accuracy"];
  // [end]
  std::cout << "trained by " << workers << " workers: " << accuracy << " of 300 other samples are right" << std::endl;

  // [script]
  train::trainer further(recipe{.file = manta::torch_script(path)}, {.workers = workers, .batch = 30, .seed = 1});
  const double before = further.validate()["accuracy"];
  for (int epoch = 0; epoch < 5; ++epoch) further.train();
  const double after = further.validate()["accuracy"];
  further.model().save_file(path + ".trained");  // for Python: torch.jit.load(..)
  // [end]
  std::cout << "the file: " << before << " are right, and after training " << after << std::endl;

  // [serve]
  auto scores = serve::deploy_torch({.name = "clouds", .replicas = workers, .max_batch = 32}, path + ".trained");
  serve::http http({.port = 0});
  http.route("/clouds", scores);
  // [end]
  bool is_same = true;
  if (has_program("curl")) {
    const std::vector<float> x{1, 0, 0, 1, 0, 0, 1, 0}, y = scores(x).get();
    const std::string ask = "curl -s --max-time 60 " + http.url();
    const std::string json = output_beside(http, ask + "/clouds -d '[1,0,0,1,0,0,1,0]'");
    const std::string tensors = output_beside(
        http, ask +
                  "/v2/models/clouds/infer -d '{\"inputs\": [{\"name\": \"input0\", \"datatype\": \"FP32\", \"shape\": "
                  "[2, 8], \"data\": [1,0,0,1,0,0,1,0, 1,0,0,1,0,0,1,0]}]}'");
    std::cout << json << std::endl;
    is_same = json == manta::output::to_json(y) && tensors.find("\"shape\":[2,3]") != std::string::npos;
  }
  return accuracy > 0.8 && after > before && after > 0.8 && is_same ? 0 : 1;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [&] {
    if (argc > 1) return run(argv[1]);
    const std::string path = std::filesystem::temp_directory_path() / ("clouds" + std::to_string(::getpid()) + ".pt");
    write_script(path);
    const int status = run(path);
    std::filesystem::remove(path);
    std::filesystem::remove(path + ".trained");
    return status;
  });
}
