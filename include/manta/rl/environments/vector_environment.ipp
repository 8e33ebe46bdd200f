// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/base/require.hpp"
#include "manta/rl/environments/vector_environment.hpp"

namespace manta::rl {

MANTA_DECL vector_environment::vector_environment(const any_environment& e, std::uint64_t seed, int first, int count)
    : kind_(e),
      seed_(seed),
      lanes_(static_cast<std::size_t>(count)),
      workplace_(std::make_unique<detail::workplace>(e.name())),
      raw_(static_cast<std::size_t>(e.observations().size())) {
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    lanes_[i] = {.object = kind_.make(), .number = static_cast<std::uint64_t>(first) + i};
  observations_.setZero(e.observations().features(), count);
  last_ = observations_;
  masks_.setOnes(e.mask_size(), count);
  last_masks_ = masks_;
  rewards_.resize(lanes_.size());
  terminated_.resize(lanes_.size());
  truncated_.resize(lanes_.size());
}

MANTA_DECL void detail::fail_at(const any_environment& e, std::uint64_t number, std::uint64_t episode,
                                std::uint64_t step, const std::string& what) {
  throw error(
      base::text("manta: rl: environment {} ({}), episode {}, step {}: {}", number, e.name(), episode, step, what));
}

MANTA_DECL std::string detail::mistake_in_reward(double x) {
  if (base::is_nan(x)) return "the reward is NaN";
  if (!base::is_finite(x)) return "the reward is infinite";
  return base::text("the reward is {}; learners square sums of rewards in 32 bits: scale it, to {} at most", x,
                    most_reward);
}

MANTA_DECL void vector_environment::fail(const lane& l, const std::string& what) const {
  detail::fail_at(kind_, l.number, l.episode, l.steps, what);
}

template <class F>
void vector_environment::guarded(const lane& l, const char* call, F&& f) const {
  workplace_->enter(call, l.number, l.episode, l.steps);
  try {
    f();
  } catch (const std::exception& e) {
    workplace_->leave();
    fail(l, e.what());
  } catch (...) {
    workplace_->leave();
    fail(l, base::text("{} has thrown what is no std::exception", call));
  }
  workplace_->leave();
}

inline void vector_environment::check(const lane& l, std::span<const float> observation) const {
  if (kind_.observations().contains(observation)) return;
  fail(l, base::text("the observation {} is not in the observation space {}", detail::text_of(observation),
                     kind_.observations().text()));
}

inline void vector_environment::ask_mask(std::size_t i, action_masks& to) const {
  if (to.rows() == 0) return;
  const lane& l = lanes_[i];
  const std::span<unsigned char> mask(to.col(static_cast<Eigen::Index>(i)).data(), static_cast<std::size_t>(to.rows()));
  guarded(l, "action_mask()", [&] {
    l.object->allowed(mask);
    detail::check_mask(kind_.actions(), mask);
  });
}

inline void vector_environment::begin(std::size_t i) {
  lane& l = lanes_[i];
  l.steps = 0;
  l.total = 0;
  random numbers(seed_, l.number, l.episode);
  guarded(l, "reset()", [&] { l.object->reset(numbers, raw_); });
  check(l, raw_);
  kind_.observations().flatten(raw_, observations_.col(static_cast<Eigen::Index>(i)).data());
  ask_mask(i, masks_);
}

MANTA_DECL void vector_environment::reset() {
  for (std::size_t i = 0; i < lanes_.size(); ++i) begin(i);
}
MANTA_DECL void vector_environment::begin_episode(std::size_t i, std::uint64_t number, std::uint64_t episode) {
  lane& l = lanes_[i];
  l.number = number;
  l.episode = episode;
  l.is_over = false;
  begin(i);
}
MANTA_DECL int vector_environment::playing() const {
  return static_cast<int>(std::count_if(lanes_.begin(), lanes_.end(), [](const lane& l) { return !l.is_over; }));
}

MANTA_DECL void vector_environment::step(const nn::matrix<float>& actions) {
  const auto action_of = [&](std::size_t i) {
    return std::span<const float>(actions.col(static_cast<Eigen::Index>(i)).data(),
                                  static_cast<std::size_t>(actions.rows()));
  };
  if (!lanes_.empty() && lanes_.front().object->wants_announcements()) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (!lanes_[i].is_over) guarded(lanes_[i], "step()", [&] { lanes_[i].object->announce(action_of(i)); });
    }
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (!lanes_[i].is_over) step(i, action_of(i));
  }
}

