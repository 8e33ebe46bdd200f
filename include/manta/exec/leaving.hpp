// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A run that has to end before its work is done: the allocation ends soon, or a
// signal has asked for it. Nothing more is started: what has not begun, and what
// is submitted from then on, fails with `cancelled`; what runs sees
// stop_requested(); calls of actors still go through, so that the driver can
// save what they hold.
#pragma once

#include <ctime>

#include "manta/exec/engine.hpp"

namespace manta::exec {

/// Rank 0: when to begin. A short allocation is not left with most of its time unused.
inline void engine::set_end(const engine_options& options) {
  if (rank_ != 0) return;
  end_time_ = options.end_time != 0 ? options.end_time : base::end_of_job();
  if (end_time_ == 0) return;
  const double left = static_cast<double>(end_time_ - static_cast<std::int64_t>(std::time(nullptr)));
  const double margin = std::min(static_cast<double>(options.end_margin), std::max(left, 0.0) / 10);
  leave_at_ = base::ticks() + static_cast<std::uint64_t>(std::max(left - margin, 0.0) * 1e9 / base::nanoseconds_per_tick());
}

/// At the top level: must_leave().
inline void engine::look_for_end() {
  std::string why;
  if (const char* const signal = base::end_signals::came()) {
    why = std::string(signal) + " has come";
  } else if (!asked_to_leave_.empty()) {
    why = asked_to_leave_;
  } else {
    char text[32] = "";
    const std::time_t end = static_cast<std::time_t>(end_time_);
    std::tm local{};
    if (::localtime_r(&end, &local) != nullptr) (void)std::strftime(text, sizeof text, "%H:%M:%S", &local);
    why = std::string("the allocation ends at ") + text;
  }
  if (rank_ != 0) {
    leaving_ = why;  // until rank 0 says so
    return send(0, message::leave, index_message{0, 0}, why.data(), why.size());
  }
  std::fprintf(stderr, "manta: %s: nothing more is started, and what runs is asked to stop\n", why.c_str());
  for (std::uint32_t r = 1; r < size_; ++r) send(r, message::leave, index_message{0, 0}, why.data(), why.size());
  leave(why);
}

inline void engine::leave(const std::string& why) {
  leaving_ = why;
  stopping_ = true;
  drop_asked_ = true;
}

inline store::failure_ptr engine::leaving_failure() const {
  store::failure f;
  f.kind = store::failure::kind::cancelled;
  f.message = "the task was not started, because the run has to end: " + leaving_;
  return store::share(std::move(f));
}

}  // namespace manta::exec
