// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How the tasks of this home have ended, by function, and which functions gave
// values to which. A task is counted where it was submitted, when its node ends, so
// it counts once wherever and however often it ran. The counts of a dead home are
// lost with it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "manta/base/config.hpp"
#include "manta/base/containers.hpp"
#include "manta/base/vector.hpp"
#include "manta/exec/rank/ids.hpp"
#include "manta/store/failure.hpp"

namespace manta::exec {

class task_counts {
 public:
  /// The ends of the tasks of one function. Cancelled are those too that did not run because an input had failed.
  struct row {
    std::uint64_t done = 0, failed = 0, retried = 0, cancelled = 0;
  };
  /// A text of failures of one function, and how often it came.
  struct failure_text {
    std::string text;
    std::uint64_t count = 0;
  };
  /// Values of tasks of `from` that became inputs of tasks of `to`; no_index: not a task's value, or one
  /// of another home.
  struct edge {
    std::uint32_t from = graph::no_index, to = graph::no_index;
    std::uint64_t count = 0, bytes = 0;
  };

  /// A run of a program with this number of functions begins.
  MANTA_DECL void begin_run(std::size_t functions);

  /// A node has got its value. A function that is no_index makes no task.
  void note_done(function_id function) {
    if (function < rows_.size()) ++rows_[function].done;
  }
  /// A node has failed.
  MANTA_DECL void note_failure(function_id function, const store::failure& why);
  /// A task begins a further attempt.
  void note_retry(function_id function) {
    if (function < rows_.size()) ++rows_[function].retried;
  }
  /// A task whose end has been counted runs once more, because its value is lost.
  void take_back(function_id function) {
    if (function < rows_.size() && rows_[function].done > 0) --rows_[function].done;
    note_retry(function);
  }
  /// The value of a task comes from the journal: it is counted as done when its node ends.
  void note_from_journal() { ++from_journal_; }
  /// A value has become the input of a task.
  MANTA_DECL void note_edge(function_id from, function_id to, std::uint64_t bytes);

  /// A task of `by`, or the driver if that is no_index, has submitted a task of `function`, or called it.
  void note_child(function_id by, function_id function) {
    if (last_child_.from != by || last_child_.to != function) [[unlikely]]
      change_child(by, function);
    ++last_child_.count;
  }
  /// What note_child has noted, most frequent ones first. More than 256 kinds are not told apart: the rest stands as
  /// from no_index to no_index.
  MANTA_DECL base::vector<edge> children() const;

  /// A task of this function was submitted with arguments of many bytes.
  MANTA_DECL void note_arguments(function_id function, const void* data, std::size_t bytes);
  static constexpr std::size_t many_bytes = std::size_t{64} << 10;

  const base::array<row>& rows() const { return rows_; }
  const base::vector<edge>& edges() const { return edges_; }
  /// Arguments of many bytes that were submitted again, bytes that are the same: how often, how many bytes, and by
  /// tasks of which function most often.
  const edge& repeated() const { return repeated_; }
  std::uint64_t from_journal() const { return from_journal_; }
  /// The text of most failures of a function; empty if it has none.
  MANTA_DECL failure_text most_frequent(function_id function) const;
  /// The sums over all functions.
  MANTA_DECL row totals() const;

 private:
  static constexpr std::size_t most_edges = 256;    ///< further ones count as one from no_index to no_index
  static constexpr std::size_t most_texts = 4;      ///< different texts that are counted for a function
  static constexpr std::size_t longest_text = 200;  ///< bytes of a text that are kept
  struct texts {
    std::uint32_t function = graph::no_index;
    std::array<failure_text, most_texts> each = {};
  };

  MANTA_DECL void change_child(function_id by, function_id function);  ///< Puts last_child_ to the others.

  base::array<row> rows_;
  base::vector<edge> children_;  // but for the last one
  edge last_child_;
  base::vector<edge> edges_;
  std::size_t last_edge_ = 0;  // the one that was counted last is looked at first
  base::vector<texts> texts_;  // of functions with failures
  std::uint64_t from_journal_ = 0;
  struct arguments {
    std::uint64_t digest = 0;
    std::uint64_t count = 0;
  };
  std::array<arguments, 16> arguments_;  // that were submitted last, by digest
  edge repeated_;                        // its `from` is not used
  std::uint64_t most_repeated_ = 0;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/account/task_counts.ipp"
#endif
