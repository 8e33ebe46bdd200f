// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Whole trainings in one call; augmentation; data in shards, and data that tasks read ahead. The oracle of fit is a
// loop of train and validate.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "manta/train.hpp"
#include "manta/train/told_lines.hpp"
#include "support/text.hpp"
#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::thrown;
namespace nn = manta::nn;
namespace train = manta::train;

namespace {

int workers() { return std::max(1, manta::size() - 1); }

/// Two crowds of points on a line of sixteen pixels, 4 x 4.
train::samples crowds(std::uint64_t seed, int count) {
  const nn::random r(seed);
  Eigen::MatrixXf x(16, count);
  std::vector<int> y(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    y[static_cast<std::size_t>(i)] = i % 2;
    for (int k = 0; k < 16; ++k)
      x(k, i) = static_cast<float>(r.normal(static_cast<std::uint64_t>(16 * i + k))) + (k % 2 == i % 2 ? .4F : 0);
  }
  return train::samples(std::move(x), std::move(y));
}

struct two_crowds {
  double rate = 1e-2;
  bool mirrors = false;
  std::vector<std::string> inputs = {}, targets = {};

  nn::network<float> model() const {
    return nn::network<float>(nn::shape{16}, nn::linear(8), nn::relu(), nn::linear(2));
  }
  nn::adam optimizer() const { return nn::adam({.rate = rate}); }
  nn::loss loss() const { return nn::cross_entropy(); }
  train::samples training_data() const { return crowds(1, 90); }
  train::samples validation_data() const { return crowds(2, 40); }
  void augment(std::span<float> sample, train::draws& random) const {
    if (!mirrors) return;
    train::random_crop(sample, {1, 4, 4}, 1, random);
    train::random_flip(sample, {1, 4, 4}, random);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rate), CEREAL_NVP(mirrors), CEREAL_NVP(inputs), CEREAL_NVP(targets));
  }
};

/// The rate becomes too large in the middle of the second epoch.
struct explodes : two_crowds {
  double learning_rate(double epoch) const { return epoch > 1.4 ? 1e38 : rate; }
};

struct from_files : two_crowds {
  train::shards training_data() const { return train::shards(inputs, targets); }
};

/// The crowds, read sample by sample. Each call of take leaves a line in a file: the task that calls.
struct noted_crowds {
  std::string log;
  int count = 90;

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(count); }
  void take(std::span<const std::uint64_t> which, train::batch<float>& to) const {
    crowds(count == 90 ? 1 : 2, count).take(which, to);
    if (std::filesystem::exists(log + ".torn") && std::ranges::count(which, 33U) > 0)
      throw std::runtime_error("the photo 33 is torn");
    std::ofstream(log, std::ios::app) << manta::this_task::name() + "\n";
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(log, count);
  }
};

struct from_tasks : two_crowds {
  std::string log;
  int tasks = 1;

  train::read_ahead<noted_crowds> training_data() const { return {{log}, {.window = 3, .tasks = tasks}}; }
  train::read_ahead<noted_crowds> validation_data() const { return noted_crowds{log, 40}; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(log, tasks);
  }
};

/// Lines of the file of tasks that read ahead, and of others.
std::pair<int, int> reads_in(const std::string& log) {
  std::pair<int, int> reads{0, 0};
  std::ifstream in(log);
  for (std::string line; std::getline(in, line);) ++(line.find("read_parts") != line.npos ? reads.first : reads.second);
  return reads;
}

/// Sequences of four words; the class of each position is the word before it, and 0 at the first.
struct echo {
  nn::network<float> model() const {
    return nn::network<float>(nn::shape{4}, nn::embedding(3, 8), nn::lstm(8), nn::linear(3));
  }
  nn::adam optimizer() const { return nn::adam({.rate = .03}); }
  nn::loss loss() const { return nn::cross_entropy(); }
  struct sequences {
    [[nodiscard]] std::size_t size() const { return 81; }
    void take(std::span<const std::uint64_t> which, train::batch<float>& to) const {
      to.x.resize(4, static_cast<Eigen::Index>(which.size()));
      to.labels.clear();
      for (std::size_t i = 0; i < which.size(); ++i) {
        std::uint64_t rest = which[i];
        int before = 0;
        for (int k = 0; k < 4; ++k, rest /= 3) {
          to.x(k, static_cast<Eigen::Index>(i)) = static_cast<float>(rest % 3);
          to.labels.push_back(before);
          before = static_cast<int>(rest % 3);
        }
      }
    }
  };
  sequences training_data() const { return {}; }
  template <class Archive>
  void serialize(Archive&) {}
};

