// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What environment.hpp makes of a class: a simulation that calls its members, and sentences for what they lack.
#pragma once

#include <cereal/archives/binary.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/tuple.hpp>
#include <cereal/types/vector.hpp>
#include <concepts>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>

#include "manta/nn/module.hpp"
#include "manta/rl/environments/simulation.hpp"

namespace manta::rl {

/// A value of rl::dict by the names of its parts, for environments that give observations or take actions in this form.
using dict_values = std::map<std::string, std::vector<float>>;

namespace detail {

/// The class has a serialize, or save and load, of its own.
template <class E>
inline constexpr bool is_saved = cereal::traits::is_output_serializable<E, cereal::BinaryOutputArchive>::value&&
                                     cereal::traits::is_input_serializable<E, cereal::BinaryInputArchive>::value &&
                                 !std::is_empty_v<E>;

/// Throws if an observation has the wrong number of numbers.
MANTA_DECL void check_size(std::size_t got, std::size_t expected);
/// Writes the parts one after the other. Throws if names or sizes are not those of the dict.
MANTA_DECL void write_parts(const dict_values& value, const space& of, std::span<float> to);
/// The parts of a value by their names.
MANTA_DECL dict_values parts_by_name(std::span<const float> value, const space& of);

/// What an observation, or a mask of any length, can be made of.
template <class Observation>
concept number_like = std::is_arithmetic_v<Observation> || std::is_enum_v<Observation>;
template <class Observation>
concept array_of_numbers = requires(const Observation& o) {
  static_cast<float>(*o.data());
  static_cast<std::size_t>(o.size());
};
template <class Observation>
concept eigen_expression = requires(const Observation& o) {
  { o.eval() } -> array_of_numbers;
};
template <class Observation>
concept readable_observation =
    number_like<Observation> || array_of_numbers<Observation> || eigen_expression<Observation>;

template <class Observation>
void write_observation(const Observation& o, std::span<float> to) {
  if constexpr (number_like<Observation>) {
    check_size(1, to.size());
    to[0] = static_cast<float>(o);
  } else if constexpr (array_of_numbers<Observation>) {
    check_size(static_cast<std::size_t>(o.size()), to.size());
    const auto* from = o.data();
    for (float& x : to) x = static_cast<float>(*from++);
  } else {
    write_observation(o.eval(), to);
  }
}

template <class E>
using action_space_of = std::remove_cvref_t<decltype(std::declval<const E&>().action_space())>;
template <class E>
using observation_space_of = std::remove_cvref_t<decltype(std::declval<const E&>().observation_space())>;

/// Converts to numbers with a point alone: a step that takes it does not cut fractions off.
struct any_fraction {
  template <std::floating_point T>
  operator T() const;
};

/// In which form a class takes its actions.
enum class action_form { none, choice, span, eigen, floats, ints, parts, one_number };
template <class E>
constexpr action_form form_of_actions() {
  if constexpr (std::is_same_v<action_space_of<E>, discrete>) {
    return requires(E & e) { e.step(0).observation; }
    ? action_form::choice : action_form::none;
  } else if constexpr (requires(E & e, std::span<const float> a) { e.step(a).observation; }) {
    return action_form::span;
  } else if constexpr (requires(E & e, const Eigen::VectorXf& a) { e.step(a).observation; }) {
    return action_form::eigen;
  } else if constexpr (requires(E & e, std::vector<float> a) { e.step(a).observation; }) {
    return action_form::floats;
  } else if constexpr (requires(E & e, std::vector<int> a) { e.step(a).observation; }) {
    return action_form::ints;
  } else if constexpr (requires(E & e, const dict_values& a) { e.step(a).observation; }) {
    return action_form::parts;
  } else {
    return requires(E & e) { e.step(0.f).observation; }
    ? action_form::one_number : action_form::none;
  }
}

/// Calls step() with an action in the form that the class takes. `actions`: their space, which is read where the
/// form has parts.
template <class E>
auto call_step(E& e, std::span<const float> action, [[maybe_unused]] const space* actions) {
  constexpr action_form form = form_of_actions<E>();
  if constexpr (form == action_form::span) {
    return e.step(action);
  } else if constexpr (form == action_form::eigen) {
    return e.step(Eigen::VectorXf(Eigen::Map<const Eigen::VectorXf>(action.data(), std::ssize(action))));
  } else if constexpr (form == action_form::floats) {
    return e.step(std::vector<float>(action.begin(), action.end()));
  } else if constexpr (form == action_form::ints) {
    return e.step(std::vector<int>(action.begin(), action.end()));
  } else if constexpr (form == action_form::parts) {
    return e.step(parts_by_name(action, *actions));
  } else if constexpr (form == action_form::one_number && std::is_same_v<action_space_of<E>, box>) {
    return e.step(action[0]);
  } else {
    return e.step(static_cast<int>(action[0]));
  }
}

template <class E>
class simulation_of final : public simulation {
 public:
  explicit simulation_of(E e) : e_(std::move(e)) {
    if constexpr (gives_parts) observations_ = e_.observation_space();
    if constexpr (form == action_form::parts) actions_ = e_.action_space();
  }

