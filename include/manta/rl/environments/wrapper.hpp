// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The class that environments made from another one derive from: those of wrappers.hpp, callbacks.hpp, and
// the program's own.
//
//   struct windy : rl::wrapper {
//     windy(const rl::any_environment& e, float force) : wrapper(e), force_(force) {}
//     rl::step<observation> step(std::span<const float> action) {      // what a class does not say stays as it was
//       const float with_wind[] = {action[0] + force_};
//       return wrapper::step(with_wind);
//     }
//     float force_;
//   };
//   rl::ppo algorithm(rl::wrap<windy>("Pendulum-v1", 0.1f), {.seed = 1});
//
// A wrapper with a state of its own has a serialize, which calls wrapper::serialize first.
#pragma once

#include <cereal/types/string.hpp>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "manta/rl/environments/environment.hpp"

namespace manta::rl {

/// The inner environment, unchanged.
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
  observation raw_;  ///< last observation of the inner environment
};

namespace detail {
/// A wrapper whose inner environment is told actions before the step (simulation::announce), so that environments in
/// other processes begin together. A class that changes actions has an announce of its own, which hands on the changed
/// one: after an announcement, the action that step() gets is not read.
class announcing_wrapper : public wrapper {
 public:
  using wrapper::wrapper;
  void announce(std::span<const float> action) { inner_->announce(action); }
  [[nodiscard]] bool wants_announcements() const { return inner_->wants_announcements(); }
};
}  // namespace detail

/// The environments W(e, args...), by the name `what(name of e)`. The inner environment's limit of steps stays.
template <class W, class... Args>
any_environment wrap_as(const std::string& what, const any_environment& e, const Args&... args) {
  return environment<W>(e, args...).with_time_limit(e.time_limit()).with_name(what + "(" + e.name() + ")");
}
/// Wraps the environment; the name is that of the class.
template <class W, class... Args>
any_environment wrap(const any_environment& e, const Args&... args) {
  return wrap_as<W>(base::demangle(typeid(W).name()), e, args...);
}

}  // namespace manta::rl
