// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P17 by hand: rank 1 answers when it has computed, so the question waits for that.
// A rank that waits in MPI_Recv is the counterpart of the idle one.
//
//   mpirun -n 2 --bind-to core bench_answer_mpi [repetitions]
#include <mpi.h>

#include "../common/mpi_main.hpp"
#include "../common/process.hpp"
#include "problem.hpp"

int main(int argc, char** argv) {
  return bench::mpi_main(argc, argv, "answer", [](int rank, int repetition) {
    if (repetition < 0) return true;  // nothing to warm up
    std::vector<double> value(answer::numbers);
    const int count = static_cast<int>(answer::numbers);
    if (rank == 1) {
      answer::compute(answer::seconds);
      MPI_Recv(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(value.data(), count, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
      return true;
    }
    const double before = bench::process_seconds();
    const bench::stopwatch watch;
    MPI_Send(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(value.data(), count, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double seconds = watch.seconds();
    const double part = (bench::process_seconds() - before) / seconds;
    bench::report("answer_p90", "mpi", 1e6 * seconds, "us");
    bench::report("waiting_rank", "mpi", 100 * part, "%");
    return true;
  });
}
