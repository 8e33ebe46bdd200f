// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Trains a network on Fashion-MNIST, and puts it behind HTTP with a page on which one draws or picks a picture and sees
// its class. Needs Debian's dataset-fashion-mnist, or --data FOLDER.
//
//   scripts/run serve_fashion_mnist -n 4 -- 8000 [--epochs 5] [--train 60000] [--data FOLDER] [--page FOLDER]
//   curl -d "$(curl -sd 7 localhost:8000/picture | jq .pixels)" localhost:8000/predict
//
// The status page is at /status. With `check` instead of a port, it asks itself by curl, and shows its page to Chromium if
// that is there; the expected output (A, P vary):
//   epoch 1: loss 0.7, accuracy 0.7, 6000 samples in 0.3 s
//   {"label":"Ankle boot","classes":[{"name":"T-shirt/top","probability":P},...]}
//   right for A of 200 pictures
#include <manta/manta.hpp>
#include <manta/serve.hpp>
#include <manta/serve/http.hpp>
#include <manta/train.hpp>
#include <manta/train/gzip.hpp>

#include <array>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "serve_check.hpp"

namespace nn = manta::nn;
namespace serve = manta::serve;
namespace train = manta::train;

constexpr std::array<const char*, 10> names{"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                                            "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
constexpr float mean = .286F, deviation = .353F;  // of the training data's grey values

struct fashion {
  std::string folder;
  int limit = 60000;

  nn::network<float> model() const {
    return nn::network<float>(nn::shape{784}, nn::linear(256), nn::relu(), nn::dropout(.2), nn::linear(10));
  }
  nn::adam optimizer() const { return nn::adam({.rate = 1e-3F}); }
  nn::loss loss() const { return nn::cross_entropy(); }
  train::samples training_data() const {
    return train::read_idx(train::gunzip(folder + "/train-images-idx3-ubyte.gz"),
                           train::gunzip(folder + "/train-labels-idx1-ubyte.gz"),
                           {.mean = {mean}, .deviation = {deviation}, .most = static_cast<std::size_t>(limit)});
  }
  train::samples validation_data() const { return training_data(); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(folder), CEREAL_NVP(limit));
  }
};

// [classifier]
using picture = std::array<float, 784>;  // grey values from 0 to 1: other sizes are refused before they get here

struct probability {
  std::string name;
  float probability = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(probability));
  }
};
struct answer {
  std::string label;
  std::vector<probability> classes;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(label), CEREAL_NVP(classes));
  }
};

struct classifier {
  nn::network<float> net;

  std::vector<answer> predict(const std::vector<picture>& batch) {
    nn::matrix<float> x(784, std::ssize(batch));
    for (std::size_t i = 0; i < batch.size(); ++i)
      x.col(static_cast<Eigen::Index>(i)) =
          (Eigen::Map<const Eigen::VectorXf>(batch[i].data(), 784).array() - mean) / deviation;
    net.mode({.training = false});
    const nn::matrix<float>& y = net.forward(x);
    std::vector<answer> answers;
    for (Eigen::Index i = 0; i < y.cols(); ++i) answers.push_back(describe(y.col(i)));
    return answers;
  }
  static answer describe(const Eigen::VectorXf& outputs);
};
// [end]

answer classifier::describe(const Eigen::VectorXf& outputs) {
  Eigen::Index best = 0;
  const float most = outputs.maxCoeff(&best), sum = (outputs.array() - most).exp().sum();
  answer a{names[static_cast<std::size_t>(best)], {}};
  for (Eigen::Index i = 0; i < outputs.size(); ++i)
    a.classes.push_back({names[static_cast<std::size_t>(i)], std::exp(outputs[i] - most) / sum});
  return a;
}

