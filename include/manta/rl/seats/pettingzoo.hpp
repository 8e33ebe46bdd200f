// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Games of PettingZoo, in Python processes beside the rank:
//
//   rl::multi training(rl::pettingzoo("pettingzoo.butterfly.pistonball_v6"), {.policies = {{"piston", {}}}});
//
// Both interfaces are read: parallel, in which all agents act at once, and AEC, in which they act in turn. Each game is
// a process, which takes and gives one message for a step. Python with the package pettingzoo has to be there on each
// rank that has a worker: python3, or the interpreter named by $MANTA_PYTHON.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "manta/rl/environments/gymnasium.hpp"
#include "manta/rl/seats/game.hpp"

namespace manta::rl {

struct pettingzoo_options {
  double timeout = 60;           ///< seconds after which a step counts as hanging
  std::string arguments = "{}";  ///< keyword arguments of the function, as a JSON object: R"({"n_pistons": 4})"
  std::string function = "";     ///< that makes the game; none: parallel_env where the module has it, else env (AEC)
  out_of_bounds bounds = out_of_bounds::warn;  ///< treatment of observations outside of their bounds
  image_order images = image_order::automatic;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(timeout, arguments, function, bounds, images);
  }
};

/// The game that the Python module makes, with a seat for each of its possible_agents, by their names. Starts a Python
/// process here, to ask for the spaces; throws manta::error with what Python says if that fails. An "action_mask" in
/// observations that are dictionaries, or in info, is the mask of actions. What state() gives is the state of the
/// whole, where the game has it. The game's state cannot be saved: after a restore, episodes begin anew.
MANTA_DECL any_game pettingzoo(const std::string& module, const pettingzoo_options& options = {});

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/seats/pettingzoo.ipp"
#endif
