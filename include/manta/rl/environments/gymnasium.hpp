// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Environments of Gymnasium, in Python processes beside the rank:
//
//   rl::ppo algorithm(rl::gymnasium("Ant-v4"), {.workers = 4});
//
// Each process has several environments, and takes and gives one message for a step of all of them. Python with the
// package gymnasium has to be there on each rank that has a worker: python3, or the interpreter named by $MANTA_PYTHON,
// such as that of a virtual environment.
#pragma once

#include <string>

#include "manta/rl/environments/environment.hpp"

namespace manta::rl {

/// What is done with an observation that lies outside of the bounds that its space declares, as Gymnasium lets happen.
enum class out_of_bounds {
  warn,   ///< it is taken as it is; the first one of an environment is named on standard error
  clip,   ///< each number is brought to its nearest bound
  check,  ///< it is an error, as with environments in C++
};
/// Where the channels of an image stand, which is a box of three dimensions. Networks read them first.
enum class image_order {
  automatic,       ///< last, as Gymnasium has them, unless the first dimension is smaller than the last one
  channels_last,   ///< height, width, channels
  channels_first,  ///< channels, height, width
  flat,            ///< no image: a vector of all numbers
};

struct gymnasium_options {
  int per_process = 8;           ///< environments that share a Python process
  double timeout = 60;           ///< seconds after which a step counts as hanging
  int restarts = 0;              ///< how often a process that crashed or hangs is replaced; its episodes are truncated
  std::string arguments = "{}";  ///< keyword arguments of gymnasium.make, as a JSON object: R"({"continuous": true})"
  std::string module = "gymnasium";  ///< the Python module with make(); another one of the same interface will do
  out_of_bounds bounds = out_of_bounds::warn;  ///< treatment of observations outside of their bounds
  image_order images = image_order::automatic;

  bool operator==(const gymnasium_options&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(per_process, timeout, restarts, arguments, module, bounds, images);
  }
};

/// The environment that gymnasium.make(name) gives. Starts a Python process here, to ask for the spaces; throws
/// manta::error with what Python says if that fails, and a sentence for a space that has no counterpart (Text, Graph,
/// Sequence). Observations and actions may be dictionaries and tuples, as rl::dict and rl::tuple; images are read with
/// their channels first.
/// An "action_mask" in info, or in observations that are dictionaries, is the mask of actions, and no part of
/// observations: 1 for each choice that is allowed; for MultiDiscrete a list of masks; for MultiBinary 2 where both
/// choices are allowed.
/// Its time limit is Gymnasium's own. Its state cannot be saved: after a restore, episodes begin anew. Processes of a
/// rank live on for the next tasks, evaluations and trainings of the same environment.
MANTA_DECL any_environment gymnasium(const std::string& name, const gymnasium_options& options = {});

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/environments/gymnasium.ipp"
#endif
