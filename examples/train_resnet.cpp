// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// ResNet-18 (He et al. 2016, in the form for small pictures) on CIFAR-10, by all ranks together: SGD with momentum, a
// rate that falls by ten after 3/5 and 4/5 of the epochs, a checkpoint after each. Started again, it goes on from
// there.
//
//   scripts/run train_resnet -n 4 -- --data cifar-10-batches-bin  (the folder of CIFAR-10's binary version)
//   scripts/run train_resnet                                      (a few coloured squares, in a narrow network)
//
// Expected output, of the latter (digits vary between machines):
//   epoch 1: loss 1.5, accuracy 0.43, 200 samples in 1 s; validation: accuracy 0.33
//   ...
#include <manta/manta.hpp>
#include <manta/progress.hpp>
#include <manta/train.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace nn = manta::nn;
namespace train = manta::train;

/// Two convolutions and what leads past them; the first of each stage halves the picture.
nn::spec block(int channels, int stride, bool widens) {
  const nn::spec main =
      nn::sequential(nn::conv2d(channels, 3, {.stride = stride, .padding = 1, .bias = false}), nn::batch_norm(),
                     nn::relu(), nn::conv2d(channels, 3, {.padding = 1, .bias = false}), nn::batch_norm());
  if (!widens) return nn::sequential(nn::residual(main), nn::relu());
  const nn::spec past = nn::sequential(nn::conv2d(channels, 1, {.stride = stride, .bias = false}), nn::batch_norm());
  return nn::sequential(nn::residual(main, past), nn::relu());
}

struct cifar {
  double rate = 0.1;
  int epochs = 200, channels = 64;  // of the first stage
  std::string folder;
  std::vector<std::string> parts{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
                                 "data_batch_5.bin"};

  nn::network<float> model() const {
    return nn::network<float>(nn::shape{3, 32, 32}, nn::conv2d(channels, 3, {.padding = 1, .bias = false}),
                              nn::batch_norm(), nn::relu(), block(channels, 1, false), block(channels, 1, false),
                              block(2 * channels, 2, true), block(2 * channels, 1, false), block(4 * channels, 2, true),
                              block(4 * channels, 1, false), block(8 * channels, 2, true),
                              block(8 * channels, 1, false), nn::average_pool(0), nn::linear(10));
  }
  nn::sgd optimizer() const { return nn::sgd({.rate = rate, .momentum = 0.9, .weight_decay = 5e-4}); }
  nn::loss loss() const { return nn::cross_entropy(); }
  double learning_rate(double epoch) const {
    return epoch < .6 * epochs ? rate : epoch < .8 * epochs ? rate / 10 : rate / 100;
  }
  train::samples training_data() const { return read(parts); }
  train::samples validation_data() const { return read({"test_batch.bin"}); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rate), CEREAL_NVP(epochs), CEREAL_NVP(channels), CEREAL_NVP(folder), CEREAL_NVP(parts));
  }

 private:
  train::samples read(const std::vector<std::string>& names) const {
    std::vector<train::file> files;
    for (const std::string& name : names) files.emplace_back(folder + '/' + name);
    return train::read_cifar10(files, {.mean = {.4914F, .4822F, .4465F}, .deviation = {.247F, .2435F, .2616F}});
  }
};

/// Writes a file in CIFAR-10's format: the class says which channel is bright, and in which half of the picture.
void write_squares(const std::string& path, int count) {
  std::ofstream out(path, std::ios::binary);
  for (int i = 0; i < count; ++i) {
    const int label = i % 6;
    std::string record(1 + 3 * 1024, '\0');
    record[0] = static_cast<char>(label);
    for (int pixel = 0; pixel < 3 * 1024; ++pixel) {
      const bool is_bright = pixel / 1024 == label % 3 && pixel % 1024 / 512 == label / 3;
      record[static_cast<std::size_t>(1 + pixel)] =
          static_cast<char>((is_bright ? 180 : 40) + (pixel * 7 + i * 13) % 60);
    }
    out << record;
  }
}

int learn(cifar recipe, int batch, double least, const std::string& checkpoint) {
  train::trainer trainer(recipe, {.workers = std::max(1, manta::size() - 1), .batch = batch, .seed = 1});
  if (std::filesystem::exists(checkpoint)) trainer.load(checkpoint);
  double reached = 0;
  manta::progress bar("epochs", recipe.epochs);
  for (std::uint64_t epoch = 0; epoch < static_cast<std::uint64_t>(recipe.epochs);) {
    const train::summary t = trainer.train();
    bar.advance(t.epoch - epoch);
    bar.set("loss", t.loss);
    epoch = t.epoch;
    reached = trainer.validate()["accuracy"];
    std::cout << t << "; validation: accuracy " << reached << std::endl;
    trainer.save(checkpoint);
  }
  return reached >= least ? 0 : 1;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [argc, argv] {
    if (argc > 2 && std::string(argv[1]) == "--data")
      return learn({.folder = argv[2]}, 128, 0.9, "resnet18.checkpoint");

    const std::string folder = std::filesystem::temp_directory_path() / ("manta_resnet_" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    write_squares(folder + "/data_batch_1.bin", 200);
    write_squares(folder + "/test_batch.bin", 60);
    const int failed =
        learn({.rate = 0.01, .epochs = 12, .channels = 4, .folder = folder, .parts = {"data_batch_1.bin"}}, 20, 0.8,
              folder + "/checkpoint");
    std::filesystem::remove_all(folder);
    return failed;
  });
}