template <class Trainer>
std::vector<float> parameters(const Trainer& t) {
  const auto net = t.model();
  return {net.parameters().begin(), net.parameters().end()};
}

/// An npy file of bytes that lie as NumPy writes them.
void write_npy(const std::string& path, const std::string& type, const std::string& extents, const void* data,
               std::size_t bytes) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + extents + "), }";
  header.resize((10 + header.size() + 64) / 64 * 64 - 11, ' ');
  header += '\n';
  std::ofstream out(path, std::ios::binary);
  out << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size() % 256)
      << static_cast<char>(header.size() / 256) << header;
  out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
}

}  // namespace

TEST_CASE("fit makes the epochs that a loop of train and validate makes") {
  in_world([] {
    const train::options o{.workers = workers(), .batch = 8, .seed = 4};
    train::trainer a(two_crowds{}, o), b(two_crowds{}, o);
    int calls = 0;
    const train::history h = a.fit({.epochs = 3, .progress = false, .on_epoch = [&](const auto&) { ++calls; }});
    REQUIRE(h.epochs.size() == 3);
    CHECK(calls == 3);
    CHECK(h.ended == "all epochs are made");
    for (const train::epoch_result& e : h.epochs) {
      const train::summary t = b.train(), v = b.validate();
      CHECK(e.training.loss == doctest::Approx(t.loss).epsilon(1e-12));
      CHECK(e.training.samples == 90);
      CHECK(e.validation.loss == v.loss);
    }
    CHECK(parameters(a) == parameters(b));
  });
}

TEST_CASE("fit stops early, has the best epoch, and goes on from its checkpoint as if it had never stopped") {
  in_world([] {
    const manta::testing::folder place;
    const std::string file = place.path + "/state";
    const train::options o{.workers = workers(), .batch = 8, .seed = 4};
    train::trainer whole(two_crowds{.rate = .1}, o);
    const train::history h =
        whole.fit({.epochs = 50, .patience = 4, .restore_best = true, .best = file + ".whole", .progress = false});
    REQUIRE(h.epochs.size() < 50);
    CHECK(h.ended == "loss was not better in 4 epochs");
    for (const auto& e : h.epochs) CHECK(e.validation.loss >= h.best().validation.loss);
    CHECK(h.best().training.epoch == h.epochs.size() - 4);
    CHECK(whole.validate().loss == h.best().validation.loss);

    // Interrupted after each epoch: each start makes one more.
    std::size_t starts = 0;
    for (train::history part; part.ended != h.ended; ++starts) {
      REQUIRE(starts < 50);
      train::trainer again(two_crowds{.rate = .1}, o);
      part = again.fit({.epochs = 50,
                        .patience = 4,
                        .restore_best = true,
                        .checkpoint = file,
                        .progress = false,
                        .on_epoch = [](const auto&) { return false; }});
      if (part.ended == "on_epoch said so") continue;
      CHECK(part.epochs.size() == h.epochs.size());
      CHECK(part.best().training.epoch == h.best().training.epoch);
      CHECK(parameters(again) == parameters(whole));
    }
    CHECK(starts == h.epochs.size());
    CHECK(train::load_model<nn::network<float>>(file + ".best").describe() == whole.model().describe());

    CHECK(contains(thrown<manta::error>([&] { whole.fit({.epochs = 0}); }), ".epochs is 0"));
    const std::uint64_t step = whole.state().step;
    CHECK(thrown<manta::error>([&] { whole.fit({.epochs = 99, .maximise = "f1", .progress = false}); }) ==
          "manta: train: fit: .maximise is \"f1\", which no epoch has; they have loss, accuracy");
    CHECK(whole.state().step == step);
    CHECK(whole.fit({.epochs = static_cast<int>(whole.state().epoch) + 1, .maximise = "accuracy", .progress = false})
              .epochs.size() == 1);
  });
}

TEST_CASE("fit refuses files that it could not write before the first step") {
  in_world([] {
    const manta::testing::folder place;
    std::ofstream(place.path + "/file") << "something";
    train::trainer trainer(two_crowds{}, {.workers = workers(), .batch = 8});
    const auto refusal = [&](const train::fit_options& o) {
      const std::string text = thrown<manta::error>([&] { trainer.fit(o); });
      CHECK(trainer.state().step == 0);
      return text;
    };
    const std::string below = place.path + "/file/state";
    CHECK(refusal({.checkpoint = below, .progress = false}) ==
          "manta: cannot make the folder " + place.path + "/file: it is a file");
    CHECK(refusal({.restore_best = true, .best = place.path, .progress = false}) ==
          "manta: cannot write " + place.path + ": it is a folder; give the name of a file");
    CHECK(contains(refusal({.checkpoint = "/proc/state", .progress = false}), "manta: cannot write /proc/state: "));
    CHECK(contains(refusal({.checkpoint = place.path + "/a", .best = place.path + "/a", .progress = false}),
                   ".checkpoint and .best are the same file"));
    CHECK(std::distance(std::filesystem::directory_iterator(place.path), {}) == 1);  // nothing is left of the attempts

    trainer.fit({.checkpoint = place.path + "/new/folder/state", .progress = false});
    CHECK(std::filesystem::exists(place.path + "/new/folder/state"));
  });
}

