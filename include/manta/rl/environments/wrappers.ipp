// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of wrappers.hpp. Each wrapper is an environment that changes one thing and hands the rest on.
#pragma once

#include <algorithm>
#include <cstdio>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/environments/wrapper.hpp"
#include "manta/rl/environments/wrappers.hpp"

namespace manta::rl {

namespace detail {

inline const box& box_of(const space& s, const std::string& who) {
  if (s.as_box() == nullptr) throw error("manta: rl: " + who + " needs a box; this is " + s.text());
  return *s.as_box();
}

class frame_stacked : public announcing_wrapper {
 public:
  frame_stacked(const any_environment& e, int n) : announcing_wrapper(e), n_(n) {
    if (n < 1) throw error(base::text("manta: rl: frame_stack needs at least one frame, not {}", n));
    box_of(e.observations(), "frame_stack");
  }
  [[nodiscard]] space observation_space() const {
    const box& one = *kind_.observations().as_box();
    box all;
    for (int i = 0; i < n_; ++i) {
      all.low.insert(all.low.end(), one.low.begin(), one.low.end());
      all.high.insert(all.high.end(), one.high.begin(), one.high.end());
    }
    all.shape = one.shape;
    all.bytes = one.bytes;
    all.is_soft = one.is_soft;
    if (!all.shape.empty()) all.shape[0] *= n_;
    return all;
  }
  observation reset(random& numbers) {
    wrapper::reset(numbers);
    frames_.clear();
    for (int i = 0; i < n_; ++i) frames_.insert(frames_.end(), raw_.begin(), raw_.end());
    return frames_;
  }
  rl::step<observation> step(std::span<const float> action) {
    rl::step<observation> s = wrapper::step(action);
    frames_.erase(frames_.begin(), frames_.begin() + std::ssize(raw_));
    frames_.insert(frames_.end(), raw_.begin(), raw_.end());
    s.observation = frames_;
    return s;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    wrapper::serialize(archive);
    archive(frames_);
  }

 private:
  int n_;
  observation frames_;
};

class sticky : public announcing_wrapper {
 public:
  sticky(const any_environment& e, double probability) : announcing_wrapper(e), probability_(probability) {}
  observation reset(random& numbers) {
    numbers_ = random(numbers.bits());
    action_.clear();
    is_chosen_ = false;
    return wrapper::reset(numbers);
  }
  void announce(std::span<const float> action) {
    choose(action);
    announcing_wrapper::announce(action_);
  }
  rl::step<observation> step(std::span<const float> action) {
    choose(action);
    is_chosen_ = false;
    return wrapper::step(action_);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    wrapper::serialize(archive);
    archive(numbers_, action_);
  }

 private:
  void choose(std::span<const float> action) {
    if (std::exchange(is_chosen_, true)) return;
    if (numbers_.uniform() < probability_ && !action_.empty() &&
        (!has_action_mask() || is_allowed(kind_.actions(), action_mask(), action_)))
      return;
    action_.assign(action.begin(), action.end());
  }
  double probability_;
  random numbers_;
  std::vector<float> action_;
  bool is_chosen_ = false;
};

class reward_clipped : public announcing_wrapper {
 public:
  reward_clipped(const any_environment& e, double low, double high) : announcing_wrapper(e), low_(low), high_(high) {
    if (!(low <= high)) throw error("manta: rl: clip_rewards needs a lower bound that is not above the upper one");
  }
  rl::step<observation> step(std::span<const float> action) {
    rl::step<observation> s = wrapper::step(action);
    if (base::is_finite(s.reward)) s.reward = std::clamp(s.reward, low_, high_);  // else: an error with its place
    return s;
  }

 private:
  double low_, high_;
};

class reward_scaled : public announcing_wrapper {
 public:
  reward_scaled(const any_environment& e, double factor) : announcing_wrapper(e), factor_(factor) {}
  rl::step<observation> step(std::span<const float> action) {
    rl::step<observation> s = wrapper::step(action);
    s.reward *= factor_;
    return s;
  }

