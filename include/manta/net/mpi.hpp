// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The one place that checks MPI's return codes. manta's communicators have MPI_ERRORS_RETURN, so a failing call returns
// a code; check() turns it into a manta::mpi_error with MPI's own text and the line of the call.
#pragma once

// MPI's old C++ bindings (`MPI::Comm`) are of no use here, take time to compile and cause warnings with -Wextra.
// A program that needs them includes <mpi.h> before any header of manta.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX
#endif
#include <mpi.h>  // not found? Compile with mpicxx, or with $(pkg-config --cflags --libs manta)
#include <atomic>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <string>
#include <string_view>

#include "../base/environment.hpp"
#include "../base/error.hpp"
#include "../base/text.hpp"

extern "C" void opal_progress_event_users_increment() __attribute__((weak));  // Open MPI's own; null with others

namespace manta::net {

/// The cold half of check(): builds the message and throws.
[[noreturn]] inline void throw_mpi_error(int code, const char* call, const char* file, int line) {
  char text[MPI_MAX_ERROR_STRING] = "unknown error";
  int length = 0;
  MPI_Error_string(code, text, &length);
  char host[MPI_MAX_PROCESSOR_NAME] = "?";
  MPI_Get_processor_name(host, &length);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  throw mpi_error(
      base::text(
          "{} failed on world rank {} ({}): {}, at {}:{}. Look for the first rank that died or for messages of MPI "
          "itself above this one.",
          call, rank, host, text, file, line),
      code);
}

/// Throws manta::mpi_error unless `code` is MPI_SUCCESS; `call` names the MPI function.
/// (The builtins, not std::source_location: clang 14 has no such class with libstdc++.)
inline void check(int code, const char* call, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (code != MPI_SUCCESS) [[unlikely]]
    throw_mpi_error(code, call, file, line);
}

/// Whether the code only says that a rank has died. An MPI with fault tolerance (Open MPI 5: mpirun --with-ft ulfm)
/// returns such codes from calls that concern that rank. The lifelines say which rank it is, with every MPI.
inline bool tells_of_death([[maybe_unused]] int code) {
#if defined(OMPI_HAVE_MPI_EXT_FTMPI)
  return code == MPIX_ERR_PROC_FAILED || code == MPIX_ERR_PROC_FAILED_PENDING || code == MPIX_ERR_REVOKED;
#else
  return false;
#endif
}
/// Whether MPI runs with fault tolerance.
inline bool mpi_tolerates_deaths() {
#if defined(OMPI_HAVE_MPI_EXT_FTMPI)
  void* value = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, &value, &found), "MPI_Comm_get_attr");
  return found != 0 && *static_cast<const int*>(value) != 0;
#else
  return false;
#endif
}
/// Checks a code as check() does, but returns false if the code only says that a rank has died.
inline bool check_alive(int code, const char* call, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (code == MPI_SUCCESS) [[likely]]
    return true;
  if (!tells_of_death(code)) throw_mpi_error(code, call, file, line);
  return false;
}
/// Lets receives from any rank go on after the death of a rank that this rank knows about.
inline void go_on_without_dead([[maybe_unused]] MPI_Comm comm) {
#if defined(OMPI_HAVE_MPI_EXT_FTMPI)
  MPIX_Comm_failure_ack(comm);
#endif
}
/// Keeps Open MPI looking for messages by TCP in each call. It does so only while its count of TCP peers is positive,
/// else it looks every ten milliseconds. The death of one peer may lower the count by more than one, and messages from
/// all the others would then arrive late.
inline void keep_looking_for_tcp(bool has_other_nodes) {
  const char* const chosen = base::environment("OMPI_MCA_btl");
  const std::string_view names = chosen != nullptr ? chosen : "";
  const bool only_tcp =
      names.find("tcp") != names.npos && names.find("vader") == names.npos && names.find("sm") == names.npos;
  if (opal_progress_event_users_increment == nullptr || (!has_other_nodes && !only_tcp))
    return;  // without TCP the look would only cost time in each call
  for (int more = 64; more > 0; --more) opal_progress_event_users_increment();
}
/// Ends all waiting inside MPI for a dead member of the communicator: each call on it returns an error code
/// from now on.
inline void revoke([[maybe_unused]] MPI_Comm comm) {
#if defined(OMPI_HAVE_MPI_EXT_FTMPI)
  MPIX_Comm_revoke(comm);
#endif
}

inline bool is_revoked([[maybe_unused]] MPI_Comm comm) {
#if defined(OMPI_HAVE_MPI_EXT_FTMPI)
  int revoked = 0;
  return MPIX_Comm_is_revoked(comm, &revoked) == MPI_SUCCESS && revoked != 0;
#else
  return false;
#endif
}

/// Whether a rank has died (mpi_end::give_up).
inline bool& mpi_is_given_up() {
  static bool given_up = false;
  return given_up;
}

/// Whether rank 0 is about to end the job, and has said why.
inline std::atomic<bool>& job_is_ending() {
  static std::atomic<bool> is_ending{false};
  return is_ending;
}

/// Whether MPI calls are allowed at all; static objects may be destroyed after MPI_Finalize.
inline bool mpi_is_running() {
  if (mpi_is_given_up()) return false;
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

}  // namespace manta::net