TEST_CASE("a loss that is no number ends fit, and the checkpoint of the epoch before is as it was") {
  in_world([] {
    const std::string file = "train-nan-" + std::to_string(manta::size());
    std::filesystem::remove(file);
    train::trainer trainer(explodes{}, {.workers = workers(), .batch = 10, .seed = 3});
    const std::string text = thrown<manta::error>(
        [&] { trainer.fit({.epochs = 3, .restore_best = true, .checkpoint = file, .progress = false}); });
    CHECK(text.find("of epoch 1 (before it was ") != std::string::npos);
    trainer.load(file);
    CHECK(trainer.state().epoch == 1);
    train::trainer one_epoch(two_crowds{}, {.workers = workers(), .batch = 10, .seed = 3});
    one_epoch.train();
    CHECK(parameters(trainer) == parameters(one_epoch));
    std::filesystem::remove(file);
    std::filesystem::remove(file + ".best");
  });
}

TEST_CASE("augmented samples follow from seed, step and number of the sample, not from the workers") {
  in_world([] {
    train::trainer one(two_crowds{.mirrors = true}, {.workers = 1, .batch = 8}),
        all(two_crowds{.mirrors = true}, {.workers = workers(), .batch = 8}), plain(two_crowds{}, {.batch = 8});
    const double a = one.train().loss, b = all.train().loss, c = plain.train().loss;
    CHECK(a == doctest::Approx(b).epsilon(1e-5));
    CHECK(std::abs(a - c) > 1e-4);
  });
}

TEST_CASE("crops move a picture within its padding, and flips mirror it") {
  std::set<std::vector<float>> seen;
  for (std::uint64_t step = 0; step < 200; ++step) {
    std::vector<float> picture{0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0};  // two channels of 3 x 3
    train::draws random(1, step, 5);
    train::random_crop(std::span(picture), {2, 3, 3}, 1, random);
    const auto seven = std::find(picture.begin(), picture.begin() + 9, 7.F);
    REQUIRE(seven != picture.begin() + 9);
    CHECK(*(seven + 9) == 8.F);  // both channels move alike
    seen.insert(picture);
  }
  CHECK(seen.size() == 9);
  std::vector<double> row{1, 2, 3};
  train::draws random(1, 1, 1);
  train::random_flip(std::span(row), {1, 1, 3}, random, 1.0);
  CHECK(row == std::vector<double>{3, 2, 1});
  CHECK(contains(thrown<manta::error>([&] {
                   train::random_flip(std::span(row), {1, 2, 2}, random);
                 }),
                 "is no picture of the shape 1 x 2 x 2"));
}

