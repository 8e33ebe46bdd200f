// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Runners as the driver holds them.
#pragma once

#include <memory>
#include <vector>

#include "manta/tune/repeated_runner.hpp"
#include "manta/tune/runner.hpp"

namespace manta::tune::detail {

/// A runner as the driver holds it, of whatever class it is.
class runner_handle {
 public:
  virtual ~runner_handle() = default;
  virtual future<whereabouts> greet() const = 0;
  virtual std::vector<future<void>> work() const = 0;  ///< the calls inside which trials run; none if they need none
  virtual future<answers> tell(order o) const = 0;
  virtual future<checkpoint> take() const = 0;
};

/// Begins to construct a runner: a gang_runner, a repeated_runner if there are several repeats, an isolated_runner if
/// the options say so, or a runner.
std::unique_ptr<runner_handle> spawn_runner(const actor_options& options, const body_name& what, bool gang,
                                            int repeats);

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/runner_handle.ipp"
#endif
