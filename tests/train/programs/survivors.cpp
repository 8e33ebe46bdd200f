// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Workers kill themselves in the middle of an epoch: the others go on from what they hold in memory. Each sample is
// taken once, the parameters are the same bits as those of a training whose number of workers was changed at that step,
// and the survivors have made no step twice but those that a death interrupted.
//
//   manta-run -n RANKS -- train_survivors CASE...     at WORKERS:SAMPLE[,SAMPLE][:local|:bfloat16|:beside|:norm|:ahead]
//
// CASE says where the workers die that take these samples in the second epoch: "forward", "backward" (a part of the
// gradients has been sent) or "optimizer" (all sums are there, maybe not for the others). "read:WORKERS": a worker dies
// before anything was trained. "reader:WORKERS": a rank dies that reads ahead for workers. "always:WORKERS:SAMPLE": each worker dies that takes this sample.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "manta/manta.hpp"
#include "manta/train.hpp"

namespace nn = manta::nn;
namespace train = manta::train;

namespace {

constexpr int samples = 200, batch = 20;
int failures = 0;
int steps_here = 0;      // forward passes of this process
int reads_here = 0;      // of the data
bool is_victim = false;  // has met its sample

template <class T>
void check(const std::string& name, bool holds, const std::string& what, T value) {
  if (holds) return;
  ++failures;
  std::printf("%s: not so: %s; it is %s\n", name.c_str(), what.c_str(), std::to_string(value).c_str());
}

std::vector<int> living() {
  std::vector<int> all;
  for (const manta::rank_resources& r : manta::capacity()) {
    if (r.node >= 0) all.push_back(r.rank);
  }
  return all;
}

void die_here(const std::string& place, const std::string& here) {
  if (is_victim && place == here) kill(getpid(), SIGKILL);
}

/// Of a sample: sums of them tell which samples were taken.
double mark(int sample) { return nn::random(7).uniform(static_cast<std::uint64_t>(sample)); }

std::string place_of_death;  // of this process, for the classes below

struct mortal_network : nn::network<double> {
  using nn::network<double>::network;
  using nn::network<double>::backward;
  void backward(const nn::matrix<double>& dy, const nn::gradients_ready& ready) {
    nn::network<double>::backward(dy, [&](std::size_t begin, std::size_t end) {
      ready(begin, end);
      die_here(place_of_death, "backward");
    });
  }
};
struct mortal_adam : nn::adam {
  mortal_adam() : nn::adam({.rate = 1e-2}) {}
  template <class... Args>
  void step(Args&&... args) {
    die_here(place_of_death, "optimizer");
    nn::adam::step(std::forward<Args>(args)...);
  }
};

struct line {
  std::string place = {};       ///< of death; empty: nobody dies
  std::vector<int> fatal = {};  ///< sample by sample
  int living = 0;               ///< ranks, before the first death
  bool normalises = false;      ///< has running means, which are part of the state

  mortal_network model() const {
    place_of_death = place;
    if (normalises) return mortal_network(nn::shape{4}, nn::linear(8), nn::batch_norm(), nn::tanh(), nn::linear(2));
    return mortal_network(nn::shape{4}, nn::linear(8), nn::tanh(), nn::linear(2));
  }
  mortal_adam optimizer() const { return {}; }
  nn::loss loss() const { return nn::mse(); }
  train::samples training_data() const {
    ++reads_here;
    if (place == "read" && living > 0 && static_cast<int>(::living().size()) == living &&
        manta::rank() == ::living()[1])
      kill(getpid(), SIGKILL);
    const nn::random numbers(1);
    Eigen::MatrixXd x(4, samples), y(2, samples);
    for (int i = 0; i < samples; ++i) {
      for (int k = 0; k < 4; ++k) x(k, i) = numbers.normal(static_cast<std::uint64_t>(4 * i + k));
      y(0, i) = std::sin(x(0, i)) + x(1, i);
      y(1, i) = mark(i);
    }
    return train::samples(std::move(x), std::move(y));
  }
  std::map<std::string, double> metrics(const nn::matrix<double>&, const nn::targets<double>& t) const {
    ++steps_here;
    const std::size_t deaths = static_cast<std::size_t>(living) - ::living().size();
    if (!place.empty() && deaths < fatal.size()) {
      for (Eigen::Index i = 0; i < t.values().cols(); ++i) is_victim |= t.values()(1, i) == mark(fatal[deaths]);
    }
    die_here(place == "always" ? "forward" : place, "forward");
    return {{"mark", t.values().row(1).mean()}, {"square", t.values().row(1).array().square().mean()}};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(place), CEREAL_NVP(fatal), CEREAL_NVP(living), CEREAL_NVP(normalises));
  }
};

