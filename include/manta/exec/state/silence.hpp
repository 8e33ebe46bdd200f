// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a rank does that finds nothing to do: it spins, then yields, then
// sleeps, by how long it has been silent. Where others compute on the same
// cores, a yield takes until their time slice ends, and each turn of the idle
// rank takes time from them. There the rank sleeps instead of yielding, and Linux
// lets it in ahead of them when something comes.
//
// This part only decides: the caller gives the time, and yields and sleeps.
#pragma once

#include <algorithm>
#include <cstdint>

namespace manta::exec {

class silence {
 public:
  static constexpr unsigned look_every = 32;  ///< most turns only poll
  static constexpr std::int64_t until_woken_ns =
      100'000;  ///< a rank that answers at once, being woken, finds this one awake
  static constexpr std::int64_t until_sleep_ns = 2'000'000;
  static constexpr std::int64_t until_long_sleep_ns = 10'000'000;
  static constexpr std::int64_t short_sleep_ns = 50'000;
  /// A yield that took longer shows that others compute. Where ranks share cores, the others have the shortest slice,
  /// of 100 us; elsewhere a rare disturbance by the system should not count.
  static constexpr std::int64_t others_compute_ns = 200'000, ranks_compute_ns = 50'000;
  static constexpr std::int64_t crowded_ns = 100'000'000;  ///< how long that is believed
  enum class step : std::uint8_t { spin, yield, sleep };

  /// Something has come, or runs.
  void end() { turns_ = 0; }
  unsigned turns() const { return turns_; }
  void set_turns(unsigned turns) { turns_ = turns; }
  /// Counts a turn in vain. False if this turn need not do more than poll.
  bool count_turn(unsigned spins) { return turns_++ % look_every == 0 || turns_ > spins; }
  /// Is it over with spinning?
  bool is_longer_than(unsigned spins) const { return turns_ > spins; }

  /// What to do now, after the spins. `under_way`: transfers of this rank go on, which only polling carries on.
  step next_step(unsigned spins, std::int64_t now_ns, bool under_way) {
    if (turns_ == spins + 1) since_ns_ = now_ns;
    const std::int64_t silent = now_ns - since_ns_;
    const bool crowded = now_ns < crowded_until_ns_;
    if (crowded && silent < until_woken_ns) return step::spin;
    return !crowded && (silent < until_sleep_ns || under_way) ? step::yield : step::sleep;
  }
  /// A yield is over. `shares_cores`: there are more ranks than cores.
  void note_yield(std::int64_t began_ns, std::int64_t ended_ns, bool shares_cores) {
    const std::int64_t short_enough = shares_cores ? ranks_compute_ns : others_compute_ns;
    if (ended_ns - began_ns > short_enough) crowded_until_ns_ = ended_ns + crowded_ns;
  }
  /// How long to sleep, at most `longest_ns`. Where every message ends the sleep (`is_woken`), the silence may double;
  /// elsewhere a sleep adds at most a tenth to it.
  template <class Longest>
  std::int64_t sleep_ns(std::int64_t now_ns, bool under_way, bool is_woken, Longest&& longest_ns) const {
    const std::int64_t silent = now_ns - since_ns_;
    if (under_way || silent < (is_woken ? short_sleep_ns : until_long_sleep_ns)) return short_sleep_ns;
    return std::min<std::int64_t>(is_woken ? silent : silent / 10, longest_ns());
  }

 private:
  unsigned turns_ = 0;                 // in vain, in a row
  std::int64_t since_ns_ = 0;          // when the spinning was over
  std::int64_t crowded_until_ns_ = 0;  // until then others are believed to compute on these cores
};

}  // namespace manta::exec
