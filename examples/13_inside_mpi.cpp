// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// manta inside a running MPI program: the program initialises MPI and computes
// in its own way, enters a task phase, gets the result on every rank, goes on
// with its own MPI, enters again, and closes the runtime before MPI_Finalize.
// A third phase has tasks that read what each rank has computed itself.
// manta duplicates the communicator, so messages can never be mixed up.
// 13_inside_mpi.md walks through it.
//
//   scripts/run 13_inside_mpi -n 4        or        manta-run -n 4 ./13_inside_mpi
//
// Expected output:
//   phase 1: sum of squares below 100 is 328350 on every rank
//   phase 2: sum of squares below 200 is 2646700 on every rank
//   phase 3: the largest number of all parts is 999
#include <manta/manta.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

std::int64_t square(std::int64_t x) { return x * x; }

// [driver]
/// Runs on rank 0 as the driver of a task phase.
std::int64_t sum_of_squares(std::int64_t limit) {
  std::vector<manta::future<std::int64_t>> squares;
  for (std::int64_t i = 0; i < limit; ++i) squares.push_back(manta::async<square>(i));
  std::int64_t sum = 0;
  for (const std::int64_t s : manta::get(squares)) sum += s;
  return sum;
}
// [end]

// [own]
/// The program's own data: each rank has a part of a field, which no message of manta carries.
std::vector<double> part;

/// A task for the rank that has the part.
double largest_of_part() { return *std::max_element(part.begin(), part.end()); }

/// The driver of a phase that looks at all parts.
double largest_of_all() {
  std::vector<manta::future<double>> all;
  for (int r = 0; r < manta::size(); ++r) all.push_back(manta::async<largest_of_part>({.rank = r}));
  return std::ranges::max(manta::get(all));
}
// [end]

/// The program's own MPI: true on every rank if `mine` is true on every rank.
bool everywhere(bool mine) {
  int all = mine ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return all != 0;
}

int simulate(int argc, char** argv) {
  // [init]
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);  // the least that manta needs
  // [end]
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bool right = everywhere(provided >= MPI_THREAD_SERIALIZED);

  if (right) {
    // [phases]
    manta::runtime rt(MPI_COMM_WORLD);                                       // collective
    const std::int64_t first = rt.run([] { return sum_of_squares(100); });   // collective; the driver runs on rank 0
    right = everywhere(first == 328350);                                     // the program's own MPI in between
    const std::int64_t second = rt.run([] { return sum_of_squares(200); });  // the result is on every rank
    // [end]
    if (rank == 0)
      std::printf("phase 1: sum of squares below 100 is %lld on every rank\n", static_cast<long long>(first));
    right = everywhere(second == 2646700) && right;
    if (rank == 0)
      std::printf("phase 2: sum of squares below 200 is %lld on every rank\n", static_cast<long long>(second));

    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = rank; i < 1000; i += size) part.push_back(i);
    const double largest = rt.run([] { return largest_of_all(); });
    right = everywhere(largest == 999) && right;
    if (rank == 0) std::printf("phase 3: the largest number of all parts is %g\n", largest);
  }  // collective: the runtime ends before MPI does

  MPI_Finalize();
  return right ? 0 : 1;
}

// [main]
int main(int argc, char** argv) try { return simulate(argc, argv); } catch (const manta::driver_failed&) {
  return 1;  // rank 0 says why
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
// [end]