/// A picture of the test set, for the page.
struct sample {
  std::string label;
  std::vector<float> pixels;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(label), CEREAL_NVP(pixels));
  }
};
struct gallery {
  train::file pictures, labels;
  explicit gallery(const std::string& folder)
      : pictures(train::gunzip(folder + "/t10k-images-idx3-ubyte.gz")),
        labels(train::gunzip(folder + "/t10k-labels-idx1-ubyte.gz")) {}
  sample at(unsigned number) const {
    const std::size_t i = number % 10000;
    sample s{names.at(static_cast<std::size_t>(labels.bytes.at(8 + i))), {}};
    for (std::size_t k = 0; k < 784; ++k)
      s.pixels.push_back(static_cast<float>(static_cast<unsigned char>(pictures.bytes.at(16 + 784 * i + k))) / 255);
    return s;
  }
};

/// The folder of the page, which lies beside this source.
std::string page_folder() {
  namespace fs = std::filesystem;
  const fs::path source = __FILE__, build = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  for (const fs::path& from : {fs::current_path(), build}) {
    const fs::path page = (from / source).parent_path() / "serve_fashion_mnist";
    if (fs::exists(page)) return fs::canonical(page);
  }
  return "";
}

/// What a browser shows of the page when its scripts have run.
std::string seen_by_browser(serve::http& http) {
  return output_beside(
      http,
      "folder=$(mktemp -d); timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir=$folder "
      "--virtual-time-budget=10000 --dump-dom " +
          http.url() + "/ 2> /dev/null; rm -rf $folder");
}

int check(serve::http& http, const serve::deployment<answer(picture)>& model, const gallery& test) {
  int right = 0;
  std::vector<manta::future<answer>> answers;
  for (unsigned i = 0; i < 200; ++i) {
    picture p{};
    const sample s = test.at(i);
    std::copy(s.pixels.begin(), s.pixels.end(), p.begin());
    answers.push_back(model(p));
  }
  for (unsigned i = 0; i < 200; ++i) right += answers[i].get().label == test.at(i).label;
  bool good = right > 130;
  if (has_program("curl")) {
    const std::string url = http.url(), curl = "curl -s --max-time 20 ";
    const std::string given =
        output_beside(http, curl + "-d 0 " + url + "/picture | sed 's/.*\\(\\[.*\\]\\).*/\\1/' | " + curl + "-d @- " +
                                url + "/predict; " + curl + url + "/status | grep -c '<title>manta'; " + curl +
                                "-d '[1,2]' " + url + "/predict");
    std::cout << given << '\n';
    good = good && given.starts_with("{\"label\":") &&
           given.find("}1\n{\"error\":\"the body: expected an array of 784, not an array of 2\"}") != std::string::npos;
  }
  if (has_program("chromium")) {
    const std::string dom = seen_by_browser(http);
    good = good && dom.find("data-state=\"answered\"") != std::string::npos &&
           dom.find(answers[0].get().label) != std::string::npos;
    if (!good) std::cout << dom << '\n';
  }
  std::cout << "right for " << right << " of 200 pictures" << std::endl;
  return good ? 0 : 1;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [&] {
    const std::string what = argc > 1 ? argv[1] : "8000";
    std::map<std::string, std::string> given{{"--data", "/usr/share/datasets/fashion-mnist"},
                                             {"--page", page_folder()},
                                             {"--epochs", "5"},
                                             {"--train", "60000"}};
    for (int i = 2; i + 1 < argc; i += 2) given[argv[i]] = argv[i + 1];
    // [serve]
    train::trainer trainer(fashion{given["--data"], std::stoi(given["--train"])},
                           {.workers = std::max(1, manta::size() - 1), .batch = 64, .seed = 1});
    for (int epoch = 0; epoch < std::stoi(given["--epochs"]); ++epoch) std::cout << trainer.train() << std::endl;

    auto model = serve::deploy<serve::batched<&classifier::predict>>(
        {.name = "fashion", .replicas = 2, .max_batch = 32}, trainer.model());
    auto pictures = serve::deploy<&gallery::at>({.name = "pictures"}, given["--data"]);
    serve::http http({.port = what == "check" ? 0 : std::stoi(what), .files = given["--page"]});
    http.route("/predict", model);
    http.route("/picture", pictures);
    if (what != "check") return http.run(), 0;
    // [end]
    return check(http, model, gallery(given["--data"]));
  });
}
