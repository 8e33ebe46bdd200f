// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What game.hpp makes of a class: a game at work that calls its members, and sentences for what they lack.
#pragma once

#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "manta/rl/seats/table.hpp"

namespace manta::rl {

/// The object of a game's class, whatever it is. live_game.hpp drives it.
class game_object {
 public:
  virtual ~game_object() = default;
  virtual void reset(random& numbers, table& t) = 0;
  virtual void step(table& t) = 0;
  /// Whether the class has a copy constructor, which clone() and become() use. The argument of become() has to be of
  /// the same class.
  [[nodiscard]] virtual bool can_be_copied() const = 0;
  [[nodiscard]] virtual std::unique_ptr<game_object> clone() const = 0;
  virtual void become(const game_object& other) = 0;
  [[nodiscard]] virtual bool can_be_saved() const = 0;
  [[nodiscard]] virtual std::string save() const = 0;
  virtual void load(const std::string& state) = 0;
  /// A picture of the state in text; empty where the class has no member `std::string text() const`.
  [[nodiscard]] virtual std::string text() const = 0;
  /// The class's own figures of an episode that has ended; none where it has no member figures().
  virtual std::map<std::string, double> figures() = 0;
};

namespace detail {

/// A class with seats() is a game, and no environment of one seat.
template <class E>
concept has_seats = requires(const E& e) {
  e.seats();
};

template <class E>
class game_object_of final : public game_object {
 public:
  explicit game_object_of(E e) : e_(std::move(e)) {}

  void reset(random& numbers, table& t) override { e_->reset(numbers, t); }
  void step(table& t) override { e_->step(t); }

  [[nodiscard]] bool can_be_copied() const override { return std::is_copy_constructible_v<E>; }
  [[nodiscard]] std::unique_ptr<game_object> clone() const override {
    if constexpr (std::is_copy_constructible_v<E>) {
      return std::make_unique<game_object_of>(*e_);
    } else {
      return nullptr;
    }
  }
  void become(const game_object& other) override {
    [[maybe_unused]] const E& its = *static_cast<const game_object_of&>(other).e_;
    if constexpr (std::is_copy_assignable_v<E>) {
      *e_ = its;
    } else if constexpr (std::is_copy_constructible_v<E>) {
      e_.emplace(its);
    }
  }

  [[nodiscard]] bool can_be_saved() const override {
    if constexpr (requires { bool(e_->can_be_saved()); }) {
      return e_->can_be_saved();
    } else {
      return is_saved<E>;
    }
  }
  [[nodiscard]] std::string save() const override {
    std::ostringstream out(std::ios::binary);
    if constexpr (is_saved<E>) {
      cereal::BinaryOutputArchive archive(out);
      archive(*e_);
    }
    return std::move(out).str();
  }
  void load([[maybe_unused]] const std::string& state) override {
    if constexpr (is_saved<E>) {
      std::istringstream in(state, std::ios::binary);
      cereal::BinaryInputArchive archive(in);
      archive(*e_);
    }
  }
  [[nodiscard]] std::string text() const override {
    if constexpr (requires { std::string(e_->text()); }) {
      return e_->text();
    } else {
      return {};
    }
  }
  std::map<std::string, double> figures() override {
    if constexpr (requires { std::map<std::string, double>(e_->figures()); }) {
      return e_->figures();
    } else {
      return {};
    }
  }

 private:
  std::optional<E> e_;
};

template <class E>
constexpr bool require_game() {
  constexpr bool gives_seats = requires(const E& e) { seats(e.seats()); };
  static_assert(gives_seats,
                "manta: rl: seats() of a game has to give rl::seats: {2, observations, actions}, or a name, "
                "observations and actions for each seat");
  constexpr bool has_reset = requires(E & e, random & r, table & t) { e.reset(r, t); };
  static_assert(has_reset,
                "manta: rl: a game needs reset(rl::random& random, rl::table& t), which begins an episode and shows "
                "those that act first what they see: t.see(seat, observation)");
  constexpr bool has_step = requires(E & e, table & t) { e.step(t); };
  static_assert(has_step,
                "manta: rl: a game needs step(rl::table& t), which reads t.action(seat) of those that act, and then "
                "calls t.see(seat, observation) for those that act next, t.reward(seat, number) and t.end()");
  return gives_seats && has_reset && has_step;
}

/// What a class of games is for a rank: what can be made of constructor arguments, which come as bytes.
struct game_class {
  seats (*describe)(const std::string& arguments);
  std::unique_ptr<game_object> (*make)(const std::string& arguments);
};
/// To be called before main.
MANTA_DECL bool register_game_class(const char* mangled, game_class c);

/// Games of class E that are made from these arguments.
template <class E, class... Args>
struct game_entry {
  static E build(const std::string& arguments) { return environment_entry<E, Args...>::build(arguments); }
  static std::unique_ptr<game_object> make(const std::string& arguments) {
    return std::make_unique<game_object_of<E>>(build(arguments));
  }
  static seats describe(const std::string& arguments) { return build(arguments).seats(); }
  static bool enter() { return register_game_class(typeid(game_entry).name(), {&describe, &make}); }
  static inline const bool registered = enter();
};

}  // namespace detail

}  // namespace manta::rl
