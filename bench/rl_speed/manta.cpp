// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Training end to end, on three ranks and two cores: rank 0 drives. What is compared is measured in turn, in rounds.
//
//   rl_ppo              thousand steps of CartPole a second, two workers, learner included
//   rl_es               million steps of CartPole a second, two workers
//   rl_es_bare_ratio    one worker beside a loop written by hand, both on one rank, in processor time
//   rl_es_copies_ratio  two workers beside two independent trainings side by side
//   rl_rollout_copies_ratio   likewise the acting of PPO's workers
//   rl_a3c_copies_ratio       likewise A3C
//   rl_a3c_mpi_ratio          bare MPI, with as much to compute and to send as A3C, beside the computing alone
#include <mpi.h>
#include <unistd.h>
#include <manta/rl.hpp>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <vector>

#include "../common/measure.hpp"

namespace rl = manta::rl;

namespace {

constexpr int es_iterations = 20, ppo_iterations = 6, a3c_iterations = 60;
rl::es_options es_with(int workers) { return {.workers = workers, .seed = 1, .pairs = 32}; }
/// As many environments for each worker, here and in a3c_with.
rl::ppo_options ppo_with(int workers, std::uint64_t seed = 1) {
  return {.workers = workers, .seed = seed, .environments = 64 * workers, .fragment = 512, .epochs = 1, .batch = 1024};
}

rl::a3c_options a3c_with(int workers) { return {.workers = workers, .seed = 1, .environments = 16 * workers}; }

struct speeds {
  double all = 0, acting = 0;  // steps a second
  double by_processor = 0;     // steps of a second of this process's processor time
};

double processor_seconds(std::clock_t since) { return static_cast<double>(std::clock() - since) / CLOCKS_PER_SEC; }

template <class Algorithm>
speeds of(const typename Algorithm::options& o, int iterations) {
  Algorithm algorithm("CartPole-v1", o);
  algorithm.train();
  const bench::stopwatch w;
  const std::clock_t begin = std::clock();
  double acting = 0;
  std::uint64_t before = 0, after = 0;
  for (int i = 0; i < iterations; ++i) {
    const rl::report r = algorithm.train();
    if (i == 0) before = r.steps;
    after = r.steps;
    acting += r.sample_seconds;
  }
  // The first iteration's steps are those of an iteration in the mean.
  const double steps = static_cast<double>(after - before) * iterations / (iterations - 1);
  return {steps / w.seconds(), steps / acting, steps / processor_seconds(begin)};
}

/// Evolution strategies on CartPole by hand: a network of 16 units, changes drawn as rl::es draws them.
double by_hand(int iterations, int pairs) {
  using matrix = Eigen::MatrixXf;
  using vector = Eigen::VectorXf;
  std::vector<float> theta(4 * 16 + 16 + 16 * 2 + 2), moved(theta.size()), gradient(theta.size()), change(theta.size());
  std::uint64_t steps = 0;
  vector x(4), h(16), y(2);
  const auto episode = [&](std::uint64_t seed, std::uint64_t pair) {
    const Eigen::Map<const matrix> first(moved.data(), 16, 4), second(moved.data() + 80, 2, 16);
    const Eigen::Map<const vector> first_bias(moved.data() + 64, 16), second_bias(moved.data() + 112, 2);
    rl::cart_pole pole;
    rl::random numbers(seed, pair, 0);
    auto o = pole.reset(numbers);
    for (int step = 1;; ++step) {
      ++steps;
      for (Eigen::Index i = 0; i < 4; ++i) x[i] = o[static_cast<std::size_t>(i)];
      h.noalias() = first * x;
      h = (h + first_bias).array().tanh();
      y.noalias() = second * h;
      y += second_bias;
      const auto s = pole.step(y[1] > y[0] ? 1 : 0);
      o = s.observation;
      if (s.terminated || step == 500) return static_cast<double>(step);
    }
  };
  const std::clock_t begin = std::clock();
  for (int i = 0; i < iterations; ++i) {
    std::vector<double> returns;
    const auto each = [&](int pair, float factor) {
      rl::detail::draw_change(1, static_cast<std::uint64_t>(i), pair, change);
      for (std::size_t k = 0; k < theta.size(); ++k) moved[k] = theta[k] + factor * change[k];
      returns.push_back(episode(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(pair)));
    };
    for (int pair = 0; pair < pairs; ++pair) {
      each(pair, 0.1F);
      each(pair, -0.1F);
    }
    const std::vector<float> ranks = rl::centred_ranks(returns);
    std::fill(gradient.begin(), gradient.end(), 0.F);
    for (int pair = 0; pair < pairs; ++pair) {
      rl::detail::draw_change(1, static_cast<std::uint64_t>(i), pair, change);
      const float weight = ranks[2 * static_cast<std::size_t>(pair)] - ranks[2 * static_cast<std::size_t>(pair) + 1];
      for (std::size_t k = 0; k < theta.size(); ++k) gradient[k] += weight * change[k];
    }
    for (std::size_t k = 0; k < theta.size(); ++k) theta[k] += 0.05F * gradient[k] / static_cast<float>(pairs);
  }
  return static_cast<double>(steps) / processor_seconds(begin);
}

/// Each rank but 0 calls f in a world of its own, all at once; the sum of the results on rank 0, which sleeps
/// meanwhile.
template <class F>
double side_by_side(F&& f) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double mine = 0, sum = 0;
  {
    manta::runtime alone(MPI_COMM_SELF);
    if (rank != 0) mine = alone.run(f);
  }
  MPI_Request request;
  MPI_Ireduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) usleep(1000);
  }
  return sum;
}

