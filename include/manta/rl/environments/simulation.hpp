// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// An environment at work, of whatever class, on plain floats. Programs that drive environments by themselves use it;
// any_environment::make gives one.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "manta/rl/environments/action_mask.hpp"
#include "manta/rl/environments/space.hpp"

namespace manta::rl {

/// What a step of an environment gives. `terminated`: the episode has ended, and nothing comes after it. `truncated`:
/// it is cut off, as by a limit of time, though it could go on; its last state still has a value.
template <class Observation>
struct step {
  Observation observation;
  double reward = 0;
  bool terminated = false;
  bool truncated = false;
};

class simulation {
 public:
  struct outcome {
    double reward = 0;
    bool terminated = false, truncated = false;
  };
  virtual ~simulation() = default;
  /// Both write observation_space().size() floats. They throw manta::error if there are more or fewer.
  virtual void reset(random& numbers, std::span<float> observation) = 0;
  virtual outcome step(std::span<const float> action, std::span<float> observation) = 0;
  /// The action of the coming step, told for all environments of a vector before the first of them is stepped: one that
  /// lives in another process begins.
  virtual void announce(std::span<const float> action) = 0;
  [[nodiscard]] virtual bool wants_announcements() const = 0;
  /// The choices that are allowed in the present state, where the class has an action_mask(): mask_size() numbers.
  /// Throws manta::error if there are more or fewer.
  virtual void allowed(std::span<unsigned char> mask) = 0;
  /// The object's state, where its class is serialisable.
  [[nodiscard]] virtual bool can_be_saved() const = 0;
  [[nodiscard]] virtual std::string save() const = 0;
  virtual void load(const std::string& state) = 0;
  /// The class's own figures of an episode that has ended; none where it has no member figures().
  virtual std::map<std::string, double> figures() = 0;
  /// A picture of the state in text; empty where the class has no member `std::string text() const`.
  [[nodiscard]] virtual std::string text() const = 0;
};

namespace detail {

/// What an environment tells of itself.
struct environment_face {
  space observations, actions;
  bool has_mask = false;
  bool takes_one_number = false;  ///< step(action) takes an int or a float
};
/// What a class of environments is for a rank: what can be made of constructor arguments, which come as bytes.
struct environment_class {
  environment_face (*describe)(const std::string& arguments);
  std::unique_ptr<simulation> (*make)(const std::string& arguments);
};

/// Classes are known by their names under the compiler, which are the same on all ranks of a program. To be
/// called before main.
MANTA_DECL bool register_environment_class(const char* mangled, environment_class c);

}  // namespace detail

}  // namespace manta::rl
