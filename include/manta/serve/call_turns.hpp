// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// When the calls of replicas begin. A rank works on its calls one after the other, in the order in which they were
// sent: the time of a call begins when those before it have ended, not when it is sent.
#pragma once

#include <chrono>
#include <deque>
#include <memory>

#include "manta/base/config.hpp"

namespace manta::serve::detail {

class call_turns {
 public:
  MANTA_DECL call_turns();
  call_turns(const call_turns&) = delete;

  using clock = std::chrono::steady_clock;

  /// A call, from its sending to its end. A call that waits may run together with those before it: its time then begins
  /// later than it does, by no more than they take.
  class turn {
   public:
    MANTA_DECL turn(call_turns& all, int rank);
    ~turn() { end(); }
    turn(const turn&) = delete;

    /// Whether all calls before it have ended.
    [[nodiscard]] MANTA_DECL bool has_come();
    /// When its time began; now, if it has not.
    [[nodiscard]] clock::time_point begin() { return has_come() ? begin_ : clock::now(); }
    MANTA_DECL void end();
    /// This call does not return: the turns of the others do not come.
    MANTA_DECL void keep();
    [[nodiscard]] int rank() const { return rank_; }

   private:
    std::deque<turn*>& line();

    call_turns& all_;
    int rank_;
    clock::time_point begin_ = clock::now();
    bool has_ended_ = false, never_comes_ = false;
  };

 private:
  struct lines;
  std::shared_ptr<lines> lines_;
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/call_turns.ipp"
#endif