TEST_CASE("a training from shards in files is that from memory") {
  in_world([] {
    const manta::testing::folder place;
    std::vector<std::uint64_t> which(90);
    for (std::size_t i = 0; i < 90; ++i) which[i] = i;
    train::batch<float> b;
    crowds(1, 90).take(which, b);
    const std::vector<std::int64_t> classes(b.labels.begin(), b.labels.end());
    from_files recipe;
    std::size_t begin = 0;
    for (const std::size_t n : {50U, 1U, 39U}) {
      const std::string id = std::to_string(begin);
      recipe.inputs.push_back(place.path + "/x" + id + ".npy");
      recipe.targets.push_back(place.path + "/y" + id + ".npy");
      write_npy(recipe.inputs.back(), "<f4", std::to_string(n) + ", 16", b.x.data() + 16 * begin, 64 * n);
      write_npy(recipe.targets.back(), "<i8", std::to_string(n) + ",", classes.data() + begin, 8 * n);
      begin += n;
    }
    const train::options o{.workers = workers(), .batch = 8, .seed = 4};
    train::trainer files(recipe, o);
    train::trainer memory(two_crowds{}, o);
    CHECK(files.train().loss == memory.train().loss);
    CHECK(parameters(files) == parameters(memory));
    train::read_ahead<train::shards> ahead(train::shards(recipe.inputs, recipe.targets));
    ahead.plan({{89, 0, 50}});
    train::batch<float> three, expected;
    ahead.take(std::vector<std::uint64_t>{89, 0, 50}, three);
    crowds(1, 90).take(std::vector<std::uint64_t>{89, 0, 50}, expected);
    CHECK(three.x == expected.x);
    CHECK(three.labels == expected.labels);

    // Bytes as pictures of two channels, and floats as targets.
    const std::string x = place.path + "/bytes.npy", y = place.path + "/y.npy", pixels("\x00\x33\xff\x66", 4);
    const double wanted[] = {1.5, -2};
    write_npy(x, "|u1", "1, 2, 1, 2", pixels.data(), 4);
    write_npy(y, "<f8", "1, 2", wanted, 16);
    train::shards({x}, {y}, {.mean = {0, .5F}, .deviation = {2}}).take(std::span(which).first(1), b);
    CHECK(b.x(1, 0) == doctest::Approx(.1));
    CHECK(b.x(2, 0) == doctest::Approx(.25));
    CHECK_FALSE(b.has_labels);
    CHECK(b.y(1, 0) == -2);

    const auto said = [](const auto& inputs, const auto& targets) {
      return thrown<manta::error>([&] { train::shards(inputs, targets); });
    };
    using names = std::vector<std::string>;
    CHECK(contains(said(names{"none.npy"}, names{y}), "none.npy cannot be read: No such file"));
    CHECK(contains(said(names{x, x}, names{y}), "2 files of inputs and 1 of targets"));
    CHECK(contains(said(names{x}, names{recipe.targets[0]}), "expected 1 samples"));
    std::filesystem::resize_file(x, std::filesystem::file_size(x) - 1);
    CHECK(contains(said(names{x}, names{y}), "bytes.npy, byte 131: expected 128 + 4 x 1 bytes"));
    std::ofstream(x) << "something that is no array";
    CHECK(contains(said(names{x}, names{y}), "expected an npy file, found other bytes"));
  });
}

TEST_CASE("a training whose data tasks read ahead is that from memory, and reads each part of a batch once") {
  in_world([] {
    const manta::testing::folder place;
    const train::options o{.workers = workers(), .batch = 8, .seed = 4, .accumulate = 2};
    from_tasks recipe;
    recipe.log = place.path + "/log";
    recipe.tasks = 2;
    std::vector<double> losses;
    const auto two_epochs = [&](auto& trainer) {
      losses.clear();
      for (int epoch = 0; epoch < 2; ++epoch) {
        trainer.train(5);
        trainer.train();
        losses.push_back(trainer.validate().loss);
      }
      return parameters(trainer);
    };
    train::trainer memory(two_crowds{}, o);
    const std::vector<float> expected = two_epochs(memory);
    const std::vector<double> expected_losses = losses;
    train::trainer tasks(recipe, o);
    CHECK(two_epochs(tasks) == expected);
    CHECK(losses == expected_losses);
    // An epoch has 11 batches of 8 samples and one of 2; a share of at least two samples has two parts.
    if (const int n = workers(); n <= 4) {
      int validating = 0;
      for (int i = 0; i < n; ++i) validating += (40 * (i + 1) / n - 40 * i / n + 7) / 8;
      CHECK(reads_in(recipe.log).first == 2 * (11 * 2 * n + 2 + validating));
      CHECK(reads_in(recipe.log).second == 4 * n);  // each compares the first and the last sample of both data
    }

    // In the middle of an epoch, in another trainer.
    memory.train(4);
    tasks.restore(memory.state());
    memory.train();
    tasks.train();
    CHECK(parameters(tasks) == parameters(memory));
  });
}

TEST_CASE("what a task cannot read ends the training in one sentence, and the training goes on when it is mended") {
  in_world([] {
    const manta::testing::folder place;
    const train::options o{.workers = workers(), .batch = 8, .seed = 4};
    from_tasks recipe;
    recipe.log = place.path + "/log";
    train::trainer memory(two_crowds{}, o);
    train::trainer tasks(recipe, o);
    std::ofstream(recipe.log + ".torn") << "33";
    const std::string text = thrown<manta::error>([&] { tasks.train(); });
    CHECK(contains(text, "noted_crowds, float>' failed on rank "));
    CHECK(contains(text, "with std::runtime_error: the photo 33 is torn"));
    CHECK(tasks.state().step < 12);
    CHECK(contains(thrown<manta::error>([&] { tasks.train(); }), "the photo 33 is torn"));
    std::filesystem::remove(recipe.log + ".torn");
    tasks.train();
    memory.train();
    CHECK(parameters(tasks) == parameters(memory));
  });
}