 private:
  double factor_;
};

class observation_clipped : public announcing_wrapper {
 public:
  observation_clipped(const any_environment& e, float low, float high) : announcing_wrapper(e), low_(low), high_(high) {
    box_of(e.observations(), "clip_observations");
    if (!(low <= high)) throw error("manta: rl: clip_observations needs a lower bound that is not above the upper one");
  }
  [[nodiscard]] space observation_space() const {
    box b = *kind_.observations().as_box();
    for (float& x : b.low) x = std::clamp(x, low_, high_);
    for (float& x : b.high) x = std::clamp(x, low_, high_);
    return b;
  }
  observation reset(random& numbers) { return clipped(wrapper::reset(numbers)); }
  rl::step<observation> step(std::span<const float> action) {
    rl::step<observation> s = wrapper::step(action);
    s.observation = clipped(std::move(s.observation));
    return s;
  }

 private:
  [[nodiscard]] observation clipped(observation o) const {
    for (float& x : o)
      if (!base::is_nan(static_cast<double>(x))) x = std::clamp(x, low_, high_);
    return o;
  }
  float low_, high_;
};

class one_hot_encoded : public announcing_wrapper {
 public:
  explicit one_hot_encoded(const any_environment& e) : announcing_wrapper(e) {
    if (e.observations().as_box() != nullptr)
      throw error("manta: rl: one_hot needs observations that are choices; they are " + e.observations().text());
  }
  [[nodiscard]] space observation_space() const {
    const auto n = static_cast<std::size_t>(kind_.observations().features());
    return box{std::vector<float>(n, 0.f), std::vector<float>(n, 1.f)};
  }
  observation reset(random& numbers) { return encoded(wrapper::reset(numbers)); }
  rl::step<observation> step(std::span<const float> action) {
    rl::step<observation> s = wrapper::step(action);
    s.observation = encoded(s.observation);
    return s;
  }

 private:
  [[nodiscard]] observation encoded(const observation& o) const {
    if (!kind_.observations().contains(o))
      throw error("the observation " + text_of(o) + " is not in the observation space " + kind_.observations().text());
    observation features(static_cast<std::size_t>(kind_.observations().features()));
    kind_.observations().flatten(o, features.data());
    return features;
  }
};

class action_rescaled : public announcing_wrapper {
 public:
  explicit action_rescaled(const any_environment& e) : announcing_wrapper(e) {
    const box& b = box_of(e.actions(), "rescale_actions");
    for (std::size_t i = 0; i < b.low.size(); ++i) {
      if (!base::is_finite(static_cast<double>(b.low[i])) || !base::is_finite(static_cast<double>(b.high[i])))
        throw error("manta: rl: rescale_actions needs finite bounds; the actions are " + e.actions().text());
    }
  }
  [[nodiscard]] space action_space() const {
    const std::size_t n = kind_.actions().as_box()->low.size();
    return box{std::vector<float>(n, -1.f), std::vector<float>(n, 1.f)};
  }
  void announce(std::span<const float> action) { announcing_wrapper::announce(scaled(action)); }
  rl::step<observation> step(std::span<const float> action) { return wrapper::step(scaled(action)); }

 private:
  [[nodiscard]] std::vector<float> scaled(std::span<const float> action) const {
    const box& b = *kind_.actions().as_box();
    std::vector<float> a(action.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i] = b.low[i] + (std::clamp(action[i], -1.f, 1.f) + 1) / 2 * (b.high[i] - b.low[i]);
    return a;
  }
};

}  // namespace detail

MANTA_DECL any_environment frame_stack(const any_environment& e, int n) {
  return wrap_as<detail::frame_stacked>("frame_stack", e, n);
}
MANTA_DECL any_environment sticky_actions(const any_environment& e, double probability) {
  return wrap_as<detail::sticky>("sticky_actions", e, probability);
}
MANTA_DECL any_environment clip_rewards(const any_environment& e, double low, double high) {
  return wrap_as<detail::reward_clipped>("clip_rewards", e, low, high);
}
MANTA_DECL any_environment scale_rewards(const any_environment& e, double factor) {
  return wrap_as<detail::reward_scaled>("scale_rewards", e, factor);
}
MANTA_DECL any_environment clip_observations(const any_environment& e, float low, float high) {
  return wrap_as<detail::observation_clipped>("clip_observations", e, low, high);
}
MANTA_DECL any_environment one_hot(const any_environment& e) { return wrap_as<detail::one_hot_encoded>("one_hot", e); }
MANTA_DECL any_environment rescale_actions(const any_environment& e) {
  return wrap_as<detail::action_rescaled>("rescale_actions", e);
}

}  // namespace manta::rl
