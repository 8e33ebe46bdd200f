// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Callbacks that see each step, on the ranks of the workers. Any class with some of these members:
//
//   struct heights {
//     float highest = -2;
//     void on_begin(std::span<const float> observation) { highest = observation[0]; }
//     void on_step(const rl::seen_step& s) { highest = std::max(highest, s.observation[0]); }
//     std::map<std::string, double> on_episode() { return {{"highest", highest}}; }
//     template <class Archive> void serialize(Archive& archive) { archive(highest); }
//   };
//   rl::ppo algorithm(rl::callbacks<heights>("MountainCar-v0"));
//
// Each environment has an object of the class, which is made, sent and saved with it. Means of what on_episode gives
// are in the reports' figures. For what the driver alone has to see there are algorithm::on_episode and on_iteration.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>

#include "manta/rl/environments/wrapper.hpp"

namespace manta::rl {

/// A step as a callback sees it: the action, and what it led to.
struct seen_step {
  std::span<const float> observation, action;
  double reward = 0;
  bool terminated = false, truncated = false;  ///< without limits of steps
};

namespace detail {

template <class C>
inline constexpr bool has_on_begin = requires(C& c, std::span<const float> o) {
  c.on_begin(o);
};
template <class C>
inline constexpr bool has_on_step = requires(C& c, const seen_step& s) {
  c.on_step(s);
};
template <class C>
inline constexpr bool has_on_episode = requires(C& c) {
  std::map<std::string, double>(c.on_episode());
};

template <class C>
class called_back : public announcing_wrapper {
 public:
  template <class... Args>
  explicit called_back(const any_environment& e, Args... args) : announcing_wrapper(e), c_{std::move(args)...} {}

  observation reset(random& numbers) {
    wrapper::reset(numbers);
    if constexpr (has_on_begin<C>) c_.on_begin(raw_);
    return raw_;
  }
  rl::step<observation> step(std::span<const float> action) {
    rl::step<observation> s = wrapper::step(action);
    if constexpr (has_on_step<C>) c_.on_step({s.observation, action, s.reward, s.terminated, s.truncated});
    return s;
  }
  std::map<std::string, double> figures() {
    std::map<std::string, double> all = wrapper::figures();
    if constexpr (has_on_episode<C>) {
      for (auto& [name, value] : c_.on_episode()) all[name] = value;
    }
    return all;
  }
  [[nodiscard]] bool can_be_saved() const { return (is_saved<C> || std::is_empty_v<C>)&&wrapper::can_be_saved(); }
  template <class Archive>
  void serialize(Archive& archive) {
    wrapper::serialize(archive);
    if constexpr (is_saved<C>) archive(c_);
  }

 private:
  C c_;
};

}  // namespace detail

/// An environment whose steps an object of C{args...} sees. The arguments have to be serialisable.
template <class C, class... Args>
any_environment callbacks(const any_environment& e, const Args&... args) {
  constexpr bool has_any = detail::has_on_begin<C> || detail::has_on_step<C> || detail::has_on_episode<C>;
  static_assert(has_any,
                "manta: rl: a class of callbacks needs on_begin(std::span<const float> observation), "
                "on_step(const rl::seen_step&) or std::map<std::string, double> on_episode()");
  if constexpr (has_any) {
    return wrap_as<detail::called_back<C>>("callbacks", e, args...);
  } else {
    return e;
  }
}

}  // namespace manta::rl
