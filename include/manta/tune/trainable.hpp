// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What can be tuned: functions, and classes with setup and step.
//
//   void   f(const tune::config&, tune::trial&)     reports as often as it likes
//   double f(const tune::config&)                   the metric itself
//   either with manta::team first: a gang
//   either with a described struct instead of tune::config
//
//   struct model {
//     void setup(const tune::config&);              // or of a described struct; in a gang of (manta::team, ...)
//     tune::metrics step();                         // one report
//     State save() const;                           // any value that cereal can serialise
//     void load(const State&);
//     bool reset(const tune::config&);              // optional: be as new for another trial; false: make a new object
//     bool done() const;                            // optional: ends by itself
//     void repeat(int k);                           // optional, before setup or reset: with .repeats, it is run k, and
//                                                   // takes other random numbers than the others
//   };
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <typeinfo>

#include "manta/team.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/trial.hpp"

namespace manta::tune {

namespace detail {

/// The tuned function or class on the rank that runs it: one object runs trials one after the other.
class body {
 public:
  virtual ~body() = default;
  /// One trial. `members`: of the gang that runs it, or null.
  virtual void run(const team* members, const config& c, trial& t) = 0;
};

/// Bodies travel by the number under which their types were registered, which is the same on all ranks; the name, of
/// the compiler, is there to notice a rank with another program.
struct body_name {
  std::uint32_t number = 0;
  std::string mangled;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(number, mangled);
  }
};
/// The name of the function or class, for messages.
MANTA_DECL std::string name_of(const body_name& what);
/// Registers a body; called before main.
MANTA_DECL std::uint32_t register_body(const char* mangled, std::unique_ptr<body> (*make)());
/// Throws if this rank does not have it.
MANTA_DECL std::unique_ptr<body> make_body(const body_name& what);

template <class Body>
class body_of {
  static inline const std::uint32_t number =
      register_body(typeid(Body).name(), []() -> std::unique_ptr<body> { return std::make_unique<Body>(); });

 public:
  static body_name name() { return {number, typeid(Body).name()}; }
};

template <class F>
struct function_traits;
template <class R, class... P>
struct function_traits<R (*)(P...)> {
  using result = R;
  using parameters = std::tuple<P...>;
};
template <class C, class R, class... P>
struct function_traits<R (C::*)(P...)> : function_traits<R (*)(P...)> {};
template <class C, class R, class... P>
struct function_traits<R (C::*)(P...) const> : function_traits<R (*)(P...)> {};
template <class L>
  requires requires { &L::operator(); }
struct function_traits<L> : function_traits<decltype(&L::operator())> {};

template <class Tuple>
struct without_team {
  using type = Tuple;
  static constexpr bool gang = false;
};
template <class... P>
struct without_team<std::tuple<team, P...>> {
  using type = std::tuple<P...>;
  static constexpr bool gang = true;
};

template <class Tuple>
struct first_parameter {
  using type = void;
};
template <class P, class... Rest>
struct first_parameter<std::tuple<P, Rest...>> {
  using type = std::remove_cvref_t<P>;
};

/// The configuration as the parameter type wants it.
template <class T>
decltype(auto) as_parameter(const config& c) {
  if constexpr (std::is_same_v<T, config>) {
    return (c);
  } else {
    return c.as<T>();
  }
}

template <class T>
inline constexpr bool is_parameter = std::is_same_v<T, config> || described<T>;

/// Runs a function as a trial.
template <class Traits>
struct function_shape {
  using split = without_team<typename Traits::parameters>;
  using parameters = typename split::type;
  using settings = typename first_parameter<parameters>::type;
  using result = std::remove_cvref_t<typename Traits::result>;
  static constexpr bool gang = split::gang;
  static constexpr bool takes_trial = std::tuple_size_v<parameters> == 2;
  static constexpr bool valid = [] {
    if constexpr (std::tuple_size_v<parameters> == 2) {
      return is_parameter<settings> && std::is_same_v<std::tuple_element_t<1, parameters>, trial&> &&
             std::is_void_v<result>;
    } else if constexpr (std::tuple_size_v<parameters> == 1) {
      return is_parameter<settings> && (std::is_convertible_v<result, double> || std::is_same_v<result, metrics>);
    } else {
      return false;
    }
  }();