/// The same data, which tasks read ahead. Whoever reads remembers it.
bool has_read_here = false;
struct line_source {
  [[nodiscard]] std::size_t size() const { return samples; }
  void take(std::span<const std::uint64_t> which, train::batch<double>& to) const {
    static const train::samples all = line().training_data();
    has_read_here = true;
    all.take(which, to);
  }
  template <class Archive>
  void serialize(Archive&) {}
};
struct line_ahead : line {
  train::read_ahead<line_source> training_data() const { return line_source(); }
};

std::pair<int, int> take_counts_here() { return {std::exchange(steps_here, 0), std::exchange(reads_here, 0)}; }

/// The most of each that one of the living processes has made since the last call.
std::pair<int, int> most_steps_and_reads() {
  std::pair<int, int> most;
  for (const int rank : living()) {
    if (!manta::capacity()[static_cast<std::size_t>(rank)].runs_tasks && rank > 0) continue;  // a spare
    const auto [steps, reads] = manta::async<take_counts_here>({.rank = rank}).get();
    most = {std::max(most.first, steps), std::max(most.second, reads)};
  }
  return most;
}

struct plan {
  std::string name, place;
  int workers = 1;
  std::vector<int> fatal;
  bool is_local = false, is_rounded = false;
  bool is_beside = false;  ///< another trainer has the other ranks
  bool normalises = false, reads_ahead = false;

  explicit plan(const std::string& text) : name(text) {
    std::istringstream in(text);
    std::string numbers, extra;
    std::getline(in, place, ':');
    in >> workers;
    in.ignore(1);
    std::getline(in, numbers, ':');
    std::getline(in, extra);
    std::istringstream list(numbers);
    for (std::string each; std::getline(list, each, ',');) fatal.push_back(std::stoi(each));
    is_local = extra == "local";
    is_rounded = extra == "bfloat16";
    is_beside = extra == "beside";
    normalises = extra == "norm";
    reads_ahead = extra == "ahead";
  }
  [[nodiscard]] train::options options(int n) const {
    return {.workers = n,
            .batch = batch,
            .seed = 1,
            .shuffle = false,
            .bucket_bytes = 64,
            .exchange = is_rounded ? train::bfloat16 : train::wire::as_is,
            .average_every = is_local ? 3 : 0};
  }
  /// The steps of the epoch from which the survivors go on after a death at this sample.
  [[nodiscard]] std::uint64_t kept_steps(int sample) const {
    const int step = sample / batch;
    return static_cast<std::uint64_t>(is_local ? step / 3 * 3 : step);
  }
};

/// The second epoch, with fewer workers from each death on, without any death.
train::state undisturbed(const plan& p, train::state s, int executors, train::summary& whole) {
  std::vector<std::uint64_t> cuts;
  for (const int sample : p.fatal) cuts.push_back(p.kept_steps(sample));
  cuts.push_back(samples / batch);
  std::uint64_t done = 0;
  double loss = 0;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    train::trainer trainer(line{.normalises = p.normalises},
                           p.options(std::clamp(executors - static_cast<int>(i), 1, p.workers)));
    trainer.restore(s);
    if (cuts[i] > done) {
      const train::summary part = trainer.train(cuts[i] - done);
      loss += part.loss * static_cast<double>(part.samples);
    }
    s = trainer.state();
    done = cuts[i];
  }
  whole.loss = loss / samples;
  return s;
}