  void reset(random& numbers, std::span<float> observation) override { write(e_.reset(numbers), observation); }

  outcome step(std::span<const float> action, std::span<float> observation) override {
    const auto result = call_step(e_, action, of_actions());
    write(result.observation, observation);
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
      return is_saved<E>;
    }
  }
  [[nodiscard]] std::string save() const override {
    std::ostringstream out(std::ios::binary);
    if constexpr (is_saved<E>) {
      cereal::BinaryOutputArchive archive(out);
      archive(e_);
    }
    return std::move(out).str();
  }
  void load(const std::string& state) override {
    if constexpr (is_saved<E>) {
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
  static constexpr action_form form = form_of_actions<E>();
  static constexpr bool gives_parts =
      std::is_same_v<std::remove_cvref_t<decltype(std::declval<E&>().reset(std::declval<random&>()))>, dict_values>;
  struct nothing {};

  [[nodiscard]] const space* of_actions() const {
    if constexpr (form == action_form::parts) {
      return &actions_;
    } else {
      return nullptr;
    }
  }
  template <class Observation>
  void write(const Observation& o, std::span<float> to) const {
    if constexpr (gives_parts) {
      write_parts(o, observations_, to);
    } else {
      write_observation(o, to);
    }
  }

  E e_;
  [[no_unique_address]] std::conditional_t<gives_parts, space, nothing> observations_;
  [[no_unique_address]] std::conditional_t<form == action_form::parts, space, nothing> actions_;
};

/// Whether what reset(), or step(), gives can be read as an observation of the environment's space.
template <class E, class Observation>
constexpr bool observation_fits() {
  using given = std::remove_cvref_t<Observation>;
  if constexpr (std::is_same_v<given, dict_values>) {
    return std::is_same_v<observation_space_of<E>, dict> || std::is_same_v<observation_space_of<E>, space>;
  } else {
    return readable_observation<given>;
  }
}

template <class E>
constexpr bool require_step() {
  constexpr action_form form = form_of_actions<E>();
  static_assert(form != action_form::none,
                "manta: rl: an environment needs step(action), which gives rl::step: observation, reward, terminated, "
                "truncated. The action is an int where action_space() is rl::discrete, else an Eigen::VectorXf, a "
                "std::vector<float>, a std::vector<int> or a float");
  constexpr bool keeps_fractions =
      !(form == action_form::one_number && std::is_same_v<action_space_of<E>, box>) || requires(E & e) {
    e.step(any_fraction{}).observation;
  };
  static_assert(keeps_fractions,
                "manta: rl: actions of rl::box are numbers with a point, and step(int) would cut them off: let "
                "step(action) take a float, or several numbers as an Eigen::VectorXf");
  if constexpr (form != action_form::none && keeps_fractions) {
    using result = decltype(call_step(std::declval<E&>(), {}, nullptr));
    constexpr bool fits = observation_fits<E, decltype(std::declval<result&>().observation)>();
    static_assert(
        fits,
        "manta: rl: the observation that step() gives cannot be read as one; let it be of the kind that reset() gives");
    return fits;
  } else {
    return false;
  }
}

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
  if constexpr (has_spaces && has_reset) {
    constexpr bool fits = observation_fits<E, decltype(std::declval<E&>().reset(std::declval<random&>()))>();
    static_assert(fits,
                  "manta: rl: an observation has to be an Eigen vector, a std::array or a std::vector of numbers, or a "
                  "number; of rl::dict also rl::dict_values, the parts by their names");
    if constexpr (fits) {
      return require_step<E>() && mask_is_range;
    } else {
      return false;
    }
  } else {
    return false;
  }
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
    if constexpr (sizeof...(Args) > 0) {
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
    return {e.observation_space(), e.action_space(), has_mask(e), form_of_actions<E>() == action_form::one_number};
  }
  static bool enter() { return register_environment_class(typeid(environment_entry).name(), {&describe, &make}); }
  static inline const bool registered = enter();
};

}  // namespace detail

}  // namespace manta::rl
