// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a run has done, as plain data: how many tasks of which function, how long they took, and what the ranks did with
// their time. The engine fills it, manta::statistics_now() (manta/statistics.hpp) gives it to the program, and the
// other files of report/ make texts, files and pages of it. Counts and totals are exact but for those that `sampled`
// marks, and none is made of a list with a limit.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "manta/base/config.hpp"

namespace manta {

/// What a rank does at a moment. The seconds of all states of a rank are the length of its run.
enum class rank_state : std::uint8_t {
  task,    ///< code of the program runs, MPI calls of a gang too
  own,     ///< manta's own work: it encodes, decodes, places, sends and receives
  fetch,   ///< a task is here, and inputs of it are not
  gang,    ///< it is kept for a gang, or is in one and waits for other members
  actor,   ///< it has actors, and waits for calls of them
  idle,    ///< it has nothing to do
  driver,  ///< rank 0: the driver's own code
  dead     ///< the rank has died
};
/// The number of states.
inline constexpr std::size_t rank_states = 8;
/// Seconds by state.
using state_seconds = std::array<double, rank_states>;
/// The name of a state, as it stands in files: "task", "own", ...
MANTA_DECL const char* name_of(rank_state state);

/// How many durations fell into each of the buckets of a fixed scale: 8 for every doubling, from 64 ns to 18 hours. A
/// quantile that is read from it is right to 6 %. Two of them are added bucket by bucket.
class duration_histogram {
 public:
  static constexpr std::size_t buckets = 320;
  /// The bucket of a duration.
  static constexpr std::size_t bucket_of(std::uint64_t ns);
  /// The least duration of a bucket, in nanoseconds.
  static constexpr double begin_of(std::size_t bucket);
  /// Counts `count` durations of this length.
  void add(std::uint64_t ns, std::uint64_t count = 1) { counts_[bucket_of(ns)] += count; }
  /// Adds all durations of another one.
  MANTA_DECL void add(const duration_histogram& other);
  /// The number of durations.
  MANTA_DECL std::uint64_t count() const;
  /// Seconds that the part `share` of the durations does not exceed; 0 if there is none.
  MANTA_DECL double quantile(double share) const;
  /// The number of durations in a bucket.
  std::uint64_t operator[](std::size_t bucket) const { return counts_[bucket]; }
  /// For reading back what was written.
  std::uint64_t& operator[](std::size_t bucket) { return counts_[bucket]; }

 private:
  std::array<std::uint64_t, buckets> counts_{};
};

/// One of the longest tasks of a function.
struct long_task {
  double seconds = 0;     ///< its own time, without what ran while it waited
  double begin = 0;       ///< seconds from the begin of the run
  int rank = -1;          ///< where it ran
  std::uint64_t id = 0;   ///< this_task::id()
  std::string name = {};  ///< the task's name option, if it has one
};

/// The tasks and calls of one function or method.
struct function_statistics {
  std::string name = {};            ///< name of the function; "others" for those that have no row of their own
  std::uint64_t tasks = 0;          ///< that have ended well; one that ran again after a death counts once
  std::uint64_t failed = 0;         ///< whose last attempt has thrown
  std::uint64_t retried = 0;        ///< further attempts
  std::uint64_t cancelled = 0;      ///< that were withdrawn before they ran, or asked to stop
  double seconds = 0;               ///< own time of all of them, without what ran while they waited
  double waited = 0;                ///< time in which they waited for values
  bool sampled = false;             ///< `seconds` is an estimate from one of about 256 tasks
  duration_histogram durations;     ///< histogram of own times; estimates too if `sampled`
  std::vector<long_task> longest;   ///< the longest tasks, at most 8, the longest first
  std::string failure = {};         ///< the text of most of its failures; empty: none is known
  std::uint64_t failure_count = 0;  ///< failures with this text

