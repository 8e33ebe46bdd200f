// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What environments that are made from another one share (wrappers.hpp, callbacks.hpp).
#pragma once

#include <cereal/types/string.hpp>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "manta/rl/environments/environment.hpp"

namespace manta::rl::detail {

/// What wrappers share: the inner environment, unchanged.
class wrapper {
 public:
  using observation = std::vector<float>;

  explicit wrapper(const any_environment& e)
      : kind_(e), inner_(e.make()), raw_(static_cast<std::size_t>(e.observations().size())) {}

  [[nodiscard]] space observation_space() const { return kind_.observations(); }
  [[nodiscard]] space action_space() const { return kind_.actions(); }
  observation reset(random& numbers) {
    inner_->reset(numbers, raw_);
    return raw_;
  }
  void announce(std::span<const float> action) { inner_->announce(action); }
  rl::step<observation> step(std::span<const float> action) {
    const simulation::outcome o = inner_->step(action, raw_);
    return {raw_, o.reward, o.terminated, o.truncated};
  }
  [[nodiscard]] bool has_action_mask() const { return kind_.mask_size() > 0; }
  std::vector<unsigned char> action_mask() {
    std::vector<unsigned char> mask(static_cast<std::size_t>(kind_.mask_size()));
    inner_->allowed(mask);
    return mask;
  }
  std::map<std::string, double> figures() { return inner_->figures(); }
  [[nodiscard]] std::string text() const { return inner_->text(); }
  [[nodiscard]] bool can_be_saved() const { return inner_->can_be_saved(); }
  [[nodiscard]] bool wants_announcements() const { return inner_->wants_announcements(); }

  template <class Archive>
  void serialize(Archive& archive) {
    std::string state;
    if constexpr (Archive::is_saving::value) state = inner_->save();
    archive(state);
    if constexpr (Archive::is_loading::value) inner_->load(state);
  }

 protected:
  any_environment kind_;
  std::unique_ptr<simulation> inner_;
  observation raw_;
};

/// The inner environment's limit of steps stays; the name says what was done.
template <class W, class... Args>
any_environment wrap(const any_environment& e, const std::string& what, const Args&... args) {
  return environment<W>(e, args...).with_time_limit(e.time_limit()).with_name(what + "(" + e.name() + ")");
}

}  // namespace manta::rl::detail