TEST_CASE("tasks read no further ahead than the window, and what is not planned is read at once") {
  in_world([] {
    const manta::testing::folder place;
    const std::string log = place.path + "/log";
    for (const int tasks : {1, 2, 3}) {
      std::filesystem::remove(log);
      train::read_ahead<noted_crowds> data(noted_crowds{log}, {.window = 3, .tasks = tasks});
      train::reading_plan parts;
      for (std::uint64_t i = 0; i < 20; ++i) parts.push_back({2 * i, 2 * i + 1});
      data.plan(parts);
      train::batch<float> got, expected;
      for (int taken = 0; taken < 20;) {
        data.take(parts[static_cast<std::size_t>(taken)], got);
        crowds(1, 90).take(parts[static_cast<std::size_t>(taken)], expected);
        CHECK(got.x == expected.x);
        CHECK(got.labels == expected.labels);
        ++taken;
        CHECK(reads_in(log).first <= taken + 3);
        if (taken != 10) continue;
        // It does read ahead, up to the window, while the consumer waits for something else.
        const auto wait_a_little = [] { manta::testing::fetch(manta::async([] { return 0; })); };
        manta::testing::poll_until("a full window", [&] { return wait_a_little(), reads_in(log).first >= 13; });
        for (int i = 0; i < 100; ++i) wait_a_little();
        CHECK(reads_in(log).first == 13);
      }
      CHECK(reads_in(log) == std::pair(20, 0));
      data.take(parts[3], got);
      CHECK(reads_in(log).second == 1);
    }
    const auto refusal = [](const train::read_ahead_options& o) {
      return thrown<manta::error>([&] { train::read_ahead<noted_crowds>(noted_crowds{}, o); });
    };
    CHECK(contains(refusal({.tasks = 0}), ".tasks is 0; at least one"));
    CHECK(contains(refusal({.window = 1, .tasks = 2}), ".window is 1; 2 tasks need a window of at least 2"));
  });
}

TEST_CASE("a class for each position of a sequence counts as one target") {
  in_world([] {
    train::trainer one(echo{}, {.workers = 1, .batch = 9}), all(echo{}, {.workers = workers(), .batch = 9});
    train::summary a, b;
    for (int epoch = 0; epoch < 10; ++epoch) a = one.train(), b = all.train();
    CHECK(a.loss == doctest::Approx(b.loss).epsilon(1e-3));
    CHECK(a["accuracy"] > .9);
    CHECK(a["accuracy"] <= 1);
    CHECK(one.fit({.epochs = 11, .progress = false}).epochs.back().watched().samples == 81);
  });
}

namespace {

/// Pictures as numpy.save writes them; the validation has a class that the training has not where `differs`.
struct checked : two_crowds {
  std::string what = {};
  int count = 90;
  double momentum = -1;  ///< at least 0: sgd with this momentum instead of adam

  nn::network<float> model() const {
    if (what == "softmax") return nn::network<float>(nn::shape{16}, nn::linear(2), nn::sequential(nn::softmax()));
    if (what == "layout") return nn::network<float>(nn::shape{1, 8, 2}, nn::conv2d(2, 2), nn::linear(2));
    return two_crowds::model();
  }
  nn::optimizer optimizer() const {
    if (momentum >= 0) return nn::sgd({.rate = rate, .momentum = momentum});
    return nn::adam({.rate = rate});
  }
  train::samples training_data() const {
    const train::samples data = crowds(1, count);
    if (what == "layout") return data.with(nn::shape{2, 8, 1});
    if (what == "classes") return data.with(train::columns{.classes = {"cat", "dog"}});
    return data;
  }
  train::samples validation_data() const {
    const train::samples data = crowds(2, 40);
    if (what == "classes") return data.with(train::columns{.classes = {"dog"}});
    if (what == "hole") {
      Eigen::MatrixXf x = Eigen::MatrixXf::Zero(16, 40);
      x(3, 7) = std::numeric_limits<float>::quiet_NaN();
      return train::samples(x, std::vector<int>(40, 1));
    }
    return data;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rate), CEREAL_NVP(what), CEREAL_NVP(count), CEREAL_NVP(momentum));
  }
};
/// Pictures of 3 x 2 x 2 in files.
struct keras {
  std::vector<std::string> x, y;
  bool turns = false;
  nn::network<float> model() const { return nn::network<float>(nn::shape{3, 2, 2}, nn::conv2d(2, 2), nn::linear(2)); }
  nn::sgd optimizer() const { return nn::sgd(); }
  nn::loss loss() const { return nn::cross_entropy(); }
  train::shards training_data() const {
    return turns ? train::shards(x, y, {.layout = train::nhwc}) : train::shards(x, y);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(x), CEREAL_NVP(y), CEREAL_NVP(turns));
  }
};

