// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Whose results a caller reads. The result of a call stays where it was made, and the caller fetches it when it is
// read: a question and an answer, for which the actor's rank has to have time. A caller that has fetched a result
// asks for those of the next calls of the same function at once: they come with the news that the call has ended.
// From time to time a result has to be fetched again, so that a program which no longer reads them keeps them where
// they are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "manta/graph/ids.hpp"

namespace manta::exec {

class results_at_once {
 public:
  static constexpr std::size_t longest = std::size_t{64} << 10;  ///< bytes of a result that comes at once
  static constexpr std::uint8_t calls_for_one_read = 64;

  /// This rank fetches a result of the function.
  void note_fetched(graph::function_id function, std::uint64_t bytes) {
    if (bytes > longest) return;
    if (left_.size() <= function) left_.resize(function + std::size_t{1}, 0);
    left_[function] = calls_for_one_read;
  }
  /// A call of the function leaves now: shall its result come at once?
  bool take(graph::function_id function) {
    if (left_.size() <= function || left_[function] == 0) return false;
    --left_[function];
    return true;
  }

 private:
  std::vector<std::uint8_t> left_;  // by function: the calls whose results come at once before one is fetched again
};

}  // namespace manta::exec
