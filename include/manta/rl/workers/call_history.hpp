// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How a worker's call that was lost with its rank is made again without a trace: the worker keeps the states of its
// environments before its last call and after it, and a call says with which step it begins.
#pragma once

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "manta/error.hpp"

namespace manta::rl::detail {

class call_history {
 public:
  using states = std::vector<std::string>;  // one for each environment; empty where they cannot be saved

  static constexpr std::uint64_t any_step = ~std::uint64_t(0);

  /// Takes the worker to the step that its call begins with: where it is already, unless the last call has failed in
  /// the middle, or was lost, but not what it did. `steps` is the worker's count, which `restore(states)` sets.
  /// Environments that cannot be saved begin new episodes then.
  template <class Restore>
  void go_to(std::uint64_t from, std::uint64_t& steps, bool can_be_saved, Restore&& restore) {
    if (from == any_step || from == steps) return;
    if (!can_be_saved) {
      steps = from;
      return;
    }
    for (const states& s : {now_, former_}) {
      if (s.empty() || from == steps) continue;
      steps = 0;
      restore(s);
    }
    if (from != steps)
      throw error("manta: rl: the state of a worker was lost with its rank; go on from the last checkpoint");
  }
  /// A call has ended with these.
  void end(states now) {
    former_ = std::move(now_);
    now_ = std::move(now);
  }
  /// The worker is in these without a call.
  void set(states now) { now_ = std::move(now); }
  [[nodiscard]] const states& now() const { return now_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(former_, now_);
  }

 private:
  states former_, now_;
};

}  // namespace manta::rl::detail
