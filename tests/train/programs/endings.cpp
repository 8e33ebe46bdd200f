// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What ends around the steps of a trainer: ranks die in a parameter server, in evaluations and predictions, in a search
// for a rate, in fit with callbacks and curves; and SIGTERM comes while fit calls what evaluates. Each gives what it gives
// when nobody is disturbed.
//
//   manta-run -n RANKS -- train_endings CASE...       ranks die
//   train_endings term CHECKPOINT first|again         SIGTERM; the status is 85 at first, and then 0
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "manta/manta.hpp"
#include "manta/train.hpp"

namespace nn = manta::nn;
namespace train = manta::train;

namespace {

int failures = 0;
void check(bool holds, const std::string& what) {
  if (holds) return;
  ++failures;
  std::printf("not so: %s\n", what.c_str());
}

std::vector<int> living() {
  std::vector<int> all;
  for (const manta::rank_resources& r : manta::capacity()) {
    if (r.node >= 0) all.push_back(r.rank);
  }
  return all;
}
int living_count() { return static_cast<int>(living().size()); }

/// The signal comes while so many ranks live: once.
void end_here(int ranks, int signal = SIGKILL) {
  if (living_count() == ranks) kill(getpid(), signal);
}

// ---- a parameter server -------------------------------------------------------------------------

constexpr int numbers = 8, steps = 100;

/// Its rank dies at step `at`, if that is not 0.
struct mortal_sgd : nn::sgd {
  int ranks = 0, at = 0, made = 0;

  mortal_sgd() : nn::sgd({.rate = 0.1}) {}
  template <class T>
  void step(std::span<T> parameters, std::span<const T> gradients) {
    if (++made == at) end_here(ranks);
    nn::sgd::step(parameters, gradients);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    nn::sgd::serialize(archive);
    archive(ranks, at, made);
  }
};
using server_of_sgd = train::parameter_server<mortal_sgd, double>;

/// The distance from the minimum at the end. The rank of worker 1 dies in the middle if `ranks` live.
double descend(const server_of_sgd& server, int number, int ranks) {
  auto worker = server.join(number);
  std::vector<double> parameters(numbers), gradients(numbers);
  double distance = 0;
  for (int i = 0; i <= steps; ++i) {
    worker.pull(parameters);
    distance = 0;
    for (std::size_t k = 0; k < numbers; ++k) {
      gradients[k] = parameters[k] - static_cast<double>(k);
      distance = std::max(distance, std::abs(gradients[k]));
    }
    if (i == steps / 2 && number == 1) end_here(ranks);
    if (i < steps) worker.push(gradients);
  }
  return distance;
}

void death_in_server(bool of_shard, int staleness) {
  mortal_sgd optimizer;
  optimizer.ranks = living_count();
  optimizer.at = of_shard ? 20 : 0;
  const server_of_sgd server(std::vector<double>(numbers), optimizer,
                             {.shards = 2, .staleness = staleness, .save_every = 10});
  std::vector<manta::future<double>> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(manta::async<descend>(server, i, of_shard ? 0 : optimizer.ranks));
  for (const double distance : manta::get(workers)) check(distance < 1e-2, "each worker ends at the minimum");
  check(living_count() < optimizer.ranks, "a rank has died");
}

// ---- trainings ----------------------------------------------------------------------------------

constexpr int sample_count = 2000;

struct clouds {
  int ranks = 0;  ///< so many live when the rank dies that is the second one that lives
  int batch = 0;  ///< whose metrics it dies in; 0: none
  int signal = SIGKILL;

  nn::network<double> model() const {
    return nn::network<double>(nn::shape{4}, nn::linear(8), nn::tanh(), nn::linear(2));
  }
  nn::adam optimizer() const { return nn::adam({.rate = 1e-3}); }
  nn::loss loss() const { return nn::cross_entropy(); }
  train::samples training_data() const {
    const nn::random random(1);
    Eigen::MatrixXd x(4, sample_count);
    std::vector<int> y(sample_count);
    for (int i = 0; i < sample_count; ++i) {
      y[static_cast<std::size_t>(i)] = i % 2;
      for (int k = 0; k < 4; ++k) x(k, i) = random.normal(static_cast<std::uint64_t>(4 * i + k)) + i % 2;
    }
    return train::samples(std::move(x), std::move(y));
  }
  train::samples validation_data() const { return training_data(); }
  std::map<std::string, double> metrics(const nn::matrix<double>& y, const nn::targets<double>&) const {
    static std::map<int, int> batches;  // by `ranks`, which is another one in each case
    const std::vector<int> all = living();
    if (batch > 0 && manta::rank() == all[all.size() > 1 ? 1 : 0] && ++batches[ranks] == batch) end_here(ranks, signal);
    return {{"size", y.norm()}};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(ranks), CEREAL_NVP(batch), CEREAL_NVP(signal));
  }
};

/// Its rank dies, if that is the second one that lives.
struct mortal_network : nn::network<double> {
  using nn::network<double>::network;
  int ranks = 0;

  const nn::matrix<double>& forward(const nn::matrix<double>& x) {
    if (ranks > 0 && manta::rank() == living()[1]) end_here(ranks);
    return nn::network<double>::forward(x);
  }
  template <class Archive>
  void save(Archive& archive) const {
    nn::network<double>::save(archive);
    archive(ranks);
  }
  template <class Archive>
  void load(Archive& archive) {
    nn::network<double>::load(archive);
    archive(ranks);
  }
};

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return 1;
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}
std::vector<double> parameters_of(const train::trainer<clouds>& t) {
  const auto net = t.model();
  return {net.parameters().begin(), net.parameters().end()};
}

