// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A network that learns from PNG files in folders, one for each class. Tasks on ranks without a worker decode them ahead.
//
//   scripts/run train_pictures -n 4
//
// Expected output:
//   2 classes, columns and rows, 80 pictures of 3 x 12 x 12
//   epoch 1: loss 0.5651, accuracy 0.875, 80 samples in .. s
//   all 80 pictures are right
#include <manta/manta.hpp>
#include <manta/train.hpp>

#include <manta/train/picture_folder.hpp>
#include <manta/train/png.hpp>  // opt-in: link with -lpng

#include <algorithm>
#include <cereal/types/string.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>

namespace nn = manta::nn;
namespace train = manta::train;

/// Forty pictures of stripes along columns, and forty along rows.
void draw_pictures(const std::string& folder) {
  const nn::random numbers(1);
  for (const std::string kind : {"columns", "rows"}) {
    std::filesystem::create_directories(folder + "/" + kind);
    for (int i = 0; i < 40; ++i) {
      unsigned char pixels[12][12][3];
      for (int y = 0; y < 12; ++y)
        for (int x = 0; x < 12; ++x)
          for (int c = 0; c < 3; ++c)
            pixels[y][x][c] = static_cast<unsigned char>(
                numbers.bits(static_cast<std::uint64_t>(((i * 12 + y) * 12 + x) * 3 + c)) % 100 +
                ((kind == "rows" ? y : x) / 2 % 2 == i % 2 ? 120 : 0));
      png_image image{};
      image.version = PNG_IMAGE_VERSION;
      image.width = image.height = 12;
      image.format = PNG_FORMAT_RGB;
      png_image_write_to_file(&image, (folder + "/" + kind + "/" + std::to_string(i) + ".png").c_str(), 0, pixels, 0,
                              nullptr);
    }
  }
}

// [recipe]
struct stripes {
  std::string folder;

  nn::network<float> model() const {
    return nn::network<float>(nn::shape{3, 12, 12}, nn::conv2d(8, 3), nn::relu(), nn::average_pool(0), nn::linear(2));
  }
  nn::adam optimizer() const { return nn::adam({.rate = 0.02}); }
  nn::loss loss() const { return nn::cross_entropy(); }
  train::picture_folder<train::png> pictures() const { return {folder, {.mean = {0.4F}, .deviation = {0.25F}}}; }
  train::read_ahead<train::picture_folder<train::png>> training_data() const { return {pictures(), {.window = 4}}; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(folder));
  }
};
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    char name[] = "/tmp/manta_pictures_XXXXXX";
    const std::string folder = mkdtemp(name);
    draw_pictures(folder);
    const stripes recipe{folder};
    const auto pictures = recipe.pictures();
    std::cout << pictures.classes().size() << " classes, " << pictures.classes()[0] << " and " << pictures.classes()[1]
              << ", " << pictures.size() << " pictures of " << pictures.extents().text() << "\n";

    train::trainer trainer(recipe, {.workers = std::max(1, manta::size() / 2), .batch = 16, .seed = 1});
    // [callbacks]
    const auto print = [](const train::epoch_result& e) {
      if (e.training.epoch % 6 == 1) std::cout << e.training << std::endl;
    };
    const auto goes_on = [](const train::summary& so_far) { return so_far.loss > 1e-3; };
    trainer.fit(
        {.epochs = 25, .progress = false, .callbacks = {{.on_epoch = print}, {.on_batch = goes_on, .every = 5}}});
    // [end]

    train::batch<float> all;
    std::vector<std::uint64_t> which(pictures.size());
    std::iota(which.begin(), which.end(), std::uint64_t{0});
    pictures.take(which, all);
    const nn::matrix<float> y = train::predict(trainer.model(), all.x);
    const auto right = nn::correct(y, all.labels);
    std::cout << (right == 80 ? "all" : std::to_string(right)) << " 80 pictures are right\n";

    std::ofstream(folder + "/rows/7.png") << "no picture";
    std::string problem;
    try {
      const std::vector<std::uint64_t> damaged{77};  // in the order of names: 0, 1, 10, 11, ..
      pictures.take(damaged, all);
    } catch (const manta::error& e) {
      problem = e.what();
    }
    const bool is_named = problem.starts_with("manta: train: cannot read the picture " + folder + "/rows/7.png");
    std::filesystem::remove_all(folder);
    return right == 80 && is_named ? 0 : 1;
  });
}