  template <class F>
  static void run(F&& f, const team* members, const config& c, trial& t) {
    const auto call = [&](auto&&... rest) -> decltype(auto) {
      if constexpr (gang) {
        return f(*members, as_parameter<settings>(c), rest...);
      } else {
        return f(as_parameter<settings>(c), rest...);
      }
    };
    if constexpr (takes_trial) {
      call(t);
    } else if constexpr (std::is_same_v<result, metrics>) {
      t.report(call());
    } else {
      t.report(access::metric(t), static_cast<double>(call()));
    }
  }
};

template <class Traits>
constexpr bool require_shape() {
  constexpr bool valid = function_shape<Traits>::valid;
  static_assert(valid,
                "manta: tune takes void f(const tune::config&, tune::trial&) or double f(const tune::config&), with "
                "manta::team before them for a gang, and a described struct in place of tune::config if you like");
  return valid;
}

template <auto F>
struct function_body final : body {
  using shape = function_shape<function_traits<decltype(F)>>;
  using settings = typename shape::settings;
  static constexpr bool gang = shape::gang;
  void run(const team* members, const config& c, trial& t) override { shape::run(F, members, c, t); }
};
template <class L>
struct lambda_body final : body {
  using shape = function_shape<function_traits<L>>;
  using settings = typename shape::settings;
  static constexpr bool gang = shape::gang;
  void run(const team* members, const config& c, trial& t) override { shape::run(L{}, members, c, t); }
};

template <class T>
using setup_parameters = without_team<typename function_traits<decltype(&T::setup)>::parameters>;

/// A class as a trial; the object stays for the next one if it can be reset.
template <class T>
struct class_body final : body {
  using settings = typename first_parameter<typename setup_parameters<T>::type>::type;
  static constexpr bool gang = setup_parameters<T>::gang;

  void run(const team* members, const config& c, trial& t) override {
    decltype(auto) s = as_parameter<settings>(c);
    bool ready = false;
    if constexpr (requires {
                    { object_->reset(s) } -> std::convertible_to<bool>;
                  }) {
      if (object_ != nullptr) tell_repeat(t.repeat());
      if (object_ != nullptr) ready = object_->reset(s);
    }
    if (!ready) {
      object_ = nullptr;  // the old one goes before the new one takes its memory
      object_ = std::make_unique<T>();
      tell_repeat(t.repeat());
      if constexpr (gang) {
        object_->setup(*members, s);
      } else {
        object_->setup(s);
      }
    }
    T& o = *object_;
    if constexpr (requires { o.save(); }) {
      using state = std::remove_cvref_t<decltype(o.save())>;
      if (const checkpoint* from = access::source(t)) {
        state saved{};
        from->unpack(saved);
        o.load(saved);
      }
      access::save_by(t, [&o](checkpoint& into) { into.pack(o.save()); });
    }
    access::release_source(t);
    for (;;) {
      if constexpr (requires {
                      { o.done() } -> std::convertible_to<bool>;
                    }) {
        if (o.done()) return;
      }
      if (!t.report(o.step())) return;
    }
  }

 private:
  void tell_repeat([[maybe_unused]] int k) {
    if constexpr (requires { object_->repeat(k); }) object_->repeat(k);
  }

  std::unique_ptr<T> object_;
};

}  // namespace detail

/// A class that can be tuned; see the head of this file. Without save and load it cannot be paused, retried or
/// exploited but by starting anew.
template <class T>
concept trainable_class = std::is_default_constructible_v<T> && requires(T t) {
  &T::setup;
  { t.step() } -> std::convertible_to<metrics>;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/trainable.ipp"
#endif
