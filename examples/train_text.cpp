// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A network that writes text, one character after the other: an LSTM, or a small transformer. It learns to say, at each
// position of a piece of text, which character comes next.
//
//   scripts/run train_text -n 3                     (both, on the GNU General Public License, which Debian ships)
//   scripts/run train_text -n 3 -- --model transformer --epochs 10 --text book.txt
//
// Expected output (digits vary between machines):
//   epoch 1: loss 2.757, accuracy 0.2645, 493 samples in 1.2 s; of the last pages: loss 2.70502
//   ...
//   The program of the program of the program ...
#include <manta/manta.hpp>
#include <manta/train.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

namespace nn = manta::nn;
namespace train = manta::train;

constexpr int length = 64;   // characters of a piece
constexpr int letters = 96;  // those that ASCII prints, and the end of a line

int number_of(char c) { return c == '\n' ? 0 : std::clamp(c - ' ' + 1, 1, letters - 1); }
char letter_of(int number) { return number == 0 ? '\n' : static_cast<char>(' ' + number - 1); }

/// The data of a training are a class of this program: pieces of a text, and for each position the next character. It
/// can be sent, so that tasks read the pieces ahead.
class pieces {
 public:
  pieces() = default;
  explicit pieces(std::string text) : text_(std::move(text)) {}
  std::size_t size() const { return text_.size() / length - 1; }
  void take(std::span<const std::uint64_t> which, train::batch<float>& to) const {
    to.x.resize(length, static_cast<Eigen::Index>(which.size()));
    to.labels.clear();
    for (std::size_t i = 0; i < which.size(); ++i) {
      for (int k = 0; k < length; ++k) {
        const std::size_t at = which[i] * length + static_cast<std::size_t>(k);
        to.x(k, static_cast<Eigen::Index>(i)) = static_cast<float>(number_of(text_[at]));
        to.labels.push_back(number_of(text_[at + 1]));
      }
    }
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(text_);
  }

 private:
  std::string text_;
};

struct writer {
  bool transformer = false;
  std::string file = "/usr/share/common-licenses/GPL-3";

  nn::network<float> model() const {
    if (!transformer)
      return nn::network<float>(nn::shape{length}, nn::embedding(letters, 32), nn::lstm(96), nn::linear(letters));
    const auto attend = nn::residual(nn::sequential(nn::layer_norm(), nn::attention(4, {.causal = true})));
    const auto think = nn::residual(nn::sequential(nn::layer_norm(), nn::linear(128), nn::gelu(), nn::linear(64)));
    return nn::network<float>(nn::shape{length}, nn::embedding(letters, 64), nn::positions(), attend, think, attend,
                              think, nn::layer_norm(), nn::linear(letters));
  }
  nn::adam optimizer() const { return nn::adam({.rate = transformer ? 2e-3 : 1e-2}); }
  nn::loss loss() const { return nn::cross_entropy(); }
  train::read_ahead<pieces> training_data() const { return pieces(text().substr(0, text().size() * 9 / 10)); }
  pieces validation_data() const { return pieces(text().substr(text().size() * 9 / 10)); }

  std::string text() const {
    std::ifstream in(file);
    std::string all((std::istreambuf_iterator<char>(in)), {});
    if (all.size() < 100 * length) throw manta::error(file + " is missing, or has less than 6400 characters");
    return all;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(transformer), CEREAL_NVP(file));
  }
};

/// The text goes on, each time with the likeliest character.
std::string continued(nn::network<float> net, std::string text, int characters) {
  nn::set_mode(net, {.training = false});
  for (int i = 0; i < characters; ++i) {
    const int known = std::min<int>(length, static_cast<int>(text.size()));
    nn::matrix<float> x = nn::matrix<float>::Zero(length, 1);
    for (int k = 0; k < known; ++k)
      x(k, 0) = static_cast<float>(number_of(text[text.size() - static_cast<std::size_t>(known - k)]));
    int next = 0;
    net.forward(x).col(0).segment((known - 1) * letters, letters).maxCoeff(&next);
    text += letter_of(next);
  }
  return text;
}

bool learn(const writer& recipe, int epochs) {
  const int workers = std::max(1, manta::size() - 1);
  train::trainer trainer(recipe, {.workers = workers, .batch = 8, .seed = 1, .clip = 1});
  // [fit]
  const train::history h = trainer.fit({.epochs = epochs, .patience = 3, .on_epoch = [](const train::epoch_result& e) {
                                          std::cout << e.training << "; of the last pages: loss " << e.validation.loss
                                                    << std::endl;
                                        }});
  std::cout << h.ended << "; the best epoch is " << h.best().training.epoch << std::endl;
  // [end]
  std::cout << continued(trainer.model(), "The program", 60) << std::endl;
  return h.best().validation.loss < 2.8;  // a guess among 96 characters has 4.6
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [argc, argv] {
    writer recipe;
    int epochs = 4;
    std::string model = "both";
    for (int i = 1; i + 1 < argc; i += 2) {
      const std::string word = argv[i];
      if (word == "--model") model = argv[i + 1];
      if (word == "--epochs") epochs = std::stoi(argv[i + 1]);
      if (word == "--text") recipe.file = argv[i + 1];
    }
    bool learnt = true;
    for (const bool transformer : {false, true}) {
      if (model == (transformer ? "lstm" : "transformer")) continue;
      recipe.transformer = transformer;
      learnt = learn(recipe, epochs) && learnt;
    }
    return learnt ? 0 : 1;
  });
}
