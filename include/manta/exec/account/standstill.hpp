// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Whether a run has come to a standstill: no task of any rank has ended for five minutes, although some are
// unfinished. Rank 0 knows at once how many of its own tasks have ended; for those of the others it has to ask, and
// does so once a minute while none of its own ends.
#pragma once

#include <cstdint>

namespace manta::exec {

class standstill {
 public:
  enum class wish : std::uint8_t {
    nothing,
    count,  ///< the other ranks are to be asked how many of their tasks have ended
    tell    ///< the run stands still, and this is said now
  };
  static constexpr std::int64_t second_ns = 1'000'000'000, pause_ns = 60 * second_ns, stall_ns = 300 * second_ns;

  /// A run begins.
  void begin_run() { *this = {}; }
  /// Is it time to look?
  bool is_due(std::int64_t now_ns) const { return now_ns >= next_look_ns_; }
  /// What is to be done; `ended`: the number of tasks of all ranks of which rank 0 knows that they have ended.
  wish look(std::uint64_t ended, bool is_unfinished, std::int64_t now_ns) {
    next_look_ns_ = now_ns + second_ns;
    if (ended != ended_ || since_ns_ == 0) {
      ended_ = ended;
      since_ns_ = now_ns;
      next_count_ns_ = now_ns + pause_ns;
      has_told_ = false;
    }
    if (has_told_ || !is_unfinished) return wish::nothing;
    if (now_ns - since_ns_ >= stall_ns) {
      has_told_ = true;
      return wish::tell;
    }
    if (now_ns < next_count_ns_) return wish::nothing;
    next_count_ns_ = now_ns + pause_ns;
    return wish::count;
  }

 private:
  std::uint64_t ended_ = 0;
  std::int64_t since_ns_ = 0;  // when that number has changed
  std::int64_t next_look_ns_ = 0, next_count_ns_ = 0;
  bool has_told_ = false;
};

}  // namespace manta::exec
