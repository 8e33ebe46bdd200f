// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Keeps tasks that have failed (MANTA_KEEP_FAILED), and runs one of them again
// (MANTA_RERUN). A kept task is a file with the name of its function, its id, its
// options, its arguments and its inputs: what a child process is told of a task. A
// program that was compiled anew can read it as long as the function and the types
// have kept their names and members.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "manta/base/config.hpp"
#include "manta/exec/isolation/child_messages.hpp"
#include "manta/exec/rank/engine_options.hpp"

namespace manta::exec {

struct rank_parts;
class kept_task;

class keeping {
 public:
  explicit keeping(rank_parts& all) : all_(all) {}
  keeping(const keeping&) = delete;
  keeping& operator=(const keeping&) = delete;

  /// Takes the settings.
  MANTA_DECL void configure(const engine_options& options);
  /// A task has failed here: its file is written, and a line in the folder's list.
  MANTA_DECL void keep(const invocation& call, const running_task& task, const std::string& what);
  /// The watchdog is about to end this rank: the task that has the thread is kept.
  MANTA_DECL void keep_hung();
  /// Runs a kept task on this stack, as a part of the driver. Returns what it has thrown, in words; empty: nothing.
  std::string run_again(kept_task& task);

 private:
  static constexpr unsigned most_kept = 100;  ///< tasks that are kept by one rank, in one start of the program

  /// Writes the task into the message, as a child would be told of it.
  void describe(child_letter& letter, const invocation& call, const running_task& task, const std::string& what) const;
  std::string write(child_letter& letter);  ///< Writes a file, whose name is the next free number. Returns the number.
  /// Adds a line to the list of the folder.
  void list(const std::string& number, const running_task& task, const std::string& what) const;

  rank_parts& all_;
  std::string folder_;
  std::uint64_t next_ = 1;
  unsigned kept_ = 0;
};

/// A kept task, read from its file.
class kept_task {
 public:
  /// Throws if the file is no kept task, or one whose function or types this program does not have.
  MANTA_DECL explicit kept_task(const std::string& path);
  MANTA_DECL ~kept_task();  ///< Closes the file.
  kept_task(const kept_task&) = delete;
  kept_task& operator=(const kept_task&) = delete;

  std::uint64_t seed() const { return task_.seed; }  ///< The seed of the run.
  MANTA_DECL std::string description() const;        ///< Which task it is, and how it ended, in words.
  /// As keeping::run_again().
  MANTA_DECL std::string run(rank_parts& all);

 private:
  void read_bytes(void* into, std::size_t bytes);  ///< The next bytes of the file.
  void read();                                     ///< Reads the file but for the arrays at its end.
  /// A type of this program by its mangled name.
  type_id type_named(const std::string& mangled) const;
  /// Sets the function to this program's one of this name.
  void find_function(const std::string& mangled, const std::string& name);
  graph::node& make_input(rank_parts& all, wire::source& in);  ///< A node with the next input.
  [[noreturn]] void refuse(const std::string& why) const;      ///< Throws.

  std::string path_;
  int file_ = -1;
  child_task task_;
  bool has_request_ = false;
  graph::request request_;
  std::string name_, what_, host_;
  wire::buffer body_;
  std::size_t arguments_ = 0;  // where they stand in the body; the inputs follow
};

inline std::string keeping::run_again(kept_task& task) { return task.run(all_); }

}  // namespace manta::exec
