// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Whether, why and when a run has to end before its work is done: a signal has
// come, another rank says so, or the end of the allocation is near.
//
// This part knows the reasons and the time that is left; it is told the time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <string>
#include <utility>

#include "manta/base/clock.hpp"

namespace manta::exec {

class departure {
 public:
  /// The allocation ends at `end_s`, in seconds since 1970; the run has to end `margin_s` before, or earlier: a short
  /// allocation is not left with most of its time unused. `ticks_per_s` is the speed of the clock of `now_ticks`.
  void set_end(std::int64_t end_s, std::int64_t margin_s, std::int64_t now_s, std::uint64_t now_ticks,
               double ticks_per_s) {
    end_s_ = end_s;
    const double left = std::max(static_cast<double>(end_s - now_s), 0.0);
    const double margin = std::min(static_cast<double>(margin_s), left / 10);
    leave_at_ = now_ticks + static_cast<std::uint64_t>((left - margin) * ticks_per_s);
  }
  /// Is it known when the run has to end?
  bool has_end() const { return leave_at_ != 0; }
  /// The end of the allocation, in seconds since 1970; 0: it is not known.
  std::int64_t end_s() const { return end_s_; }
  /// Has that time come?
  bool is_time(std::uint64_t now_ticks) const { return has_end() && now_ticks > leave_at_; }
  /// The ticks that are left until then.
  std::uint64_t ticks_left(std::uint64_t now_ticks) const { return leave_at_ > now_ticks ? leave_at_ - now_ticks : 0; }
  /// The nanoseconds that are left until then.
  double left_ns(std::uint64_t now_ticks) const {
    return static_cast<double>(base::nanoseconds_of(ticks_left(now_ticks)));
  }
  /// The end of the allocation in words.
  std::string end_text() const {
    char text[32] = "";
    const std::time_t end = static_cast<std::time_t>(end_s_);
    std::tm local{};
    if (::localtime_r(&end, &local) != nullptr) (void)std::strftime(text, sizeof text, "%H:%M:%S", &local);
    return std::string("the allocation ends at ") + text;
  }

  /// Rank 0: a rank asks for the end, or nothing is left that could be done in time.
  void ask(std::string why) { asked_ = std::move(why); }
  bool is_asked() const { return !asked_.empty(); }
  /// Why the run has to end, now that it has to: `signal` is the name of the signal that has come, or null.
  std::string reason(const char* signal) const {
    if (signal != nullptr) return std::string(signal) + " has come";
    return is_asked() ? asked_ : end_text();
  }

  /// From now on nothing more is started.
  void leave(std::string why) { why_ = std::move(why); }
  bool is_leaving() const { return !why_.empty(); }
  /// Why nothing more is started; empty: it is.
  const std::string& why() const { return why_; }

 private:
  std::string why_, asked_;
  std::uint64_t leave_at_ = 0;  // in ticks; 0: never
  std::int64_t end_s_ = 0;
};

}  // namespace manta::exec
