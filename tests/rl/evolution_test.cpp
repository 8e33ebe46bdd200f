// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Evolution strategies: what they send, by MPI's calls for sending, counted on all ranks; and their random changes.
#include <doctest/doctest.h>
#include <mpi.h>

#include <atomic>
#include <cmath>
#include <cstdint>

#include "manta/output/bytes.hpp"
#include "manta/rl.hpp"
#include "support/world.hpp"

namespace rl = manta::rl;

namespace {

std::atomic<std::uint64_t> bytes_sent{0};

void count(int bytes, MPI_Datatype type) {
  int size = 0;
  MPI_Type_size(type, &size);
  bytes_sent += static_cast<std::uint64_t>(bytes) * static_cast<std::uint64_t>(size);
}

struct sent {
  double bytes = 0, episodes = 0;
};
/// All ranks together, in a world of its own.
template <class Algorithm>
sent in_iterations(const typename Algorithm::options& o, int iterations) {
  bytes_sent = 0;
  sent all;
  manta::testing::in_world([&] {
    Algorithm algorithm("CartPole-v1", o);
    for (int i = 0; i < iterations; ++i) all.episodes = static_cast<double>(algorithm.train().episodes);
  });
  const std::uint64_t mine = bytes_sent;
  std::uint64_t sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  all.bytes = static_cast<double>(sum);
  return all;
}
template <class Algorithm>
double bytes_per_episode(const typename Algorithm::options& o) {
  const sent few = in_iterations<Algorithm>(o, 5), many = in_iterations<Algorithm>(o, 45);
  return (many.bytes - few.bytes) / std::max(1., many.episodes - few.episodes);
}

}  // namespace

extern "C" int MPI_Isend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* r) {
  count(n, type);
  return PMPI_Isend(data, n, type, to, tag, comm, r);
}
extern "C" int MPI_Issend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* r) {
  count(n, type);
  return PMPI_Issend(data, n, type, to, tag, comm, r);
}

TEST_CASE("es and ars send less than 64 bytes for an episode, with a worker for each rank or for all but one") {
  const int ranks = manta::testing::world_size();
  for (const int workers : {std::max(1, ranks - 1), ranks}) {
    const int pairs =
        std::max(16, 4 * workers);  // the fewer pairs a worker has, the more its message takes of each episode
    const double es = bytes_per_episode<rl::es>({.workers = workers, .seed = 1, .pairs = pairs}),
                 ars = bytes_per_episode<rl::ars>(
                     {.workers = workers, .seed = 1, .pairs = pairs, .model = {.hidden = {16}}});
    if (manta::testing::world_rank() != 0) continue;
    MESSAGE(workers << " workers: es " << es << ", ars " << ars << " bytes for an episode");
    for (const double bytes : {es, ars}) CHECK((ranks == 1 ? bytes == 0 : bytes > 10 && bytes < 64));
  }
}

TEST_CASE("a large policy travels once to each rank in an iteration, and the sums of its changes by a tree") {
  const rl::es_options o{.workers = 2, .seed = 1, .pairs = 8, .model = {.hidden = {150, 150}}};
  const double parameters = 4 * 150 + 150 + 150 * 150 + 150 + 150 * 2 + 2;
  const sent few = in_iterations<rl::es>(o, 2), many = in_iterations<rl::es>(o, 4);
  if (manta::testing::world_rank() != 0) return;
  const double policies = (many.bytes - few.bytes) / 2 / (4 * parameters);
  MESSAGE("an iteration sends as many bytes as " << policies << " policies");
  // To each of the ranks but the driver's; and of the two blocks two sums to one rank, and theirs to the driver's.
  CHECK(policies <= manta::testing::world_size() - 1 + 3 + 0.1);
}

TEST_CASE("a worker without the policy before, or with another one than it should be, says so") {
  rl::detail::evolution_worker worker(
      {.environment = "CartPole-v1", .net = manta::nn::network<float>(manta::nn::shape{4}, manta::nn::linear(2))});
  const std::vector<float> parameters(10, 0.5f);
  const auto is_behind = [&](std::uint64_t iteration, std::uint64_t hash) {
    return !worker.try_after({{}, {}, iteration, hash}, 0, 0).is_there;
  };
  const std::uint64_t right = rl::detail::hash_of(parameters);
  CHECK(is_behind(4, right));
  worker.try_with({parameters, {}, {}, 4}, 0, 0);
  CHECK(!is_behind(4, right));
  CHECK(is_behind(6, right));
  CHECK(is_behind(4, right + 1));
}

TEST_CASE("random changes are normal and independent, of any length, and the same when they are drawn again") {
  std::vector<float> all(100'000), again(all.size()), other(all.size());
  rl::detail::draw_change(1, 2, 3, all);
  rl::detail::draw_change(1, 2, 3, again);
  rl::detail::draw_change(1, 2, 4, other);
  CHECK(all == again);
  double sums[5] = {};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double x = static_cast<double>(all[i]);
    sums[0] += x;
    sums[1] += x * x;
    sums[2] += x * x * x * x;
    sums[3] += x * static_cast<double>(other[i]);
    sums[4] += x * static_cast<double>(all[(i + all.size() / 2) % all.size()]);  // of the same bits
  }
  for (double& s : sums) s /= static_cast<double>(all.size());
  CHECK(std::abs(sums[0]) < 0.015);  // four standard errors
  CHECK(sums[1] == doctest::Approx(1).epsilon(0.02));
  CHECK(sums[2] == doctest::Approx(3).epsilon(0.05));
  CHECK(std::abs(sums[3]) < 0.015);
  CHECK(std::abs(sums[4]) < 0.02);
  for (const std::size_t n : {1U, 15U, 16U, 33U, 114U}) {
    std::vector<float> few(n);
    rl::detail::draw_change(5, 0, 0, few);
    for (const float x : few) CHECK((std::isfinite(x) && x != 0));
  }
}