void death_in_evaluation() {
  const clouds recipe;
  const auto net = recipe.model();
  const train::samples all = recipe.training_data();
  const train::summary undisturbed = train::evaluate(recipe, net, all);
  const int ranks = living_count();
  const train::summary got = train::evaluate(clouds{ranks, 1}, net, all);
  check(got.loss == undisturbed.loss && got.metrics == undisturbed.metrics, "the evaluation is the same bits");
  check(living_count() == ranks - 1, "a rank has died in an evaluation");

  mortal_network mortal(nn::shape{4}, nn::linear(8), nn::tanh(), nn::linear(2));
  const nn::matrix<double> expected = train::predict(mortal, all);
  mortal.ranks = ranks - 1;
  check(train::predict(mortal, all) == expected, "the predictions are the same bits");
  check(living_count() == ranks - 2, "a rank has died in predictions");
}

void death_in_search() {
  const int ranks = living_count();
  train::trainer undisturbed(clouds{}, {.workers = ranks - 1, .batch = 20, .seed = 1});
  const train::rate_curve expected = undisturbed.find_rate();
  train::trainer trainer(clouds{ranks, 30}, {.workers = ranks - 1, .batch = 20, .seed = 1});
  const train::rate_curve got = trainer.find_rate();
  check(largest_difference(got.losses, expected.losses) < 1e-9, "the curve is that of an undisturbed search");
  check(got.suggested == expected.suggested, "the search suggests the same rate");
  trainer.train(), undisturbed.train();  // the latter's ranks were taken, and one of them has died since
  check(largest_difference(parameters_of(trainer), parameters_of(undisturbed)) < 1e-9, "the training is where it was");
  check(living_count() == ranks - 1, "a rank has died in a search");
  train::trainer later(clouds{}, {.workers = ranks - 1, .batch = 20, .seed = 1});
  later.train();
  check(largest_difference(parameters_of(later), parameters_of(undisturbed)) < 1e-9,
        "a trainer that begins after a death has fewer workers, and gives the same");
}

int lines_in(const std::string& path) {
  std::ifstream in(path);
  int lines = 0;
  for (std::string line; std::getline(in, line);) ++lines;
  return lines;
}

/// Which callbacks were called, by step or epoch.
struct calls {
  std::vector<std::uint64_t> all = {};
  std::vector<train::callback> callbacks() {
    return {{.on_epoch_begin = [this](std::uint64_t epoch) { all.push_back(10000 + epoch); },
             .on_batch = [this](const train::summary& s) { all.push_back(s.step); },
             .every = 3,
             .on_epoch = [this](const train::epoch_result& e) { all.push_back(20000 + e.training.epoch); }}};
  }
};

void death_in_fit(int average_every) {
  const int ranks = living_count();
  const train::options options{.workers = ranks - 1, .batch = 20, .seed = 1, .average_every = average_every};
  const std::string folder = "train-endings-" + std::to_string(getpid());
  calls expected, got;
  train::trainer undisturbed(clouds{}, options);
  undisturbed.fit({.epochs = 3, .progress = false, .callbacks = expected.callbacks()});
  train::trainer trainer(clouds{ranks, 150}, options);
  const train::history h = trainer.fit({.epochs = 3, .log = folder, .progress = false, .callbacks = got.callbacks()});
  check(got.all == expected.all, "the callbacks are called after the same steps");
  check(lines_in(folder + "/progress.csv") == 4 && lines_in(folder + "/result.jsonl") == 3, "a row for each epoch");
  check(h.epochs.size() == 3 && h.epochs[1].training.deaths == 1, "the death is in the epoch's row");
  if (average_every == 0)
    check(largest_difference(parameters_of(trainer), parameters_of(undisturbed)) < 1e-9, "the parameters are the same");
  std::filesystem::remove_all(folder);
}

// ---- SIGTERM ------------------------------------------------------------------------------------

/// SIGTERM comes in the second epoch. `evaluates`: tasks of a callback are the first that notice it.
std::vector<double> trained(int signal, const std::string& checkpoint, bool evaluates) {
  train::trainer trainer(clouds{signal == 0 ? 0 : living_count(), 150 + 100, signal}, {.batch = 20, .seed = 1});
  const std::string log = checkpoint.empty() ? "" : checkpoint + ".log";
  train::fit_options o{.epochs = 3, .checkpoint = checkpoint, .log = log, .progress = false};
  const train::samples some = clouds().training_data().range(0, 100);
  if (evaluates) o.callbacks = {{.on_batch = [&](const train::summary&) { (void)trainer.predict(some); }}};
  const train::history h = trainer.fit(o);
  check(h.epochs.size() == 3, "all epochs are in the history");
  if (!log.empty()) check(lines_in(log + "/progress.csv") == 4, "a row for each epoch, also of the start before");
  return parameters_of(trainer);
}

int interrupted(const std::string& checkpoint, bool is_first) {
  const std::vector<double> got = trained(is_first ? SIGTERM : 0, checkpoint, true);
  if (is_first) return 3;  // fit was to throw
  check(got == trained(0, "", false), "the parameters are those of an undisturbed training");
  std::filesystem::remove_all(checkpoint + ".log");
  return failures;
}

void run_case(const std::string& name) {
  if (name == "worker") death_in_server(false, 2);
  if (name == "free_worker") death_in_server(false, train::any_staleness);
  if (name == "shard") death_in_server(true, 2);
  if (name == "evaluation") death_in_evaluation();
  if (name == "search") death_in_search();
  if (name == "fit") death_in_fit(0);
  if (name == "local") death_in_fit(7);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  return manta::run(argc, argv, [words] {
    if (words.size() >= 3 && words[0] == "term") return interrupted(words[1], words[2] == "first");
    for (const std::string& each : words) run_case(each);
    return failures;
  });
}
