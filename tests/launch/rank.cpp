// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// An MPI program that behaves as the word on its command line says;
// launch_test.py starts it by manta-run and looks at what comes of it. Each
// rank prints its process id and where its shared memory is, so that the test
// can see that all are gone. Built twice: with MANTA_TEST_PLAIN it is a
// program that knows nothing of recovery.
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

volatile std::sig_atomic_t caught = 0;
void catch_signal(int number) { caught = number; }

/// Tells manta-run that the program survives the death of ranks.
void survive() {
#ifndef MANTA_TEST_PLAIN
  const char* fd = std::getenv("MANTA_RUN_FD");
  const char text[] = "survives\n";
  if (fd == nullptr || write(std::atoi(fd), text, sizeof text - 1) < 0) std::exit(90);
#endif
}

/// Rank 0 waits until the process is dead, which the launcher tells nobody: it asks the system, so both are on one
/// machine. The launcher hears of the death a moment later; a rank 0 that ended before would end the job first.
void wait_for_death_of(int pid) {
  while (kill(pid, 0) == 0) usleep(1000);
  sleep(1);
}

[[noreturn]] void hang() {
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "status";
  const int number = argc > 2 ? std::atoi(argv[2]) : 0;
  for (const int s : {SIGUSR1, SIGUSR2, SIGHUP}) std::signal(s, catch_signal);
  if (mode == "signal" || mode == "signal-once") {
    for (const int s : {SIGTERM, SIGINT}) std::signal(s, catch_signal);
  }
  if (mode == "deaf" || mode == "deaf-all") std::signal(SIGTERM, SIG_IGN);

  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int pid = getpid();
  int last = pid;  // process id of the last rank, everywhere
  MPI_Bcast(&last, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
  const char* folder = std::getenv("OMPI_MCA_btl_vader_backing_directory");
  std::printf("rank %d of %d is process %d, shared memory %s\n", rank, size, pid, folder == nullptr ? "?" : folder);
  std::fflush(stdout);
  if ((mode == "survives" || mode == "outlives") && rank == 0) survive();
  MPI_Barrier(MPI_COMM_WORLD);

  if (mode == "status") {  // rank 0 ends with this status, the others with 0
    MPI_Finalize();
    return rank == 0 ? number : 0;
  }
  if (mode == "other-status") {  // the last rank ends with this status, the others with 0
    MPI_Finalize();
    return rank == size - 1 ? number : 0;
  }
  if (mode == "leaves") {  // the last rank leaves, and the others wait for it
    if (rank == size - 1) _exit(number);
    hang();
  }
  if (mode == "dies" || mode == "survives" || mode == "outlives") {  // the last rank dies of this signal
    if (rank == size - 1) raise(number);
    if (mode == "dies" || (mode == "outlives" && rank != 0)) hang();
    if (rank == 0) {
      if (mode == "survives") wait_for_death_of(last);
      if (mode == "outlives") sleep(3);  // on several nodes: longer than any launcher takes to end the job
      std::printf("rank 0 goes on\n");
      std::fflush(stdout);
    }
    _exit(rank == 0 ? 3 : 0);
  }
  if (mode == "first-dies") {  // rank 0 dies of this signal, the others never end
    if (rank == 0) raise(number);
    hang();
  }
  if (mode == "first-leaves") {  // rank 0 ends, the others never do
    if (rank == 0) _exit(number);
    hang();
  }
  if (mode == "deaf") {  // and they do not hear SIGTERM either
    if (rank == 0) _exit(number);
    hang();
  }
  if (mode == "orphan") {    // each rank leaves a process that its parent does not wait for
    int said[2] = {-1, -1};  // the process is ended as soon as its rank has ended
    if (pipe(said) != 0) return 90;
    if (fork() == 0) {
      setsid();
      std::printf("rank %d of %d is process %d, shared memory ?\n", rank, size, static_cast<int>(getpid()));
      std::fflush(stdout);
      std::signal(SIGTERM, SIG_IGN);
      if (write(said[1], "!", 1) != 1) return 90;
      hang();
    }
    char byte = 0;
    if (read(said[0], &byte, 1) != 1) return 90;
    MPI_Finalize();
    return 0;
  }
  if (mode == "signal" || mode == "signal-once") {  // all ranks wait for a signal and say which it was
    std::printf("rank %d waits\n", rank);
    std::fflush(stdout);
    while (caught == 0) usleep(1000);
    std::printf("rank %d caught signal %d\n", rank, static_cast<int>(caught));
    std::fflush(stdout);
    while (mode == "signal-once") pause();  // and go on for ever
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return rank == 0 ? number : 0;
  }
  if (mode == "hang" || mode == "deaf-all") hang();
  if (mode == "outlives-node") {  // rank 0 goes on for long after the node of the other one has died
    if (rank != 0) hang();
    survive();
    sleep(4);
    std::printf("rank 0 goes on\n");
    std::fflush(stdout);
    _exit(3);
  }
  return 91;
}