double largest_difference(const train::state& a, const train::state& b) {
  auto x = train::model_in<mortal_network>(a), y = train::model_in<mortal_network>(b);
  double most = 0;
  const auto compare = [&](std::span<const double> p, std::span<const double> q) {
    for (std::size_t i = 0; i < p.size(); ++i) most = std::max(most, std::abs(p[i] - q[i]));
  };
  compare(x.parameters(), y.parameters());
  compare(x.buffers(), y.buffers());
  return most;
}

template <class Recipe>
void run_case(const plan& p) {
  const int ranks = static_cast<int>(living().size()), deaths = static_cast<int>(p.fatal.size());
  train::state first_epoch;
  {
    train::trainer trainer(line{.normalises = p.normalises}, p.options(p.workers));
    trainer.train();
    first_epoch = trainer.state();
  }
  train::summary expected;
  const train::state expected_state = undisturbed(p, first_epoch, ranks - 1, expected);

  std::unique_ptr<train::trainer<line>> idle;  // holds ranks that are needed after the death
  if (p.is_beside) {
    idle = std::make_unique<train::trainer<line>>(line{}, p.options(ranks - 1 - p.workers));
    idle->train(1);
  }
  Recipe recipe;
  static_cast<line&>(recipe) = {p.place, p.fatal, ranks, p.normalises};
  train::trainer trainer(recipe, p.options(p.workers));
  trainer.restore(first_epoch);
  most_steps_and_reads();
  const train::summary got = trainer.train();
  const auto [most, reads] = most_steps_and_reads();
  const auto hold = [&](bool holds, const std::string& what, auto value) { check(p.name, holds, what, value); };
  hold(static_cast<int>(living().size()) == ranks - deaths, "the victims have died, the others live", living().size());
  hold(got.deaths == deaths, "deaths are counted", got.deaths);
  hold(got.seconds_lost > 0 && got.seconds_lost < got.seconds, "seconds lost are a part of all", got.seconds_lost);
  hold(got.samples == samples && got.epoch == 2 && got.step == 2 * samples / batch, "an epoch of all samples",
       got.samples);
  double marks = 0, squares = 0;
  for (int i = 0; i < samples; ++i) marks += mark(i), squares += mark(i) * mark(i);
  hold(std::abs(got["mark"] * samples - marks) < 1e-9, "each sample was taken once", got["mark"] * samples - marks);
  hold(std::abs(got["square"] * samples - squares) < 1e-9, "each sample was taken once, by the squares",
       got["square"] * samples - squares);
  hold(std::abs(got.loss - expected.loss) < (p.is_rounded ? 1e-4 : 1e-12), "the loss is that of an undisturbed run",
       got.loss - expected.loss);
  hold(most <= samples / batch + deaths * (p.is_local ? 3 : 1), "no more steps were made twice than were interrupted",
       most);
  if (p.workers == 1) hold(most < samples / batch, "a worker alone has left a state on its way", most);
  // A worker that dies in its first steps may do so before others have begun: those end with their data.
  if (p.workers > 1 && p.workers == ranks - 1 && p.place != "optimizer" && p.fatal[0] >= 3 * batch)
    hold(reads == 0, "survivors do not read the data again", reads);
  const double difference = largest_difference(trainer.state(), expected_state);
  // Where the optimiser's step was begun, the others may have made it or not: then sums of this step round otherwise.
  const double tolerance = p.is_rounded ? 1e-3 : p.place == "optimizer" ? 1e-12 : 0;
  hold(difference <= tolerance, "the parameters are those of an undisturbed run", difference);
  std::ostringstream text;
  text << got;
  hold(text.str().find(deaths == 1 ? "1 death of a worker cost" : "deaths of workers cost") != std::string::npos,
       "a printed summary tells of deaths: " + text.str(), deaths);
  trainer.train();
  if (idle) hold(idle->train(1).step == 2, "the trainer that gave its ranks goes on", idle->state().step);
  hold(trainer.state().epoch == 3, "the training goes on", trainer.state().epoch);
  std::printf("%s: %d deaths cost %.3f s of %.3f s\n", p.name.c_str(), got.deaths, got.seconds_lost, got.seconds);
}

