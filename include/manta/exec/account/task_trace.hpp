// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The records of this rank's tasks, for a trace of the run (report/trace_records.hpp).
// They take 8 MiB at most, whatever the length of the run: when the room is used up,
// short records are merged, and the arrows of some tasks are left out. Tasks of less
// than a microsecond come as bursts where time_account does not measure each of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/base/vector.hpp"
#include "manta/exec/rank/ids.hpp"
#include "manta/exec/rank/invocation.hpp"
#include "manta/report/trace_records.hpp"

namespace manta::exec {

class task_trace {
 public:
  using record = report::trace_record;
  static constexpr std::size_t most_records = 180'000;  ///< 5.8 MB
  static constexpr std::size_t most_arrows = 64 << 10;  ///< 1 MiB
  static constexpr std::size_t most_samples = 8 << 10;  ///< 192 KiB
  static constexpr std::size_t most_name_bytes = 768 << 10;

  /// The trace is wanted. It takes its memory now.
  MANTA_DECL void enable();
  bool is_on() const { return is_on_; }
  /// Nothing more is noted until the next run begins.
  void close() { is_on_ = false; }
  /// A run begins: what is known of the one before is dropped.
  MANTA_DECL void begin_run();

  // --- time: in ticks, each stretch begins when the one before has ended, or later

  /// The task ran from `begin` to `end`.
  MANTA_DECL void note_run(const running_task& task, std::uint64_t begin, std::uint64_t end);
  MANTA_DECL void note_end(const running_task& task, std::uint64_t now);  ///< The task has ended.
  /// Tasks of one function ended from `begin` to `end`, and ran for `busy` of this time. One: its id is known.
  MANTA_DECL void note_tasks(function_id function, std::uint32_t count, std::uint64_t busy, std::uint64_t begin,
                             std::uint64_t end);
  /// The rank was in a state other than `task`.
  MANTA_DECL void note_state(std::uint32_t number, std::uint64_t begin, std::uint64_t end);

  // --- arrows

  /// A task of this home is submitted. Its inputs that are results of tasks of this home give arrows.
  MANTA_DECL void note_maker(const graph::node& n, std::uint64_t id, graph::node* const* inputs, std::uint32_t count);
  /// A task of another home, of this id, has been submitted with this node as an input.
  MANTA_DECL void note_use(const graph::node& n, std::uint64_t by);

  // --- quantities

  /// Is it time for samples?
  bool wants_samples(std::uint64_t now) const { return now >= next_sample_; }
  /// Notes a quantity if it has changed.
  MANTA_DECL void note_sample(report::trace_sample::quantity what, std::uint64_t value, std::uint64_t now);
  /// The samples of this moment are noted.
  void end_samples(std::uint64_t now) { next_sample_ = now + sample_pause_; }

  // --- what is known

  std::span<record> records() { return {records_.get(), count_}; }
  /// Merges until at most these numbers of records and arrows are left.
  MANTA_DECL void shorten(std::size_t records, std::size_t arrows);
  std::span<const report::trace_arrow> arrows() const { return arrows_; }
  std::span<const report::trace_sample> samples() const { return samples_; }
  /// The names of tasks: a record has the number of its own, from 1.
  const std::vector<std::string>& names() const { return names_; }
  /// Records that were shorter than this, in ticks, may be merged; 0: none was.
  std::uint64_t merged_below() const { return has_merged_ ? limit_ : 0; }
  /// One task of 2 to the power of this number has arrows.
  unsigned arrow_rounds() const { return arrow_rounds_; }

 private:
  /// The task whose result a node of this home is. The table is of a fixed size: an entry is lost to another node.
  struct maker {
    std::uint32_t index = graph::no_index;
    std::uint32_t function = graph::no_index;
    std::uint64_t id = 0;
  };
  static constexpr std::size_t most_makers = 32 << 10;  // 512 KiB
  static constexpr std::size_t bytes_of_a_name = 48;    // beside its letters

  record& add();                                    ///< A record at the end, which may have to be made room for.
  void make_room();                                 ///< Merges records, and drops names.
  void find_last();                                 ///< Finds the last records.
  void keep_used_names();                           ///< Drops the names that no record has any more.
  std::uint32_t name_of(const running_task& task);  ///< The number of its name; 0: none, or there is no room for it.
  /// The id of the task whose result the node is; 0: it is not known.
  std::uint64_t maker_of(const graph::node& n) const;
  /// Notes an arrow, if its task is one that has arrows.
  void add_arrow(const report::trace_arrow& arrow);

  bool is_on_ = false;
  std::unique_ptr<record[]> records_;  // null: no trace is wanted
  std::size_t count_ = 0;
  std::size_t last_task_ = 0;   // 1 + the place of the last record of a task; 0: there is none
  std::size_t last_state_ = 0;  // the same of a state
  std::uint64_t limit_ = 0;     // of merge_until
  std::uint64_t least_ = 0;     // stretches of the same state that are shorter are one
  bool has_merged_ = false;
  base::vector<report::trace_arrow> arrows_;
  unsigned arrow_rounds_ = 0;
  std::unique_ptr<maker[]> makers_;
  base::vector<report::trace_sample> samples_;
  std::uint64_t next_sample_ = 0, sample_pause_ = 0;
  std::uint64_t last_values_[3] = {};
  std::vector<std::string> names_;
  std::size_t name_bytes_ = 0;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/account/task_trace.ipp"
#endif
