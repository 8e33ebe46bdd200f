// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A duplicated communicator that frees itself, and the topology of the machine: which ranks share a node, and whether
// they outnumber the cores that they may use (then an idle rank must yield at once instead of spinning).
#pragma once

#include <sched.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "manta/base/containers.hpp"
#include "mpi.hpp"

namespace manta::net {

/// Owns a duplicate of a communicator. Making and destroying one is collective.
class communicator {
 public:
  explicit communicator(MPI_Comm parent) {
    check(MPI_Comm_dup(parent, &comm_), "MPI_Comm_dup");
    adopt();
  }

  /// The ranks of `parent` that share this rank's node, ordered as in `parent`. Collective.
  static communicator of_node(MPI_Comm parent) {
    communicator result;
    check(MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &result.comm_), "MPI_Comm_split_type");
    result.adopt();
    return result;
  }

  communicator(communicator&& other) noexcept
      : comm_(std::exchange(other.comm_, MPI_COMM_NULL)), rank_(other.rank_), size_(other.size_) {}
  communicator& operator=(communicator&&) = delete;
  ~communicator() {
    if (comm_ != MPI_COMM_NULL && mpi_is_running()) MPI_Comm_free(&comm_);
  }

  MPI_Comm get() const noexcept { return comm_; }
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

 private:
  communicator() = default;

  void adopt() {
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

/// Which ranks share which node. Nodes are numbered from 0 by their lowest rank.
class topology {
 public:
  /// Collective over `comm`. `most_ranks_on_node` makes one machine behave like several nodes, to try out
  /// placement and transfers.
  topology(const communicator& comm, int most_ranks_on_node) : node_of_(static_cast<std::size_t>(comm.size())) {
    const communicator node = communicator::of_node(comm.get());
    ranks_on_node_ = busy_on_node_ = node.size();

    // The node's lowest rank identifies the node until nodes have numbers.
    members_ = base::array<int>(static_cast<std::size_t>(node.size()));
    const int mine_here = comm.rank();
    check(MPI_Allgather(&mine_here, 1, MPI_INT, members_.begin(), 1, MPI_INT, node.get()), "MPI_Allgather");
    const int leader = members_[static_cast<std::size_t>(node.rank() / most_ranks_on_node * most_ranks_on_node)];
    check(MPI_Allgather(&leader, 1, MPI_INT, node_of_.begin(), 1, MPI_INT, comm.get()), "MPI_Allgather");
    base::array<int> number(node_of_.size());
    for (std::size_t rank = 0; rank < node_of_.size(); ++rank) {
      const auto first = static_cast<std::size_t>(node_of_[rank]);
      if (first == rank) number[rank] = nodes_++;
      node_of_[rank] = number[first];
    }
    node_ = node_of_[static_cast<std::size_t>(comm.rank())];

    // Ranks bound to disjoint cores see only their own cores; the node has the union of them. The words hold 8192
    // processors. On a larger machine the call fails, and the node counts as not crowded.
    constexpr int words = 128;
    std::uint64_t mine[words] = {}, all[words] = {};
    const bool known = sched_getaffinity(0, sizeof mine, reinterpret_cast<cpu_set_t*>(mine)) == 0;
    if (!known) std::memset(mine, 0xff, sizeof mine);
    check(MPI_Allreduce(mine, all, words, MPI_UINT64_T, MPI_BOR, node.get()), "MPI_Allreduce");
    for (const std::uint64_t word : all) cores_ += std::popcount(word);
  }

  int node() const noexcept { return node_; }
  int node_of(int rank) const noexcept { return node_of_[static_cast<std::size_t>(rank)]; }
  int nodes() const noexcept { return nodes_; }
  int ranks_on_node() const noexcept { return ranks_on_node_; }
  /// Notes that the last `spares` ranks stand by and need no processor.
  void stand_by(int spares) noexcept {
    busy_on_node_ = 0;
    for (const int r : members_) busy_on_node_ += r + spares < static_cast<int>(node_of_.size());
    if (busy_on_node_ == 0) busy_on_node_ = ranks_on_node_;
  }
  /// Number of ranks on this node that do not stand by; all of the node's ranks if every one does.
  int busy_on_node() const noexcept { return busy_on_node_; }
  /// Logical processors that the ranks on this node may use between them.
  int cores() const noexcept { return cores_; }
  bool oversubscribed() const noexcept { return busy_on_node_ > cores_; }

 private:
  base::array<int> node_of_;
  base::array<int> members_;  // the ranks of this node
  int node_ = 0;
  int nodes_ = 0;
  int ranks_on_node_ = 1;
  int busy_on_node_ = 1;
  int cores_ = 0;
};

}  // namespace manta::net
