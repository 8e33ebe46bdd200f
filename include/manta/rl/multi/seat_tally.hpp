// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Episodes of seats, counted policy by policy.
#pragma once

#include <cereal/types/deque.hpp>
#include <cereal/types/map.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "manta/rl/base/multi_report.hpp"
#include "manta/rl/environments/vector_environment.hpp"
#include "manta/rl/multi/seat_lanes.hpp"

namespace manta::rl::detail {

/// Keeps the last episodes of games and of each policy.
class seat_tally {
 public:
  /// keep: how many of the last episodes means are of; 0: of all.
  explicit seat_tally(std::size_t keep = 100) : keep_(keep) {}
  /// Episodes may come in any order. names: of the policies, by their numbers.
  MANTA_DECL void count(std::vector<multi_episode> ended, const std::vector<std::string>& names);
  MANTA_DECL void write(multi_report& r) const;
  void forget_last() {
    games_.last.clear();
    for (auto& [name, p] : policies_) p.last.clear();
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(games_, policies_);
  }

 private:
  struct counted {
    std::uint64_t episodes = 0, steps = 0;
    std::deque<episode> last;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(episodes, steps, last);
    }
  };
  void count(counted& to, episode e) const;

  std::size_t keep_;
  counted games_;
  std::map<std::string, counted> policies_;
};

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/multi/seat_tally.ipp"
#endif
