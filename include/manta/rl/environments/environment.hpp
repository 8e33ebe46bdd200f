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
//   rl::ppo algorithm(rl::environment<corridor>());
//
// Observations are Eigen vectors, std::array or std::vector of floats, a number, or an int where the space is discrete.
// Actions are an int where the space is discrete, else an Eigen vector, a std::vector<float>, a span of const float, or
// a float. A class with `serialize` has its state saved in checkpoints, so that training goes on in the middle of its
// episodes. More members may be there: `std::string text() const`, a picture of the state;
// `std::map<std::string, double> figures()`, asked at the end of each episode, whose means are in the reports; and
// `action_mask()`, which choices are allowed in the present state: a range of bool, or of 0 and 1, for each choice of
// rl::discrete, or of all parts of rl::multi_discrete or rl::multi_binary one after the other. It is asked after
// reset() and each step() that does not terminate the episode, and no policy takes what it forbids.
#pragma once

#include <cereal/archives/binary.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/tuple.hpp>
#include <cereal/types/vector.hpp>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <tuple>
#include <typeinfo>

#include "manta/base/demangle.hpp"
#include "manta/nn/module.hpp"
#include "manta/own.hpp"
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

namespace detail {

/// An environment at work, of whatever class, on plain floats.
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

/// What an environment tells of itself.
struct environment_face {
  space observations, actions;
  bool has_mask = false;
};
/// What a class of environments is for a rank: what can be made of constructor arguments, which come as bytes.
struct environment_class {
  environment_face (*describe)(const std::string& arguments);
  std::unique_ptr<simulation> (*make)(const std::string& arguments);
};

/// Classes are known by their names under the compiler, which are the same on all ranks of a program. To be called
/// before main.
MANTA_DECL bool register_environment_class(const char* mangled, environment_class c);

}  // namespace detail

/// An environment as a value, which can be copied, sent and saved: rl::environment<E>(..), or the name of a registered
/// one, such as "CartPole-v1".
class any_environment {
 public:
  any_environment() = default;
  /// Throws manta::error if there is none of this name; the text has the names that there are.
  MANTA_DECL any_environment(const char* name);
  MANTA_DECL any_environment(const std::string& name);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const space& observations() const { return observations_; }
  [[nodiscard]] const space& actions() const { return actions_; }
  /// The numbers of a mask of its actions; 0 where the class has no action_mask().
  [[nodiscard]] int mask_size() const { return mask_size_; }
  /// Episodes are truncated after this number of steps; 0: never.
  [[nodiscard]] int time_limit() const { return time_limit_; }
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
  [[nodiscard]] MANTA_DECL std::unique_ptr<detail::simulation> make() const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(name_, mangled_, arguments_, time_limit_, mask_size_, observations_, actions_);
  }

 protected:
  static any_environment made(std::string name, const char* mangled, std::string arguments) {
    return {std::move(name), mangled, std::move(arguments)};
  }
  MANTA_DECL any_environment(std::string name, const char* mangled, std::string arguments);

 private:
  std::string name_, mangled_, arguments_;
  int time_limit_ = 0, mask_size_ = 0;
  space observations_, actions_;
};

/// Gives an environment a name, for any_environment("name"). To be called on every rank that uses the name, such as
/// before manta::run; a second environment of the name replaces the first one.
MANTA_DECL void register_environment(const std::string& name, const any_environment& e);
/// The names that there are.
MANTA_DECL std::vector<std::string> environment_names();
/// The environment of this name; the same as any_environment(name).
inline any_environment make(const std::string& name) { return name; }

namespace detail {

/// The class has a serialize, or save and load, of its own.
template <class E>
inline constexpr bool is_saved = cereal::traits::is_output_serializable<E, cereal::BinaryOutputArchive>::value&&
                                     cereal::traits::is_input_serializable<E, cereal::BinaryInputArchive>::value &&
                                 !std::is_empty_v<E>;

/// Throws if an observation has the wrong number of numbers.
MANTA_DECL void check_size(std::size_t got, std::size_t expected);

template <class Observation>
void write_observation(const Observation& o, std::span<float> to) {
  if constexpr (std::is_arithmetic_v<Observation> || std::is_enum_v<Observation>) {
    check_size(1, to.size());
    to[0] = static_cast<float>(o);
  } else if constexpr (requires { o.data(); }) {
    check_size(static_cast<std::size_t>(o.size()), to.size());
    const auto* from = o.data();
    for (float& x : to) x = static_cast<float>(*from++);
  } else {  // an expression of Eigen
    write_observation(o.eval(), to);
  }
}

template <class E>
class simulation_of final : public simulation {
 public:
  using action_space = std::remove_cvref_t<decltype(std::declval<const E&>().action_space())>;

  explicit simulation_of(E e) : e_(std::move(e)) {}

  void reset(random& numbers, std::span<float> observation) override {
    write_observation(e_.reset(numbers), observation);
  }

  outcome step(std::span<const float> action, std::span<float> observation) override {
    const auto result = [&] {
      if constexpr (std::is_same_v<action_space, discrete>) {
        return e_.step(static_cast<int>(action[0]));
      } else if constexpr (requires { e_.step(action); }) {
        return e_.step(action);
      } else if constexpr (requires(const Eigen::VectorXf& v) { e_.step(v); }) {
        return e_.step(Eigen::VectorXf(Eigen::Map<const Eigen::VectorXf>(action.data(), std::ssize(action))));
      } else if constexpr (requires(std::vector<float> v) { e_.step(v); }) {
        return e_.step(std::vector<float>(action.begin(), action.end()));
      } else if constexpr (requires(std::vector<int> v) { e_.step(v); }) {
        return e_.step(std::vector<int>(action.begin(), action.end()));
      } else {
        return e_.step(action[0]);
      }
    }();
    write_observation(result.observation, observation);
    return {result.reward, result.terminated, result.truncated};
  }

