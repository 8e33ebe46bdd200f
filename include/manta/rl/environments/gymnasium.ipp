// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <tuple>

#include "manta/rl/environments/gymnasium_process.ipp"

namespace manta::rl {

namespace detail {

/// The Python processes of this rank. Those that nobody has a place in live on for the next task, evaluation or
/// training, as long as there are not many of them.
class gymnasium_processes {
 public:
  static gymnasium_processes& here() {
    static gymnasium_processes all;
    return all;
  }
  /// A process of this kind with a free place, and the place.
  std::pair<std::shared_ptr<gymnasium_process>, int> take(const std::string& name, const gymnasium_options& o) {
    const std::lock_guard lock(mutex_);
    for (const auto& p : all_) {
      if (!p->is_of(name, o)) continue;
      if (const int place = p->take_place(); place >= 0) return {p, place};
    }
    end_idle();
    all_.push_back(std::make_shared<gymnasium_process>(name, o));
    return {all_.back(), all_.back()->take_place()};
  }

 private:
  static constexpr std::size_t most_idle = 4;
  /// Ends those that have failed, and the oldest ones where many are idle.
  void end_idle() {
    std::erase_if(all_, [](const auto& p) { return p->has_failed() && p->is_idle(); });
    auto idle = static_cast<std::size_t>(std::ranges::count_if(all_, [](const auto& p) { return p->is_idle(); }));
    std::erase_if(all_, [&](const auto& p) { return idle > most_idle && p->is_idle() && idle-- > 0; });
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<gymnasium_process>> all_;  ///< the oldest first
};

class gymnasium_environment {
 public:
  gymnasium_environment(const std::string& name, const gymnasium_options& options) {
    std::tie(process_, place_) = gymnasium_processes::here().take(name, options);
  }
  gymnasium_environment(gymnasium_environment&& other) noexcept
      : place_(std::exchange(other.place_, -1)), process_(std::move(other.process_)) {}
  ~gymnasium_environment() {
    if (process_ == nullptr) return;
    process_->give_place(place_);
  }

  [[nodiscard]] space observation_space() const { return process_->observations(); }
  [[nodiscard]] space action_space() const { return process_->actions(); }
  std::vector<float> reset(random& numbers) {
    return process_->reset(place_, static_cast<std::uint32_t>(numbers.bits() >> 33U));
  }
  [[nodiscard]] bool has_action_mask() const { return process_->mask_size() > 0; }
  [[nodiscard]] std::vector<unsigned char> action_mask() const { return process_->mask(place_); }
  void announce(std::span<const float> action) { process_->announce(place_, action); }
  rl::step<std::vector<float>> step(std::span<const float> action) {
    process_->announce(place_, action);  // nothing if that was done
    gymnasium_process::result r = process_->step(place_);
    return {std::move(r.observation), r.reward, r.terminated, r.truncated};
  }

 private:
  int place_ = -1;
  std::shared_ptr<gymnasium_process> process_;
};

}  // namespace detail

MANTA_DECL any_environment gymnasium(const std::string& name, const gymnasium_options& options) {
  try {
    return environment<detail::gymnasium_environment>(name, options).with_name(name);
  } catch (const std::exception& e) {
    throw error(base::text("manta: rl: gymnasium(\"{}\"): {}{}", name, python_package_advice(e.what()), e.what()));
  }
}

}  // namespace manta::rl
