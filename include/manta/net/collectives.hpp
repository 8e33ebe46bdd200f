// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The few collective exchanges of bytes that a run needs when it starts.
#pragma once

#include <string>
#include <vector>

#include "manta/net/mpi.hpp"

namespace manta::net {

/// Collective: returns the texts of all ranks, by rank.
inline std::vector<std::string> all_gather(MPI_Comm comm, const std::string& mine) {
  int size = 0;
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  std::vector<int> lengths(static_cast<std::size_t>(size)), offsets(static_cast<std::size_t>(size));
  const int length = static_cast<int>(mine.size());
  check(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm), "MPI_Allgather");
  int total = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    offsets[i] = total;
    total += lengths[i];
  }
  std::string all(static_cast<std::size_t>(total), '\0');
  check(MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR, comm),
        "MPI_Allgatherv");
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    parts.push_back(all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i])));
  }
  return parts;
}

/// Collective: returns rank 0's text on every rank.
inline std::string broadcast(MPI_Comm comm, std::string text) {
  int length = static_cast<int>(text.size());
  check(MPI_Bcast(&length, 1, MPI_INT, 0, comm), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(length));
  check(MPI_Bcast(text.data(), length, MPI_CHAR, 0, comm), "MPI_Bcast");
  return text;
}

}  // namespace manta::net