  void announce(std::span<const float> action) override {
    if constexpr (requires { e_.announce(action); }) e_.announce(action);
  }
  [[nodiscard]] bool wants_announcements() const override {
    if constexpr (requires { bool(e_.wants_announcements()); }) {
      return e_.wants_announcements();  // such as a wrapper, which depends on what is in it
    } else {
      return requires(E & e, std::span<const float> action) { e.announce(action); };
    }
  }

  void allowed(std::span<unsigned char> mask) override {
    if constexpr (requires { e_.action_mask(); }) {
      write_mask(e_.action_mask(), mask);
    } else {
      (void)mask;
    }
  }

  [[nodiscard]] bool can_be_saved() const override {
    if constexpr (requires { bool(e_.can_be_saved()); }) {
      return e_.can_be_saved();
    } else {
      return detail::is_saved<E>;
    }
  }
  [[nodiscard]] std::string save() const override {
    std::ostringstream out(std::ios::binary);
    if constexpr (detail::is_saved<E>) {
      cereal::BinaryOutputArchive archive(out);
      archive(e_);
    }
    return std::move(out).str();
  }
  void load(const std::string& state) override {
    if constexpr (detail::is_saved<E>) {
      std::istringstream in(state, std::ios::binary);
      cereal::BinaryInputArchive archive(in);
      archive(e_);
    } else {
      (void)state;
    }
  }
  std::map<std::string, double> figures() override {
    if constexpr (requires { std::map<std::string, double>(e_.figures()); }) {
      return e_.figures();
    } else {
      return {};
    }
  }
  [[nodiscard]] std::string text() const override {
    if constexpr (requires { std::string(e_.text()); }) {
      return e_.text();
    } else {
      return {};
    }
  }

 private:
  E e_;
};

template <class E>
constexpr bool require_environment() {
  constexpr bool has_spaces = requires(const E& e) {
    space(e.observation_space());
    space(e.action_space());
  };
  static_assert(
      has_spaces,
      "manta: rl: an environment needs observation_space() and action_space(), which give rl::box, rl::discrete, "
      "rl::multi_discrete, rl::multi_binary, rl::tuple or rl::dict");
  constexpr bool has_reset = requires(E & e, random & r) { e.reset(r); };
  static_assert(has_reset,
                "manta: rl: an environment needs reset(rl::random& random), which begins an episode and gives its "
                "first observation");
  constexpr bool has_step = [] {
    if constexpr (!has_spaces) {
      return true;
    } else {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(std::declval<const E&>().action_space())>, discrete>) {
        return requires(E & e) { e.step(0).observation; };
      } else {
        return requires(E & e, std::span<const float> a) { e.step(a).observation; }
        || requires(E & e, const Eigen::VectorXf& a) { e.step(a).observation; }
        || requires(E & e, std::vector<float> a) { e.step(a).observation; }
        || requires(E & e, std::vector<int> a) { e.step(a).observation; }
        || requires(E & e) { e.step(0.f).observation; };
      }
    }
  }();
  static_assert(has_step,
                "manta: rl: an environment needs step(action), which gives rl::step: observation, reward, terminated, "
                "truncated. The action is an int where action_space() is rl::discrete, else an Eigen::VectorXf, a "
                "std::vector<float>, a std::vector<int> or a float");
  constexpr bool mask_is_range = [] {
    if constexpr (requires(E & e) { e.action_mask(); }) {
      return mask_range<std::remove_reference_t<decltype(std::declval<E&>().action_mask())>>;
    } else {
      return true;
    }
  }();
  static_assert(mask_is_range,
                "manta: rl: action_mask() of an environment has to give a range of bool, or of 0 and 1, such as "
                "std::vector<bool>: which choices are allowed");
  return has_spaces && has_reset && has_step && mask_is_range;
}

template <class E, class... Args>
constexpr bool is_made_of() {
  return std::is_constructible_v<E, Args...> || requires(Args & ... a) { E{std::move(a)...}; };
}

/// Environments of class E that are made from these arguments.
template <class E, class... Args>
struct environment_entry {
  static E build(const std::string& arguments) {
    std::tuple<Args...> values;
    if constexpr (sizeof...(Args) > 0) {  // evolution strategies make an object for each episode
      std::istringstream in(arguments, std::ios::binary);
      cereal::BinaryInputArchive archive(in);
      archive(values);
    }
    return std::apply(
        [](auto&... a) {
          if constexpr (std::is_constructible_v<E, Args...>) {
            return E(std::move(a)...);
          } else {
            return E{std::move(a)...};
          }
        },
        values);
  }
  static std::unique_ptr<simulation> make(const std::string& arguments) {
    return std::make_unique<simulation_of<E>>(build(arguments));
  }
  static environment_face describe(const std::string& arguments) {
    const E e = build(arguments);
    return {e.observation_space(), e.action_space(), has_mask(e)};
  }
  static bool enter() { return register_environment_class(typeid(environment_entry).name(), {&describe, &make}); }
  static inline const bool registered = enter();
};

}  // namespace detail

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
      using entry = detail::environment_entry<E, Args...>;
      if (!entry::registered) entry::enter();  // an object of static storage asks
      std::ostringstream out(std::ios::binary);
      {
        cereal::BinaryOutputArchive archive(out);
        archive(std::tuple<Args...>(std::move(args)...));
      }
      return made(base::demangle(typeid(E).name()), typeid(entry).name(), std::move(out).str());
    } else {
      return {};
    }
  }
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/environments/environment.ipp"
#endif
