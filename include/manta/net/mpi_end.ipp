// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/net/mpi_end.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "manta/base/error.hpp"
#include "manta/base/launcher.hpp"
#include "manta/net/mpi.hpp"

namespace manta::net {

MANTA_DECL void mpi_end::watch() {
  if (std::exchange(is_watched_, true)) return;
  before_ = std::set_terminate(&end_uncaught);
  int key = MPI_KEYVAL_INVALID;
  const auto on_delete = [](MPI_Comm, int, void*, void*) { return finalize_begins(); };
  check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, nullptr), "MPI_Comm_create_keyval");
  check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  MPI_Comm_free_keyval(&key);
  ++base::launcher::get().page().unfinished;
}

[[noreturn]] MANTA_DECL void mpi_end::end_uncaught() {
  // Rank 0 ends the job first, when the others know. What this rank alone has thrown waits less long for rank 0.
  constexpr unsigned patience_s = 30, own_patience_s = 1, warning_us = 200'000;
  int finalised = 0, rank = 0;
  MPI_Finalized(&finalised);
  std::string text;
  try {
    if (finalised == 0 && std::current_exception() != nullptr) std::rethrow_exception(std::current_exception());
  } catch (const driver_failed& e) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) {
      job_is_ending() = true;
      std::signal(SIGTERM, SIG_DFL);  // by which the launcher ends this process
      ::sleep(patience_s);
      std::fprintf(stderr, "manta: rank %d: nobody has caught the exception of the run: %s\n", rank, e.what());
      std::_Exit(1);
    }
  } catch (const error& e) {  // such as one of runtime's constructor, which all ranks throw
    text = e.what();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) {
      std::signal(SIGTERM, SIG_DFL);
      ::sleep(own_patience_s);
      std::fprintf(stderr, "%s (rank %d; nobody has caught this exception)\n", text.c_str(), rank);
      std::fflush(nullptr);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  } catch (const std::exception& e) {
    text = e.what();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  } catch (...) {
    // it has no text: what ended the program before says what it can
  }
  if (rank == 0 && !text.empty()) {
    std::fprintf(
        stderr,
        "%s%s\nmanta: nobody has caught this exception, so the program ends with status 1. runtime::run throws "
        "what the driver has thrown on rank 0, and manta::driver_failed on the other ranks: catch both\n",
        text.starts_with("manta: ") ? "" : "manta: ", text.c_str());
    std::fflush(nullptr);
    ::usleep(warning_us);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (before_ != nullptr) before_();
  std::abort();
}

namespace detail {

/// The numbers in one communicator of ranks of another one; MPI_UNDEFINED: it is not there.
inline std::vector<int> numbers_in(MPI_Comm to, MPI_Comm from, const std::vector<int>& ranks) {
  std::vector<int> there(ranks.size());
  MPI_Group groups[2];
  check(MPI_Comm_group(from, &groups[0]), "MPI_Comm_group");
  check(MPI_Comm_group(to, &groups[1]), "MPI_Comm_group");
  check(MPI_Group_translate_ranks(groups[0], static_cast<int>(ranks.size()), ranks.data(), groups[1], there.data()),
        "MPI_Group_translate_ranks");
  for (MPI_Group& each : groups) MPI_Group_free(&each);
  return there;
}

}  // namespace detail

MANTA_DECL int mpi_end::first_dead(MPI_Comm comm) {
  if (dead_.empty()) return -1;
  for (const int rank : detail::numbers_in(comm, MPI_COMM_WORLD, dead_)) {
    if (rank != MPI_UNDEFINED) return rank;
  }
  return -1;
}

MANTA_DECL void mpi_end::give_up(MPI_Comm comm, const std::vector<std::uint32_t>& dead) {
  const std::vector<int> in_world = detail::numbers_in(MPI_COMM_WORLD, comm, {dead.begin(), dead.end()});
  dead_.insert(dead_.end(), in_world.begin(), in_world.end());
  if (std::exchange(mpi_is_given_up(), true)) return;
  if (is_watched_) --base::launcher::get().page().unfinished;
}

MANTA_DECL int mpi_end::finalize_begins() {
  if (!mpi_is_given_up()) {
    --base::launcher::get().page().unfinished;
    return MPI_SUCCESS;
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    std::fprintf(stderr,
                 "manta: MPI_Finalize would wait for the rank that has died, so each rank ends here, with status %d\n",
                 status_);
  }
  std::exit(status_);
}

}  // namespace manta::net
