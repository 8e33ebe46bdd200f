// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What user code does to the process in the middle of a run: it crashes, ends the
// process, or forks a copy of it.
#pragma once

#include <cstddef>

#include "manta/base/config.hpp"
#include "manta/exec/layers.hpp"
#include "manta/store/saving.hpp"

namespace manta::exec {

class process_watch {
 public:
  /// A run begins: notes exit() and fork() by user code from now on.
  MANTA_DECL static void begin(rank_parts& watched);
  static void end() { watched_ = nullptr; }      ///< The run has ended.
  static bool is_in_copy() { return is_copy_; }  ///< Is this process one that user code has forked?
  /// Ends such a process, which did `what`.
  [[noreturn]] MANTA_DECL static void end_copy(const char* what);

  /// The task, or the save() of a value, in words that runs here; null if none does.
  MANTA_DECL static const char* who_is_interrupted() noexcept;
  /// In a signal handler that ends the rank: tells rank 0 why, and which task it was.
  MANTA_DECL static void last_words(const char* text, std::size_t bytes) noexcept;
  /// In such a handler: writes the functions in which the thread was; false if none is known. Asks for memory.
  MANTA_DECL static void say_where(const void* machine);

 private:
  /// Whose save() it is, in words: writes at most `room` bytes, allocates nothing.
  MANTA_DECL static void describe_saving(const store::saving& saved, char* text, std::size_t room) noexcept;
  /// For the report of a crash: allocates nothing. Null if nothing of the user's runs.
  static const running_task* interrupted() noexcept;
  /// Says who has called exit(), and does not let it look like a success. What other libraries have registered
  /// is still done.
  static void exit_in_run(int status, void*);
  /// In a child that somebody has forked in the middle of a run: a copy of this process, which must not act
  /// as the rank.
  static void forked();

  static inline rank_parts* watched_ = nullptr;  // null: no run goes on
  static inline bool is_copy_ = false;           // of a rank's process, forked by user code
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/process_watch.ipp"
#endif