/// The trainer begins anew with the workers that are left.
void run_death_while_opening(const plan& p) {
  const int ranks = static_cast<int>(living().size());
  train::trainer trainer(line{"read", {}, ranks}, p.options(p.workers));
  check(p.name, static_cast<int>(living().size()) == ranks - 1, "one has died", living().size());
  const train::summary got = trainer.train();
  train::trainer undisturbed(line{}, p.options(std::min(p.workers, ranks - 2)));
  undisturbed.train();
  check(p.name, got.samples == samples && got.step == samples / batch, "an epoch of all samples", got.samples);
  const double difference = largest_difference(trainer.state(), undisturbed.state());
  check(p.name, difference == 0, "the parameters are those of an undisturbed run", difference);
}

/// A recipe that ends its process costs four ranks, not all of them, and the steps before are kept.
void run_fatal_sample(const plan& p) {
  const int ranks = static_cast<int>(living().size());
  train::trainer trainer(line{"always", std::vector<int>(10, p.fatal[0]), ranks}, p.options(p.workers));
  std::string text;
  try {
    trainer.train();
  } catch (const manta::rank_lost& e) {
    text = e.what();
  }
  const std::uint64_t step = static_cast<std::uint64_t>(p.fatal[0] / batch);
  check(p.name,
        text.find("4 workers have died one after the other, and none got beyond step " + std::to_string(step)) !=
            text.npos,
        "a sentence of four deaths: " + text, text.size());
  check(p.name, static_cast<int>(living().size()) == ranks - 4, "four have died", living().size());
  check(p.name, trainer.state().step == step, "the steps before are kept", trainer.state().step);
}

void die() { kill(getpid(), SIGKILL); }

/// A rank dies of a trainer that is not at work, and whose ranks another one needs: both go on.
void run_death_of_idle(const plan& p) {
  const int executors = static_cast<int>(living().size()) - 1;
  train::trainer idle(line{}, p.options(executors));
  idle.train(1);
  const int victim = living()[1];
  bool is_lost = false;
  try {
    manta::async<die>({.rank = victim}).get();
  } catch (const manta::error&) {
    is_lost = true;
  }
  check(p.name, is_lost && static_cast<int>(living().size()) == executors, "one has died", living().size());
  train::trainer trainer(line{}, p.options(executors - 1));
  const train::summary got = trainer.train(), more = idle.train(1);
  check(p.name, got.step == samples / batch, "the one that needed ranks has trained", got.step);
  check(p.name, more.step == 2 && more.samples == batch, "the idle one goes on", more.step);
}

bool has_read() { return has_read_here; }

/// A rank dies that reads for workers, and is none itself.
void run_death_of_reader(const plan& p) {
  train::trainer memory(line{}, p.options(p.workers));
  memory.train();
  train::trainer trainer(line_ahead{}, p.options(p.workers));
  trainer.train(1);  // the workers are on the first ranks behind rank 0
  int victim = 0;
  for (const int rank : living()) {
    if (rank > p.workers && manta::async<has_read>({.rank = rank}).get()) victim = rank;
  }
  check(p.name, victim > 0, "a rank without a worker reads", victim);
  try {
    manta::async<die>({.rank = victim}).get();
  } catch (const manta::error&) {
  }
  const train::summary got = trainer.train();
  check(p.name, got.deaths == 0, "no worker has died", got.deaths);
  const double difference = largest_difference(trainer.state(), memory.state());
  check(p.name, difference == 0, "the parameters are those of an undisturbed run", difference);
}

void run_any(const plan& p) {
  if (p.place == "reader") return run_death_of_reader(p);
  if (p.place == "idle") return run_death_of_idle(p);
  if (p.place == "read") return run_death_while_opening(p);
  if (p.place == "always") return run_fatal_sample(p);
  p.reads_ahead ? run_case<line_ahead>(p) : run_case<line>(p);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> cases(argv + 1, argv + argc);
  return manta::run(argc, argv, [cases] {
    for (const std::string& each : cases) {
      if (!each.starts_with("--")) run_any(plan(each));
    }
    return failures;
  });
}
