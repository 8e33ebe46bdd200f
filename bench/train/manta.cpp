// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Data-parallel training by two workers: what a step, an exchange of gradients and a training cost, beside plain MPI
// and beside two copies that do not exchange. Each pair runs in turn on the same ranks; ratios are those of the best
// times.
//
//   mpirun -n 2 --bind-to core bench_train_manta [repetitions]
//
//   train_step            microseconds of a trainer's step of a model with one parameter
//   train_step_allreduce  microseconds of an MPI_Allreduce of two numbers on the same ranks
//   train_exchange        GB/s of 100 MB of gradients, in buckets
//   train_exchange_ratio  its speed to that of one MPI_Allreduce
//   train_bfloat16_ratio  the same with bfloat16 on the wire
//   train_scaling_step    milliseconds of a step that exchanges nothing
//   train_scaling         samples a second of two workers to those of two independent copies
//   train_scaling_limit   the same of a loop by hand: backward, one MPI_Allreduce, step
//   train_wait            of the exchange alone: what is left of it after backward, if it overlaps with backward
//   train_overlap         time of a step that overlaps to that of backward and then the exchange
//   train_chosen          the same of a step that goes the way which was quicker before, as trainings do
//   train_wait_delayed, train_overlap_delayed, train_chosen_delayed
//                         likewise where each collective takes a millisecond longer (delay.hpp)
#include <manta/manta.hpp>
#include <manta/train.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "../common/measure.hpp"
#include "delay.hpp"

namespace nn = manta::nn;
namespace train = manta::train;

namespace {

/// y = a x.
class scale {
 public:
  using scalar = float;
  const nn::matrix<float>& forward(const nn::matrix<float>& x) { return x_ = x, y_ = a_[0] * x; }
  void backward(const nn::matrix<float>& dy) { da_[0] += dy.cwiseProduct(x_).sum(); }
  std::span<float> parameters() { return a_; }
  std::span<const float> parameters() const { return a_; }
  std::span<float> gradients() { return da_; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(a_);
  }

 private:
  std::vector<float> a_ = {1}, da_ = {0};
  nn::matrix<float> x_, y_;
};

constexpr int steps = 20'000;

struct tiny {
  scale model() const { return {}; }
  nn::sgd optimizer() const { return nn::sgd({.rate = 1e-3}); }
  nn::loss loss() const { return nn::mse(); }
  train::samples training_data() const {
    return train::samples(Eigen::MatrixXf(Eigen::MatrixXf::Random(1, 2 * steps)),
                          Eigen::MatrixXf(Eigen::MatrixXf::Random(1, 2 * steps)));
  }
  template <class Archive>
  void serialize(Archive&) {}
};

/// The least of what was given: of a time that neighbours on the machine can only make longer.
class best {
 public:
  void add(double seconds) { least_ = std::min(least_, seconds); }
  double operator/(const best& other) const { return least_ / other.least_; }
  [[nodiscard]] double seconds() const { return least_; }

 private:
  double least_ = 1e9;
};

double allreduce_us(manta::team team) {
  double both[2] = {1, 0};
  MPI_Barrier(team.comm());
  const bench::stopwatch w;
  for (int i = 0; i < steps; ++i) MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_MAX, team.comm());
  return bench::microseconds_each(steps, w.seconds());
}

/// Seconds until all members have done it.
template <class Work>
double together(const manta::team& team, Work&& work) {
  MPI_Barrier(team.comm());
  const bench::stopwatch w;
  work();
  MPI_Barrier(team.comm());
  return w.seconds();
}

struct figures {
  double speed = 0, ratio = 0, bfloat16 = 0, step_ms = 0, scaling = 0, limit = 0;
  double wait = 0, overlap = 0, chosen = 0, wait_delayed = 0, overlap_delayed = 0, chosen_delayed = 0;
  bool is_right = true;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(speed, ratio, bfloat16, step_ms, scaling, limit, wait, overlap, chosen, wait_delayed, overlap_delayed,
            chosen_delayed, is_right);
  }
};

void exchange(manta::team team, int repetitions, figures& f) {
  constexpr std::size_t size = 25'000'000;
  std::vector<float> gradients(size);
  train::exchange plain(team), rounded(team, std::size_t(1) << 20U, train::bfloat16);
  const auto fill = [&] { std::fill(gradients.begin(), gradients.end(), 1.F); };
  const auto check = [&] {
    f.is_right &= gradients.front() == static_cast<float>(team.size()) && gradients.back() == gradients.front();
  };
  const auto by = [&](train::exchange& e) {
    fill();
    const double seconds = together(team, [&] {
      e.begin(std::span(gradients));
      e.ready(0, size);
      e.finish();
    });
    check();
    return seconds;
  };
  best mpi, own, half;
  for (int r = -1; r < repetitions; ++r) {
    fill();
    const double by_mpi = together(team, [&] {
      MPI_Allreduce(MPI_IN_PLACE, gradients.data(), static_cast<int>(size), MPI_FLOAT, MPI_SUM, team.comm());
    });
    check();
    const double seconds = by(plain), rounded_seconds = by(rounded);
    if (r < 0) continue;
    mpi.add(by_mpi), own.add(seconds), half.add(rounded_seconds);
  }
  f.speed = 4e-9 * static_cast<double>(size) / own.seconds();
  f.ratio = mpi / own, f.bfloat16 = mpi / half;
}