inline void vector_environment::step(std::size_t i, std::span<const float> action) {
  lane& l = lanes_[i];
  const auto column = static_cast<Eigen::Index>(i);
  simulation::outcome o;
  guarded(l, "step()", [&] { o = l.object->step(action, raw_); });
  if (!detail::is_reward(o.reward)) fail(l, detail::mistake_in_reward(o.reward));
  check(l, raw_);
  if (!o.terminated) ask_mask(i, masks_);
  ++l.steps;
  ++l.all_steps;
  l.total += o.reward;
  if (!o.terminated && kind_.time_limit() > 0 && l.steps >= static_cast<std::uint64_t>(kind_.time_limit()))
    o.truncated = true;
  rewards_[i] = o.reward;
  terminated_[i] = o.terminated;
  truncated_[i] = o.truncated && !o.terminated;
  kind_.observations().flatten(raw_, observations_.col(column).data());
  if (!o.terminated && !o.truncated) return;
  last_.col(column) = observations_.col(column);
  if (masks_.rows() > 0) last_masks_.col(column) = masks_.col(column);
  guarded(l, "figures()", [&] { ended_.push_back({l.total, l.steps, l.all_steps, l.number, l.object->figures()}); });
  if (plays_once_) {
    l.is_over = true;
    return;
  }
  ++l.episode;
  begin(i);
}

MANTA_DECL void vector_environment::fail_endless(int steps) const {
  const lane& endless = *std::find_if(lanes_.begin(), lanes_.end(), [](const lane& l) { return !l.is_over; });
  fail(endless, base::text("the episode has not ended within {} steps, and has no return before it does; give the "
                           "environment a limit, such as rl::environment<E>().with_time_limit(1000)",
                           steps));
}

MANTA_DECL void vector_environment::require_finite(const nn::matrix<float>& outputs) const {
  for (Eigen::Index i = 0; i < outputs.cols(); ++i) {
    if (!detail::all_finite({outputs.col(i).data(), static_cast<std::size_t>(outputs.rows())}))
      fail(i, base::text("the outputs of the policy's network are {}", detail::divergence()));
  }
}

namespace detail {
MANTA_DECL std::vector<std::pair<int, int>> shares(int environments, int workers) {
  std::vector<std::pair<int, int>> parts;
  for (int i = 0; i < workers; ++i) {
    const int first = environments * i / workers, last = environments * (i + 1) / workers;
    if (last > first) parts.emplace_back(first, last - first);
  }
  return parts;
}
}  // namespace detail

MANTA_DECL std::vector<episode> vector_environment::take_episodes() { return std::exchange(ended_, {}); }

MANTA_DECL std::string vector_environment::save(std::size_t i) const {
  if (!can_be_saved())
    throw error(
        base::text("manta: rl: the environment {} has no serialize, so a training in it cannot be saved; give its "
                   "class a serialize of its state",
                   kind_.name()));
  const lane& l = lanes_[i];
  const float* const o = observations_.col(static_cast<Eigen::Index>(i)).data();
  const mask_view m = detail::mask_of(masks_, static_cast<Eigen::Index>(i));
  return output::pack(l.object->save(), l.episode, l.steps, l.all_steps, l.total,
                      std::vector<float>(o, o + observations_.rows()), std::vector<unsigned char>(m.begin(), m.end()));
}

MANTA_DECL void vector_environment::load(std::size_t i, const std::string& bytes) {
  lane& l = lanes_[i];
  std::string object;
  std::vector<float> observation;
  std::vector<unsigned char> mask;
  output::unpack(bytes, object, l.episode, l.steps, l.all_steps, l.total, observation, mask);
  l.object->load(object);
  std::copy(observation.begin(), observation.end(), observations_.col(static_cast<Eigen::Index>(i)).data());
  std::copy(mask.begin(), mask.end(), masks_.data() + masks_.rows() * static_cast<Eigen::Index>(i));
}

}  // namespace manta::rl