/// Computes for a number of turns.
void compute(long turns) {
  [[maybe_unused]] static volatile double kept;
  double x = 1;
  for (long i = 0; i < turns; ++i) x = x * 1.0000001 + 1e-9;
  kept = x;
}

/// The traffic of A3C by hand: each rank but 0 computes for that time, sends as many numbers as A3C's gradients have,
/// and waits for new weights, which rank 0 makes of them. The rounds a second of all, beside those that only compute;
/// on rank 0.
double by_mpi(double seconds) {
  constexpr int numbers = 9155, rounds = 600;  // actor and critic of CartPole, with 64 and 64 units each
  MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  constexpr long sample = 1'000'000;
  double fastest = 1;
  for (int i = 0; i < 5; ++i) {
    const bench::stopwatch w;
    compute(sample);
    fastest = std::min(fastest, w.seconds());
  }
  const long turns = std::lround(static_cast<double>(sample) * seconds / fastest);
  const double alone = side_by_side([=] {
    const bench::stopwatch w;
    for (int i = 0; i < rounds; ++i) compute(turns);
    return rounds / w.seconds();
  });
  std::vector<float> gradient(numbers, 1e-3F), weights(numbers), squares(numbers, 1.F);
  const bench::stopwatch w;
  for (int i = 0; rank != 0 && i < rounds; ++i) {
    compute(turns);
    MPI_Send(gradient.data(), numbers, MPI_FLOAT, 0, 0, MPI_COMM_WORLD);
    MPI_Recv(weights.data(), numbers, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (int i = 0; rank == 0 && i < rounds * (size - 1); ++i) {
    MPI_Status from;
    MPI_Recv(gradient.data(), numbers, MPI_FLOAT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &from);
    for (std::size_t k = 0; k < numbers; ++k) {
      squares[k] = 0.99F * squares[k] + 0.01F * gradient[k] * gradient[k];
      weights[k] -= 1e-3F * gradient[k] / std::sqrt(squares[k] + 1e-5F);
    }
    MPI_Send(weights.data(), numbers, MPI_FLOAT, from.MPI_SOURCE, 0, MPI_COMM_WORLD);
  }
  return rounds * (size - 1) / w.seconds() / alone;
}

double median(std::vector<double> v) {
  std::ranges::nth_element(v, v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2));
  return v[v.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0, rank = 0, size = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int repetitions = bench::repetitions(argc, argv), workers = std::max(1, size - 1);
  std::vector<double> ppo, es, bare, copies, rollout, a3c, mpi;
  for (int i = 0; i < repetitions; ++i) {
    speeds es_now, ppo_now, a3c_now;
    {
      manta::runtime together(MPI_COMM_WORLD);
      together.run([&] {
        es_now = of<rl::es>(es_with(workers), es_iterations);
        ppo_now = of<rl::ppo>(ppo_with(workers), ppo_iterations);
        a3c_now = of<rl::a3c>(a3c_with(workers), a3c_iterations);
        ppo.push_back(1e-3 * of<rl::ppo>({.workers = workers, .seed = 1}, ppo_iterations).all);
      });
    }
    const double es_by_processor = side_by_side([] { return of<rl::es>(es_with(1), es_iterations).by_processor; });
    const double es_alone = side_by_side([] { return of<rl::es>(es_with(1), es_iterations).all; });
    const double by_hands = side_by_side([] { return by_hand(es_iterations, 32); });
    const double acting_alone = side_by_side([] { return of<rl::ppo>(ppo_with(1), ppo_iterations).acting; });
    const double a3c_alone = side_by_side([] { return of<rl::a3c>(a3c_with(1), a3c_iterations).all; });
    es.push_back(1e-6 * es_now.all);
    bare.push_back(es_by_processor / by_hands);
    copies.push_back(es_now.all / es_alone);
    rollout.push_back(ppo_now.acting / acting_alone);
    a3c.push_back(a3c_now.all / a3c_alone);
    const rl::a3c_options one = a3c_with(1);
    mpi.push_back(by_mpi(rank == 0 ? one.environments * one.fragment * workers / a3c_alone : 0));
  }
  if (rank == 0) {
    bench::report("rl_ppo", "manta", median(ppo), "k/s");
    bench::report("rl_es", "manta", median(es), "M/s");
    bench::report("rl_es_bare_ratio", "manta", median(bare), "x");
    bench::report("rl_es_copies_ratio", "manta", median(copies), "x");
    bench::report("rl_rollout_copies_ratio", "manta", median(rollout), "x");
    bench::report("rl_a3c_copies_ratio", "manta", median(a3c), "x");
    bench::report("rl_a3c_mpi_ratio", "manta", median(mpi), "x");
  }
  MPI_Finalize();
}
