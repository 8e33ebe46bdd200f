// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Environments. Any class with these members is one; nothing to inherit, nothing to register:
//
//   struct corridor {
//     static rl::box observation_space() { return {{0.f}, {10.f}}; }
//     static rl::discrete action_space() { return {2}; }
//     Eigen::VectorXf reset(rl::random& random);            // begins an episode
//     rl::step<Eigen::VectorXf> step(int action);           // observation, reward, terminated, truncated
//   };
//   rl::ppo algorithm(rl::environment<corridor>(), {.seed = 1});
//
// Observations are Eigen vectors, std::array or std::vector of floats, a number, or an int where the space is discrete;
// of a dict also its parts by their names (rl::dict_values). Actions are an int where the space is discrete, else an
// Eigen vector, a std::vector<float>, a span of const float, or a float; of a dict also rl::dict_values. A class with
// `serialize` has its state saved in checkpoints, so that training goes on in the middle of its episodes. More members
// may be there: `std::string text() const`, a picture of the state; `std::map<std::string, double> figures()`, asked at
// the end of each episode, whose means are in the reports; and `action_mask()`, which choices are allowed in the
// present state: a range of bool, or of 0 and 1, for each choice of rl::discrete, or of all parts of rl::multi_discrete
// or rl::multi_binary one after the other. It is asked after reset() and each step() that does not terminate the
// episode, and no policy takes what it forbids.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "manta/rl/environments/constructed.hpp"
#include "manta/rl/environments/environment_class.hpp"

namespace manta::rl {

/// An environment as a value, which can be copied, sent and saved: rl::environment<E>(..), or the name of a registered
/// one, such as "CartPole-v1".
class any_environment : public detail::constructed {
 public:
  any_environment() = default;
  /// Throws manta::error if there is none of this name; the text has the names that there are.
  MANTA_DECL any_environment(const char* name);
  MANTA_DECL any_environment(const std::string& name);

  [[nodiscard]] const space& observations() const { return observations_; }
  [[nodiscard]] const space& actions() const { return actions_; }
  /// The numbers of a mask of its actions; 0 where the class has no action_mask().
  [[nodiscard]] int mask_size() const { return mask_size_; }
  /// The environment under another name, for messages.
  [[nodiscard]] any_environment with_name(const std::string& name) const {
    any_environment e = *this;
    e.name_ = name;
    return e;
  }
  /// This environment with another limit.
  [[nodiscard]] any_environment with_time_limit(int steps) const {
    any_environment e = *this;
    e.time_limit_ = steps;
    return e;
  }
  /// A new object of the class, on this rank. Throws if this program does not have the class.
  [[nodiscard]] MANTA_DECL std::unique_ptr<simulation> make() const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(name_, mangled_, arguments_, call_, time_limit_, mask_size_, observations_, actions_);
  }

 protected:
  static any_environment made(constructed its) { return any_environment(std::move(its)); }
  MANTA_DECL explicit any_environment(constructed&& its);

 private:
  int mask_size_ = 0;
  space observations_, actions_;
};

/// Gives an environment a name, for any_environment("name"). To be called on every rank that uses the name, such as
/// before manta::run; a second environment of the name replaces the first one.
MANTA_DECL void register_environment(const std::string& name, const any_environment& e);
/// The names that there are.
MANTA_DECL std::vector<std::string> environment_names();
/// The environment of this name; the same as any_environment(name).
inline any_environment make(const std::string& name) { return name; }

/// The environments of class E, each constructed with these arguments. The arguments have to be
/// serialisable, for environments are made on the ranks of the workers.
template <class E>
class environment : public any_environment {
 public:
  template <class... Args>
  explicit environment(const Args&... args) : any_environment(value(manta::detail::constructor_value(args)...)) {}

 private:
  template <class... Args>
  static any_environment value(Args... args) {
    static_assert(detail::is_made_of<E, Args...>(),
                  "manta: rl: rl::environment<E>(arguments..) passes its arguments to a constructor of E, or to the "
                  "members of an aggregate, and E has none for these");
    if constexpr (detail::require_environment<E>() && detail::is_made_of<E, Args...>()) {
      const std::tuple<Args...> arguments(std::move(args)...);
      return made(constructed::from<E, detail::environment_entry<E, Args...>>(arguments));
    } else {
      return {};
    }
  }
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/environments/environment.ipp"
#endif
