// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Data-parallel training by two workers: what a step, an exchange of gradients and a training cost, beside plain MPI and
// beside two copies that do not exchange. Each pair runs in turn on the same ranks.
//
//   mpirun -n 2 --bind-to core bench_train_manta [repetitions]
//
//   train_step            microseconds of a trainer's step of a model with one parameter
//   train_step_allreduce  microseconds of an MPI_Allreduce of two numbers on the same ranks
//   train_exchange        GB/s of 100 MB of gradients, in buckets
//   train_exchange_ratio  to one MPI_Allreduce, the median of pairs
//   train_bfloat16_ratio  the same with bfloat16 on the wire
//   train_scaling         samples a second of two workers to those of two independent copies
//   train_wait            of the exchange alone: what is left of it after backward
//   train_overlap         time of a step to that of backward and then the exchange
#include <manta/manta.hpp>
#include <manta/train.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

#include "../common/measure.hpp"

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

double median(std::vector<double> v) {
  std::ranges::nth_element(v, v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2));
  return v[v.size() / 2];
}

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
  double speed = 0, ratio = 0, bfloat16 = 0, scaling = 0, wait = 0, overlap = 0;
  bool is_right = true;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(speed, ratio, bfloat16, scaling, wait, overlap, is_right);
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
  std::vector<double> speeds, ratios, halves;
  for (int r = -1; r < repetitions; ++r) {
    fill();
    const double by_mpi = together(team, [&] {
      MPI_Allreduce(MPI_IN_PLACE, gradients.data(), static_cast<int>(size), MPI_FLOAT, MPI_SUM, team.comm());
    });
    check();
    const double seconds = by(plain), half = by(rounded);
    if (r < 0) continue;
    speeds.push_back(4e-9 * static_cast<double>(size) / seconds);
    ratios.push_back(by_mpi / seconds);
    halves.push_back(by_mpi / half);
  }
  f.speed = median(speeds), f.ratio = median(ratios), f.bfloat16 = median(halves);
}

void scaling(manta::team team, int repetitions, figures& f) {
  constexpr int batch = 64, passes = 10;
  nn::network<float> net(nn::shape{784}, nn::linear(512), nn::relu(), nn::linear(512), nn::relu(), nn::linear(10));
  nn::sgd optimizer({.rate = 1e-3});
  const nn::matrix<float> x = nn::matrix<float>::Random(784, batch);
  std::vector<int> labels(batch);
  for (int i = 0; i < batch; ++i) labels[static_cast<std::size_t>(i)] = i % 10;
  nn::matrix<float> dy;
  const nn::loss loss = nn::cross_entropy();
  train::exchange exchange(team);
  double waited = 0;
  enum class mode { alone, overlapped, after };
  const auto run = [&](mode m) {
    waited = 0;
    return together(team, [&] {
      for (int i = 0; i < passes; ++i) {
        loss(net.forward(x), labels, dy);
        net.zero_gradients();
        if (m == mode::alone) net.backward(dy);
        if (m == mode::after) net.backward(dy), exchange.begin(net.gradients());
        if (m == mode::overlapped) {
          exchange.begin(net.gradients());
          net.backward(dy, [&](std::size_t first, std::size_t last) { exchange.ready(first, last); });
        }
        const bench::stopwatch w;
        if (m != mode::alone) exchange.finish();
        waited += w.seconds();
        optimizer.step(net.parameters(), net.gradients());
      }
    });
  };
  std::vector<double> ratios, waits, overlaps;
  for (int r = -1; r < 3 * repetitions; ++r) {
    const double alone = run(mode::alone), after = run(mode::after);
    const double whole_exchange = waited;
    const double overlapped = run(mode::overlapped);
    if (r < 0) continue;
    ratios.push_back(alone / overlapped);
    waits.push_back(waited / whole_exchange);
    overlaps.push_back(overlapped / after);
  }
  f.scaling = median(ratios), f.wait = median(waits), f.overlap = median(overlaps);
}

figures measure(manta::team team, int repetitions) {
  figures f;
  exchange(team, repetitions, f);
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
      bench::report("train_step_allreduce", "mpi", by_mpi, "us");
    }
    const figures f = manta::async<measure>({.ranks = ranks}, repetitions).get();
    if (!f.is_right) return bench::failed("train", "a sum is wrong");
    bench::report("train_exchange", "manta", f.speed, "GB/s");
    bench::report("train_exchange_ratio", "manta", f.ratio, "x");
    bench::report("train_bfloat16_ratio", "manta", f.bfloat16, "x");
    bench::report("train_scaling", "manta", f.scaling, "x");
    bench::report("train_wait", "manta", f.wait, "x");
    bench::report("train_overlap", "manta", f.overlap, "x");
    return 0;
  });
}
