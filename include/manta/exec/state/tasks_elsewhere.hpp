// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The number of tasks and calls of this rank that are elsewhere and have not
// ended. Tasks that were sent ahead of their inputs are counted apart: they wait
// there as they would here.
#pragma once

#include <cstddef>

namespace manta::exec {

class tasks_elsewhere {
 public:
  /// A task or a call was sent away, or runs here as if it had been.
  void note_sent() { ++count_; }
  /// It has ended, or has come back.
  void note_back() { --count_; }
  /// A task was sent ahead of its inputs; `note_sent` counts it too.
  void note_ahead() { ++ahead_; }
  void note_ahead_back() { --ahead_; }
  /// The number of those that do not wait for inputs.
  std::size_t unfinished() const { return count_ - ahead_; }
  void clear() { count_ = ahead_ = 0; }

 private:
  std::size_t count_ = 0;
  std::size_t ahead_ = 0;  // of these
};

}  // namespace manta::exec
