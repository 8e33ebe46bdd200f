// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Data-parallel training on Fashion-MNIST: a perceptron, or with --cnn a convolutional network, by all ranks but rank
// 0. The same numbers come out whatever the number of workers. Needs Debian's dataset-fashion-mnist, or --data FOLDER.
//
//   scripts/run train_fashion_mnist -n 3 -- --epochs 5 [--cnn] [--train 60000] [--data FOLDER]
//
// Expected output:
//   epoch 1: loss 0.5403, accuracy 0.8123, 60000 samples in 1.3 s; test accuracy 0.8413
//   ...
#include <manta/manta.hpp>
#include <manta/train.hpp>
#include <manta/train/gzip.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>

namespace nn = manta::nn;
namespace train = manta::train;

// [recipe]
struct fashion {
  float rate = 1e-3f;
  bool cnn = false;
  int limit = 60000;
  std::string folder;

  nn::network<float> model() const {
    if (!cnn) return nn::network<float>(nn::shape{784}, nn::linear(128), nn::relu(), nn::linear(10));
    return nn::network<float>(nn::shape{1, 28, 28}, nn::conv2d(16, 3), nn::relu(), nn::max_pool(2), nn::conv2d(32, 3),
                              nn::relu(), nn::max_pool(2), nn::linear(64), nn::relu(), nn::linear(10));
  }
  nn::adam optimizer() const { return nn::adam({.rate = rate}); }
  nn::loss loss() const { return nn::cross_entropy(); }
  train::samples training_data() const { return images("train", limit); }
  train::samples validation_data() const { return images("t10k", 10000); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rate), CEREAL_NVP(cnn), CEREAL_NVP(limit), CEREAL_NVP(folder));
  }
  train::samples images(const std::string& part, int count) const;
};
// [end]

train::samples fashion::images(const std::string& part, int count) const {
  const std::string begin = folder + '/' + part;
  return train::read_idx(train::gunzip(begin + "-images-idx3-ubyte.gz"), train::gunzip(begin + "-labels-idx1-ubyte.gz"),
                         {.mean = {.286F}, .deviation = {.353F}, .most = static_cast<std::size_t>(count)});
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [&] {
    fashion recipe{.folder = "/usr/share/datasets/fashion-mnist"};
    int epochs = 5;
    double least = 0;
    for (int i = 1; i < argc; ++i) {
      const std::string flag = argv[i];
      if (flag == "--cnn") {
        recipe.cnn = true;
      } else if (i + 1 < argc) {
        const std::string value = argv[++i];
        if (flag == "--epochs") epochs = std::stoi(value);
        if (flag == "--train") recipe.limit = std::stoi(value);
        if (flag == "--data") recipe.folder = value;
        if (flag == "--min-accuracy") least = std::stod(value);
      }
    }
    double accuracy = 0;
    // [trainer]
    const int workers = std::max(1, manta::size() - 1);
    train::trainer trainer(recipe, {.workers = workers, .batch = 128, .seed = 1});
    for (int epoch = 0; epoch < epochs; ++epoch) {
      const train::summary t = trainer.train(), v = trainer.validate();
      std::cout << t << "; test accuracy " << v["accuracy"] << std::endl;
      accuracy = v["accuracy"];
    }
    const nn::network<float> net = trainer.model();
    // [end]
    std::cout << net.parameters().size() << " parameters\n";
    return accuracy >= least ? 0 : 1;
  });
}