template <class Set>
checked recipe_with(Set&& set) {
  checked r;
  set(r);
  return r;
}

std::set<std::string> files_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

}  // namespace

TEST_CASE("recipes that cannot be meant are refused when the trainer is made") {
  in_world([] {
    const auto made = [](const char* what) {
      return thrown<manta::error>(
          [&] { train::trainer(recipe_with([&](checked& r) { r.what = what; }), {.workers = workers(), .batch = 8}); });
    };
    CHECK(
        made("softmax") ==
        "manta: train: the network ends with softmax(), and the loss cross_entropy has it already, as its outputs are "
        "logits: take the layer away, and apply it to predictions where probabilities are wanted");
    CHECK(made("layout") ==
          "manta: train: the samples of the training data are 2 x 8 x 1, and the network takes 1 x 8 x 2; both have to "
          "have one order");
    CHECK(made("classes") ==
          "manta: train: the classes of the training data are cat, dog, and those of the validation data dog; give "
          "read_csv of the validation data .like = the columns() of the training data");
    CHECK(made("") == "");
    // Too few ranks, in the words of who asked for them.
    const std::string n = std::to_string(manta::size());
    CHECK(thrown<manta::unschedulable>([&] { train::trainer(two_crowds{}, {.workers = manta::size() + 1}); }) ==
          "manta: train: .workers is " + std::to_string(manta::size() + 1) + ", and " +
              (manta::size() == 1 ? "1 rank can be a worker" : n + " ranks can be workers") +
              "; start the program with mpirun -n " + std::to_string(manta::size() + 2) + ", or ask for fewer workers");
    CHECK(contains(thrown<manta::unschedulable>([&] { train::trainer(two_crowds{}, {.cpus = 1000}); }),
                   ".workers is 1, and 0 ranks can be workers with what .cpus, .gpus and .resources ask for"));
  });
}

TEST_CASE("Keras' order of pictures is named, and turned where the reader is told so") {
  in_world([] {
    const manta::testing::folder place;
    std::string pixels;
    for (int i = 0; i < 4 * 2 * 2 * 3; ++i) pixels += static_cast<char>(i);
    const std::int64_t classes[] = {0, 1, 0, 1};
    write_npy(place.path + "/x.npy", "|u1", "4, 2, 2, 3", pixels.data(), pixels.size());
    write_npy(place.path + "/y.npy", "<i8", "4,", classes, sizeof classes);
    const std::vector<std::string> x{place.path + "/x.npy"}, y{place.path + "/y.npy"};
    const train::shards turned(x, y, {.mean = {0, 1, 0}, .layout = train::nhwc});
    CHECK(turned.extents() == nn::shape{3, 2, 2});
    train::batch<float> b;
    const std::uint64_t second = 1;
    turned.take({&second, 1}, b);
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < 4; ++i)
        CHECK(b.x(4 * c + i, 0) == doctest::Approx(static_cast<double>(12 + 3 * i + c) / 255 - (c == 1 ? 1 : 0)));
    CHECK(
        thrown<manta::error>([&] {
          train::trainer(keras{x, y, false}, {.workers = workers(), .batch = 2});
        }) ==
        "manta: train: the samples of the training data are 2 x 2 x 3, and the network takes 3 x 2 x 2: channels come "
        "first. Give the reader .layout = train::nhwc, which turns pictures of height x width x channels");
    train::trainer right(keras{x, y, true}, {.workers = workers(), .batch = 2});
    CHECK(right.train().samples == 4);
  });
}

