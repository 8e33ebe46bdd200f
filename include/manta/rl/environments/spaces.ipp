// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "manta/error.hpp"
#include "manta/rl/environments/spaces.hpp"

namespace manta::rl {

namespace detail {

/// What rl::spaces gives.
class only_spaces {
 public:
  only_spaces(space observations, space actions, bool masks)
      : observations_(std::move(observations)), actions_(std::move(actions)), masks_(masks) {}
  [[nodiscard]] const space& observation_space() const { return observations_; }
  [[nodiscard]] const space& action_space() const { return actions_; }
  [[nodiscard]] bool has_action_mask() const { return masks_; }
  [[nodiscard]] std::vector<bool> action_mask() const { refuse(); }
  std::vector<float> reset(random&) { refuse(); }
  rl::step<std::vector<float>> step(std::span<const float>) { refuse(); }

 private:
  [[noreturn]] static void refuse() {
    throw error(
        "there are only spaces here, nothing that could be played; name an environment, as in "
        "rl::evaluate(\"CartPole-v1\", policy, 100)");
  }
  space observations_, actions_;
  bool masks_;
};

}  // namespace detail

MANTA_DECL any_environment spaces(const space& observations, const space& actions, bool masks) {
  return environment<detail::only_spaces>(observations, actions, masks).with_name("spaces alone");
}

}  // namespace manta::rl