void scaling(manta::team team, int repetitions, figures& f) {
  constexpr int batch = 256, passes = 10;  // a step of 5 ms and more
  nn::network<float> net(nn::shape{784}, nn::linear(512), nn::relu(), nn::linear(512), nn::relu(), nn::linear(10));
  nn::sgd optimizer({.rate = 1e-3});
  const nn::matrix<float> x = nn::matrix<float>::Random(784, batch);
  std::vector<int> labels(batch);
  for (int i = 0; i < batch; ++i) labels[static_cast<std::size_t>(i)] = i % 10;
  nn::matrix<float> dy;
  const nn::loss loss = nn::cross_entropy();
  const auto exchange = [&](train::overlap when) {
    return std::make_unique<train::exchange>(team, std::size_t(1) << 20U, train::wire::as_is, when);
  };
  const auto during = exchange(train::overlap::always), behind = exchange(train::overlap::never),
             measured = exchange(train::overlap::measured);
  double waited = 0;
  // By an exchange, or by hand, or with nobody.
  const auto run = [&](train::exchange* e, bool by_hand = false) {
    waited = 0;
    return together(team, [&] {
      for (int i = 0; i < passes; ++i) {
        loss(net.forward(x), labels, dy);
        net.zero_gradients();
        if (e) {
          e->begin(net.gradients());
          net.backward(dy, [&](std::size_t first, std::size_t last) { e->ready(first, last); });
        } else {
          net.backward(dy);
        }
        const bench::stopwatch w;
        if (e) e->finish();
        if (by_hand)
          MPI_Allreduce(MPI_IN_PLACE, net.gradients().data(), static_cast<int>(net.gradients().size()), MPI_FLOAT,
                        MPI_SUM, team.comm());
        waited += w.seconds();
        optimizer.step(net.parameters(), net.gradients());
      }
    });
  };
  for (int r = 0; r < 4; ++r) run(measured.get());  // it has chosen then
  best alone, after, whole, overlapped, wait, trained, by_hand;
  for (int r = 0; r < 4 * repetitions; ++r) {
    alone.add(run(nullptr));
    after.add(run(behind.get())), whole.add(waited);
    overlapped.add(run(during.get())), wait.add(waited);
    trained.add(run(measured.get()));
    by_hand.add(run(nullptr, true));
  }
  f.step_ms = 1e3 * alone.seconds() / passes;
  f.scaling = alone / trained, f.limit = alone / by_hand;
  f.wait = wait / whole, f.overlap = overlapped / after, f.chosen = trained / after;
}

figures measure(manta::team team, int repetitions) {
  figures f;
  exchange(team, repetitions, f);
  bench::delay::length = std::chrono::milliseconds(1);
  scaling(team, repetitions, f);
  f.wait_delayed = f.wait, f.overlap_delayed = f.overlap, f.chosen_delayed = f.chosen;
  bench::delay::length = {};
  scaling(team, repetitions, f);
  return f;
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  return manta::run(argc, argv, {.rank0_tasks = true}, [repetitions] {
    const int ranks = manta::size();
    for (int r = -1; r < repetitions; ++r) {  // -1 is the warm-up
      const double by_mpi = manta::async<allreduce_us>({.ranks = ranks}).get();
      train::trainer trainer(tiny{}, {.workers = ranks, .batch = 2});
      const train::summary s = trainer.train();
      if (s.step != steps) return bench::failed("train", "steps are missing");
      if (r < 0) continue;
      bench::report("train_step", "manta", 1e6 * s.seconds / steps, "us");
      bench::report("train_step_allreduce", "manta", by_mpi, "us");
    }
    const figures f = manta::async<measure>({.ranks = ranks}, repetitions).get();
    if (!f.is_right) return bench::failed("train", "a sum is wrong");
    bench::report("train_exchange", "manta", f.speed, "GB/s");
    bench::report("train_exchange_ratio", "manta", f.ratio, "x");
    bench::report("train_bfloat16_ratio", "manta", f.bfloat16, "x");
    bench::report("train_scaling_step", "manta", f.step_ms, "ms");
    bench::report("train_scaling", "manta", f.scaling, "x");
    bench::report("train_scaling_limit", "manta", f.limit, "x");
    bench::report("train_wait", "manta", f.wait, "x");
    bench::report("train_overlap", "manta", f.overlap, "x");
    bench::report("train_chosen", "manta", f.chosen, "x");
    bench::report("train_wait_delayed", "manta", f.wait_delayed, "x");
    bench::report("train_overlap_delayed", "manta", f.overlap_delayed, "x");
    bench::report("train_chosen_delayed", "manta", f.chosen_delayed, "x");
    return 0;
  });
}