TEST_CASE("a checkpoint and a recipe that disagree say so, and what was said last holds unless the program chooses") {
  using train::settings;
  in_world([] {
    const manta::testing::folder place;
    const std::string file = place.path + "/state";
    const train::options o{.workers = workers(), .batch = 8, .seed = 4};
    const auto with_rate = [](double rate) { return recipe_with([&](checked& r) { r.rate = rate, r.momentum = .5; }); };
    train::trainer first(with_rate(.01), o);
    first.train(3);
    first.rate(.003);
    first.save(file);
    const auto rate_after = [&](double rate, settings hold) {
      train::trainer t(with_rate(rate), o);
      t.load(file, hold);
      CHECK(t.state().step == 3);
      return t.train(1).rate;
    };
    // An unchanged recipe goes on bit for bit, with what was set meanwhile.
    CHECK(rate_after(.01, settings::latest) == .003);
    CHECK(rate_after(.01, settings::checkpoint) == .003);
    CHECK(rate_after(.01, settings::recipe) == .01);
    CHECK(rate_after(.5, settings::latest) == .5);
    CHECK(rate_after(.5, settings::checkpoint) == .003);
    CHECK(rate_after(.5, settings::recipe) == .5);

    train::trainer adam(recipe_with([](checked&) {}), o);
    const std::vector<float> fresh = parameters(adam);
    for (const settings hold : {settings::latest, settings::checkpoint})
      CHECK(contains(thrown<manta::error>([&] { adam.load(file, hold); }),
                     "the checkpoint's optimiser is sgd, and the recipe's adam. Nothing was changed"));
    CHECK(parameters(adam) == fresh);
    CHECK(
        contains(thrown<manta::error>([&] { adam.fit({.checkpoint = file, .progress = false}); }),
                 ": the file is " + file + ", from which fit would go on. Give another .checkpoint, or .fresh = true"));
    adam.load(file, settings::recipe);  // the model alone
    CHECK(parameters(adam) == parameters(first));
    CHECK(adam.train(1).rate == .01);

    // Other data begin the epoch under way anew.
    train::trainer fewer(recipe_with([](checked& r) { r.momentum = .5, r.count = 80; }), o);
    fewer.load(file);
    CHECK(fewer.train().samples == 80);

    // The lines name both, and what holds.
    train::state s = first.state();
    const auto lines = [&](settings hold, std::uint64_t seed,
                           std::initializer_list<std::pair<int, const char*>> changes) {
      train::told_settings told = s.told;
      for (const auto& [at, text] : changes) told[static_cast<std::size_t>(at)].second = text;
      return train::detail::compare_told(s, told, seed, hold, "FILE").lines;
    };
    CHECK(lines(settings::latest, 4, {}).empty());
    CHECK(lines(settings::latest, 9, {}) ==
          std::vector<std::string>{"manta: train: FILE: the seed is 4 there and 9 in this program; 4 holds"});
    CHECK(lines(settings::latest, 4, {{0, "0.2"}}) ==
          std::vector<std::string>{
              "manta: train: FILE: the optimiser's rate is 0.01 there and 0.2 in this program; 0.2 holds"});
    CHECK(lines(settings::checkpoint, 4, {{0, "0.2"}}) ==
          std::vector<std::string>{
              "manta: train: FILE: the optimiser's rate is 0.01 there and 0.2 in this program; 0.01 holds"});
    CHECK(s.told[4] == std::pair<std::string, std::string>("loss", "cross_entropy()"));
    CHECK(lines(settings::latest, 4, {{4, "mse()"}, {8, "70"}}) ==
          std::vector<std::string>{
              "manta: train: FILE: the loss is cross_entropy() there and mse() in this program; mse() holds",
              "manta: train: FILE: the recipe's momentum is 0.5 there and 70 in this program; 70 holds"});
  });
}

TEST_CASE("fit does not take a finished training of other settings for its own, and begins anew where it is told to") {
  in_world([] {
    const manta::testing::folder place;
    const std::string file = place.path + "/state";
    const train::options o{.workers = workers(), .batch = 8, .seed = 4};
    train::trainer first(two_crowds{}, o);
    first.fit({.epochs = 2, .checkpoint = file, .progress = false});
    const auto made = [&](const two_crowds& recipe, const train::options& options, const train::fit_options& how) {
      int epochs = 0;
      train::fit_options all = how;
      all.checkpoint = file, all.progress = false;
      all.on_epoch = [&](const train::epoch_result&) { ++epochs; };
      train::trainer(recipe, options).fit(all);
      return epochs;
    };
    CHECK(made({}, o, {.epochs = 2}) == 0);  // the same training is finished
    const train::options other{.workers = workers(), .batch = 10, .seed = 5};
    CHECK(thrown<manta::error>([&] { made({.rate = .1}, other, {.epochs = 2}); }) ==
          "manta: train: fit: the training in " + file +
              " has ended (all epochs are made), with other settings than this one (optimiser's rate, batch, seed): "
              "nothing would be trained. Give another .checkpoint, .fresh = true to begin anew, or more .epochs");
    CHECK(made({.rate = .1}, o, {.epochs = 3}) == 1);
    CHECK(made({.rate = .2}, o, {.epochs = 2, .fresh = true}) == 2);
    CHECK(made({.rate = .2}, o, {.epochs = 2}) == 0);
  });
}

