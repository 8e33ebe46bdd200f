// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Where a thread is in the program's code, seen from another thread: a signal
// interrupts it for some microseconds, and its handler notes the stack. The signal
// is SIGURG, which nobody sends for anything else and which does nothing where it
// is not expected. A handler of the program's own stays, and then nothing is known.
// A stack that was left, because its task waits, is read as it is (stack_walk.hpp).
#pragma once

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/base/symbols.hpp"
#include "manta/base/vector.hpp"
#include "manta/exec/rank/stack.hpp"

namespace manta::exec {

/// Where a task waits.
struct wait_place {
  const context* left;  ///< its stack; null: the calling thread stands on it
  const void* above;    ///< the engine's frame there, from which on calls are left out
  bool is_known;        ///< else nothing is known of it
};

class stack_trace {
 public:
  static constexpr std::size_t most_names = 8;  ///< number of names of a stack that are shown, at most

  /// Lets threads be interrupted from now on.
  MANTA_DECL static void watch();
  /// The functions in which the thread is, the innermost first, without manta's own. Those whose frames lie above the
  /// address `below` on the stack are left out; null: none. Empty if the thread does not answer at once.
  /// One caller at a time.
  MANTA_DECL static std::vector<std::string> of(pthread_t thread, const void* below);
  /// For the handler of a signal: the functions in which the calling thread is, when the signal interrupted `machine`.
  MANTA_DECL static std::vector<std::string> at(const void* machine);
  /// The functions in which tasks wait, a stack for each place. Theirs must stand still meanwhile.
  MANTA_DECL static std::vector<std::vector<std::string>> of_waits(std::span<const wait_place> places);
  /// What `of` makes of all functions of a stack.
  MANTA_DECL static std::vector<std::string> shown(std::span<const base::code_place> all);

 private:
  static constexpr int most_frames = 64;
  enum class step : int { none, asked, begun, done };

  static void handle(int signal, siginfo_t* info, void* machine);  ///< Notes the stack of its thread.
  static bool wait_until_done();                                   ///< False if the thread does not answer.

  static inline bool is_on_ = false;
  static inline std::atomic<step> step_{step::none};
  static inline const void* below_ = nullptr;
  static inline int count_ = 0;
  static inline void* frames_[most_frames] = {};
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/rank/stack_trace.ipp"
#endif
