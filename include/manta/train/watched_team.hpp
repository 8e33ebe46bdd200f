// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A team whose members wait for each other inside MPI, but not for one that has died: they leave by an exception.
#pragma once

#include <string>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/team.hpp"
#include "manta/train/source.hpp"

namespace manta::train::detail {

inline void check_mpi(int code, const char* what) {
  if (code != MPI_SUCCESS) throw error(base::text("manta: train: {} failed with MPI's code {}", what, code));
}

class watched_team {
 public:
  explicit watched_team(const team& members) : team_(members) {
    if (size() > 1) is_abandoned_ = !team_.is_whole();
  }
  watched_team(const watched_team&) = delete;
  watched_team& operator=(const watched_team&) = delete;

  [[nodiscard]] int rank() const { return team_.rank(); }
  [[nodiscard]] int size() const { return team_.size(); }
  [[nodiscard]] MPI_Comm comm() const { return team_.comm(); }

  /// Waits for the end of a nonblocking call. Throws rank_lost, now and in each later call, if a member has died: then
  /// the calls that were begun never end, and MPI may still write to their memory, which must not be freed.
  void wait(MPI_Request& request, const char* what) {
    constexpr int tests = 32;  // between two looks at who lives
    int done = 0;
    for (int i = 1; check(), !done; ++i) {
      check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
      if (!done && i % tests == 0) is_abandoned_ = !team_.is_whole();
    }
  }
  void check() const {
    if (is_abandoned_)
      throw rank_lost("manta: train: a worker's rank has died while the others exchanged gradients with it");
  }
  [[nodiscard]] bool is_abandoned() const { return is_abandoned_; }

 private:
  team team_;
  bool is_abandoned_ = false;
};

}  // namespace manta::train::detail