TEST_CASE("fit keeps the states after the last epochs, and the best one") {
  in_world([] {
    const manta::testing::folder place;
    const std::string file = place.path + "/state";
    const train::options o{.workers = workers(), .batch = 8, .seed = 4};
    train::trainer trainer(two_crowds{.rate = .1}, o);
    std::ofstream(file + ".other") << "not ours";
    const auto h = trainer.fit({.epochs = 12, .checkpoint = file, .keep = 3, .progress = false});
    CHECK(files_in(place.path) ==
          std::set<std::string>{"state", "state.10", "state.11", "state.12", "state.best", "state.other"});
    train::trainer again(two_crowds{.rate = .1}, o);
    again.load(file + ".10");
    CHECK(again.state().epoch == 10);
    again.train(), again.train();
    CHECK(parameters(again) == parameters(trainer));
    again.load(file + ".best");
    CHECK(again.state().epoch == h.best().training.epoch);
    CHECK(again.validate().loss == h.best().validation.loss);
    // A training that begins anew takes the states of the old one away.
    train::trainer fresh(two_crowds{.rate = .1}, o);
    fresh.fit({.epochs = 1, .checkpoint = file, .keep = 2, .fresh = true, .progress = false});
    CHECK(files_in(place.path) == std::set<std::string>{"state", "state.1", "state.best", "state.other"});
    CHECK(contains(thrown<manta::error>([&] { fresh.fit({.epochs = 2, .keep = 2}); }), ".checkpoint, which is empty"));
  });
}

TEST_CASE("an epoch whose validation is no number ends fit, and writes nothing") {
  in_world([] {
    const manta::testing::folder place;
    const std::string file = place.path + "/state";
    const train::options o{.workers = workers(), .batch = 8, .seed = 4};
    train::trainer good(checked{}, o);
    good.fit({.epochs = 2, .checkpoint = file, .keep = 2, .progress = false});
    const std::string before = manta::testing::text_of(file), best = manta::testing::text_of(file + ".best");
    train::trainer bad(recipe_with([](checked& r) { r.what = "hole"; }), o);
    const std::string text =
        thrown<manta::error>([&] { bad.fit({.epochs = 4, .checkpoint = file, .keep = 2, .progress = false}); });
    CHECK(contains(text, "the loss of the validation became NaN after epoch 3 (before it was "));
    CHECK(contains(text, "; nothing was written, and " + file + " is as it was"));
    CHECK(manta::testing::text_of(file) == before);
    CHECK(manta::testing::text_of(file + ".best") == best);
    CHECK(files_in(place.path) == std::set<std::string>{"state", "state.1", "state.2", "state.best"});
  });
}

TEST_CASE("fit writes curves of its epochs as CSV, JSON lines, events and a page, also those of an earlier start") {
  const manta::testing::folder f;
  const std::string log = f.path + "/log";
  in_world([&] {
    const auto fit = [&](int epochs) {
      train::trainer trainer(two_crowds{}, {.workers = workers(), .batch = 20});
      return trainer.fit({.epochs = epochs, .checkpoint = f.path + "/state", .log = log, .progress = false});
    };
    fit(2);
    const train::history h = fit(3);  // goes on from the checkpoint
    REQUIRE(h.epochs.size() == 3);
    const std::string csv = manta::testing::text_of(log + "/progress.csv");
    CHECK(
        csv.starts_with("epoch,loss,accuracy,validation_loss,validation_accuracy,rate,gradient_norm,seconds,"
                        "reading_seconds,passes_seconds,exchange_seconds,update_seconds,"));
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 4);
    const std::string lines = manta::testing::text_of(log + "/result.jsonl");
    CHECK(std::count(lines.begin(), lines.end(), '\n') == 3);
    CHECK(contains(lines, "\"epoch\":3"));
    int events = 0;
    for (const auto& each : std::filesystem::directory_iterator(log))
      events += each.path().filename().string().starts_with("events.out.tfevents.");
    CHECK(events == 1);
    const std::string page = manta::testing::text_of(log + "/report.html");
    for (const char* words : {"accuracy", "validation", "norm of the gradients", "samples per second",
                              "seconds of an epoch", "all epochs are made"})
      CHECK(contains(page, words));
  });
  in_world([] {
    train::trainer trainer(two_crowds{}, {.workers = workers(), .batch = 20});
    CHECK(contains(thrown<manta::error>([&] { trainer.fit({.log = "/proc/no/folder", .progress = false}); }),
                   "/proc/no"));
    CHECK(trainer.state().step == 0);  // before the first step
  });
}
