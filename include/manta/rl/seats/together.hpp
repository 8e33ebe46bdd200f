// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Environments of one seat as a game of several, in which nobody meets another one: for policies that are learnt from
// several seats at once, and for programs that are to run with one seat and with many.
//
//   rl::multi training(rl::together("CartPole-v1", 4), {.policies = {{"pole", rl::ppo_options{}}}});
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "manta/rl/seats/game.hpp"

namespace manta::rl {

namespace detail {

/// All act at once. The episode of a seat ends with that of its environment, and the game's with the last of them.
class environments_together {
 public:
  environments_together(environments_together&&) = default;  // what is in it cannot be copied, but saved
  MANTA_DECL environments_together(const any_environment& e, int count);

  [[nodiscard]] rl::seats seats() const {
    return {static_cast<int>(all_.size()), kind_.observations(), kind_.actions()};
  }
  MANTA_DECL void reset(random& numbers, table& t);
  MANTA_DECL void step(table& t);
  [[nodiscard]] MANTA_DECL std::map<std::string, double> figures();
  [[nodiscard]] MANTA_DECL std::string text() const;

  [[nodiscard]] bool can_be_saved() const { return all_.front()->can_be_saved(); }
  template <class Archive>
  void save(Archive& archive) const {
    std::vector<std::string> states;
    for (const auto& e : all_) states.push_back(e->save());
    archive(states, playing_, steps_);
  }
  template <class Archive>
  void load(Archive& archive) {
    std::vector<std::string> states;
    archive(states, playing_, steps_);
    for (std::size_t i = 0; i < all_.size(); ++i) all_[i]->load(states.at(i));
  }

 private:
  /// Shows the seat the observation that its environment has given, and what it allows.
  void show(table& t, int seat);

  any_environment kind_;
  std::vector<std::unique_ptr<simulation>> all_;
  std::vector<char> playing_;  ///< the episode of the seat has not ended
  std::uint64_t steps_ = 0;
  std::vector<float> raw_;
  std::vector<unsigned char> mask_;
};

}  // namespace detail

/// `count` environments of a kind as the seats of a game. Its limit of steps stays.
MANTA_DECL any_game together(const any_environment& e, int count);

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/seats/together.ipp"
#endif
