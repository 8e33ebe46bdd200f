// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// When the calls of replicas begin. A rank works on its calls one after the other, in the order in which they were
// sent: the time of a call begins when those before it have ended, not when it is sent.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <utility>

namespace manta::serve::detail {

class call_turns {
 public:
  using clock = std::chrono::steady_clock;

  /// A call, from its sending to its end. A call that waits may run together with those before it: its time then begins
  /// later than it does, by no more than they take.
  class turn {
   public:
    turn(call_turns& all, int rank) : all_(all), rank_(rank) { line().push_back(this); }
    ~turn() { end(); }
    turn(const turn&) = delete;

    /// Whether all calls before it have ended.
    [[nodiscard]] bool has_come() { return !never_comes_ && (has_ended_ || line().front() == this); }
    /// When its time began; now, if it has not.
    [[nodiscard]] clock::time_point begin() { return has_come() ? begin_ : clock::now(); }
    void end() {
      if (std::exchange(has_ended_, true)) return;
      const bool was_first = line().front() == this;
      std::erase(line(), this);
      if (line().empty()) {
        all_.lines_.erase(rank_);
      } else if (was_first) {
        line().front()->begin_ = clock::now();
      }
    }

    /// This call does not return: the turns of the others do not come.
    void keep() {
      for (turn* const each : line()) each->never_comes_ = each != this;
    }
    [[nodiscard]] int rank() const { return rank_; }

   private:
    std::deque<turn*>& line() { return all_.lines_[rank_]; }

    call_turns& all_;
    int rank_;
    clock::time_point begin_ = clock::now();
    bool has_ended_ = false, never_comes_ = false;
  };

 private:
  std::map<int, std::deque<turn*>> lines_;
};

}  // namespace manta::serve::detail