  /// The mean own time of a run: each member of a gang, and each attempt, is one. 0 where none is known.
  double mean_seconds() const {
    const std::uint64_t runs = durations.count() != 0 ? durations.count() : tasks + failed;
    return runs == 0 ? 0 : seconds / static_cast<double>(runs);
  }
};

/// What one rank did.
struct rank_statistics {
  int rank = -1;
  int node = 0;             ///< index into statistics::nodes
  state_seconds seconds{};  ///< seconds by state
  std::uint64_t tasks = 0;
  bool is_known = true;             ///< false: the rank has died or does not answer, and its numbers are missing
  bool is_spare = false;            ///< it stood by to the end
  std::uint64_t memory_bytes = 0;   ///< bytes of values, at most
  std::uint64_t spilled_bytes = 0;  ///< bytes of values that moved to a disk
  std::uint64_t sent_bytes = 0;     ///< bytes of values sent to other ranks
  std::uint64_t transfers = 0;      ///< transfers of values
  /// The time of the run in equal bins: seconds by state of each, and the function that had most of `task`, as an index
  /// into statistics::functions, or -1.
  struct bin {
    std::array<float, rank_states> seconds{};
    int function = -1;
  };
  std::vector<bin> bins;  ///< see statistics::bins_by_node
};

/// One machine of the job.
struct node_statistics {
  std::string host = {};
  int ranks = 0;
  int cores = 0;                    ///< that its ranks may use; 0: not known
  int threads_per_rank = 0;         ///< that compute at the same time in a rank, at most; 0: not known
  std::uint64_t memory_budget = 0;  ///< bytes of values that its ranks may keep in memory; 0: any number
};

/// From tasks of one function to those of another: values that went there, or tasks that were submitted.
struct edge_statistics {
  int from = -1;  ///< index into statistics::functions; -1: the driver, or functions beyond the limit
  int to = -1;    ///< likewise
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

/// The calls of one actor.
struct actor_statistics {
  std::string name = {};    ///< its name option, else its class
  int rank = -1;            ///< where it lives
  std::uint64_t calls = 0;  ///< that have ended
  double seconds = 0;       ///< seconds in its methods
  double waited = 0;        ///< seconds that calls waited in its mailbox, all calls together
};

/// A stretch of the run that the driver has named.
struct phase_statistics {
  std::string name;
  double begin = 0;  ///< seconds from the begin of the run
  double end = 0;    ///< 0: it goes on
};

/// The run as a whole.
struct statistics {
  double seconds = 0;  ///< seconds from the begin of the run to its end, or to now
  double began = 0;    ///< seconds since 1970
  bool is_over = false;
  std::string program = {};       ///< the file's name
  std::string job = {};           ///< Slurm's number of the job; empty: there is none
  double allocation_seconds = 0;  ///< length of the allocation; 0: not known
  std::string why_ended = {};     ///< why the run had to end early; empty: it had not
  std::vector<node_statistics> nodes;
  std::vector<rank_statistics> ranks;          ///< statistics by rank
  std::vector<function_statistics> functions;  ///< most seconds first
  std::vector<edge_statistics> edges;          ///< most bytes first
  /// Which functions have submitted which, or called them: `count` tasks of `to` by tasks of `from`, most tasks first.
  /// They have no bytes.
  std::vector<edge_statistics> children;
  std::vector<actor_statistics> actors;  ///< most seconds of waiting first, at most 64
  std::vector<phase_statistics> phases;
  double bin_seconds = 0;                ///< length of a bin
  bool bins_by_node = false;             ///< bins of all ranks of a node stand together, at the lowest of them
  std::uint64_t from_journal = 0;        ///< tasks whose results the journal had
  std::uint64_t waiting = 0;             ///< tasks that wait at rank 0 now
  double ready_seconds = 0;              ///< seconds for which tasks waited at rank 0 for room, of all tasks together
  std::uint64_t same_value_bytes = 0;    ///< bytes of values of 64 KiB and more that were sent as arguments again
  std::uint64_t same_value_count = 0;    ///< how often they were sent
  std::string same_value_function = {};  ///< the function that got most of these
  std::vector<std::string> deaths;       ///< a sentence each
  /// Settings that differ from their defaults, with their values.
  std::vector<std::pair<std::string, std::string>> settings;
};

constexpr std::size_t duration_histogram::bucket_of(std::uint64_t ns) {
  constexpr unsigned first_octave = 6, octaves = 40;  // from 64 ns
  if (ns >> first_octave == 0) return 0;
  const auto octave = static_cast<unsigned>(63 - __builtin_clzll(ns));
  if (octave >= first_octave + octaves) return buckets - 1;
  const auto eighth = static_cast<std::size_t>(ns >> (octave - 3) & 7U);
  return 8 * (octave - first_octave) + eighth;
}

constexpr double duration_histogram::begin_of(std::size_t bucket) {
  double octave = 64;
  for (std::size_t i = 0; i < bucket / 8; ++i) octave *= 2;
  return octave * (1 + static_cast<double>(bucket % 8) / 8);
}

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/report/statistics.ipp"
#endif
