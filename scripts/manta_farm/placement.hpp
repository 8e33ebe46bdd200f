// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Which rank starts a line, and on which cores of its node the line runs. The cores and the memory of a node belong to
// all of its ranks: a line of eight cores runs where eight ranks of one core are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "line.hpp"

namespace farm {

/// What a rank says about itself at the start.
struct rank_place {
  int rank = 0;
  int node = 0;
  int cpus = 0;  ///< its share of the node's cores
  double gpus = 0;
  double memory = 0;       ///< bytes, its share
  std::vector<int> cores;  ///< on which it may run
  std::string host;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(rank, node, cpus, gpus, memory, cores, host);
  }
};

/// Where a line runs, and what it holds there.
struct place {
  int rank = 0;
  std::vector<int> cores;  ///< cores that it holds; -1: one that the system chooses
  bool is_pinned = false;  ///< the line has to be told its cores
};

class placement {
 public:
  /// `jobs`: number of lines of one core that each node runs at the same time; 0: as many as it has cores.
  placement(const std::vector<rank_place>& ranks, int jobs);

  /// Why no node can ever run the line; empty: one can.
  std::string why_never(const line_options& wanted) const;
  /// Takes what the line wants from the first node that has it.
  std::optional<place> take(const line_options& wanted);
  /// Gives it back.
  void give_back(const place& from, const line_options& wanted);
  /// Starts no more lines on this rank, which has died.
  void lose(int rank);
  /// Number of cores that no line holds.
  int free_cores() const { return free_cores_; }
  /// Number of cores in all.
  int all_cores() const { return all_cores_; }
  /// Number of nodes.
  int nodes() const { return static_cast<int>(nodes_.size()); }
  /// The host of a rank.
  const std::string& host(int rank) const { return rank_of(rank).about.host; }

 private:
  struct one_rank {
    rank_place about;
    double free_gpus = 0;
    int lines = 0;  // that run now
    bool is_lost = false;
  };
  struct one_node {
    int number = 0;
    int cores = 0;
    double memory = 0, free_memory = 0;
    std::vector<int> free;  // cores
    std::vector<int> ranks;
    bool binds_ranks = false;  // its ranks may not use all of its cores
  };
  void add_cores(one_node& node, int jobs);
  one_rank* best_rank(const one_node& node, double gpus);
  const one_rank& rank_of(int rank) const { return ranks_.at(static_cast<std::size_t>(rank)); }

  std::vector<one_rank> ranks_;  // by number
  std::vector<one_node> nodes_;
  int free_cores_ = 0, all_cores_ = 0;
};

}  // namespace farm
