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
#include <typeinfo>

#include "manta/signature.hpp"
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

using manta::detail::callable_type;
using manta::detail::gang_parameters;
using manta::detail::list;
using manta::detail::signature;

/// The first parameter after manta::team; void: there is none.
template <class Parameters>
struct first_parameter {
  using type = void;
};
template <class P, class... Rest>
struct first_parameter<list<P, Rest...>> {
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

/// Whether these are the parameters, and this is the result, of a function that can be a trial.
template <class Parameters, class Result>
inline constexpr bool is_trial = false;
template <class P>
inline constexpr bool is_trial<list<P, trial&>, void> = is_parameter<std::remove_cvref_t<P>>;
template <class P, class Result>
inline constexpr bool is_trial<list<P>, Result> = is_parameter<std::remove_cvref_t<P>> &&
                                                  (std::is_convertible_v<Result, double> ||
                                                   std::is_same_v<Result, metrics>);

/// Runs a function as a trial.
template <class F>
struct function_shape {
  using split = gang_parameters<typename signature<F>::parameters>;
  using parameters = typename split::others;
  using settings = typename first_parameter<parameters>::type;
  using result = std::remove_cvref_t<typename signature<F>::result>;
  static constexpr bool gang = split::value;
  static constexpr bool takes_trial = parameters::size == 2;

  static void run(F f, const team* members, const config& c, trial& t) {
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

template <class F>
constexpr bool can_be_trial() {
  if constexpr (callable_type<F>) {
    using shape = function_shape<F>;
    return is_trial<typename shape::parameters, typename shape::result>;
  }
  return false;
}

template <class F>
constexpr bool require_shape() {
  constexpr bool valid = can_be_trial<F>();
  static_assert(valid,
                "manta: tune takes void f(const tune::config&, tune::trial&) or double f(const tune::config&), with "
                "manta::team before them for a gang, and a described struct in place of tune::config if you like");
  return valid;
}

template <auto F>
struct function_body final : body {
  using shape = function_shape<decltype(F)>;
  using settings = typename shape::settings;
  static constexpr bool gang = shape::gang;
  void run(const team* members, const config& c, trial& t) override { shape::run(F, members, c, t); }
};
template <class L>
struct lambda_body final : body {
  using shape = function_shape<L>;
  using settings = typename shape::settings;
  static constexpr bool gang = shape::gang;
  void run(const team* members, const config& c, trial& t) override { shape::run(L{}, members, c, t); }
};

template <class T>
using setup_parameters = gang_parameters<typename signature<decltype(&T::setup)>::parameters>;

/// A class as a trial; the object stays for the next one if it can be reset.
template <class T>
struct class_body final : body {
  using settings = typename first_parameter<typename setup_parameters<T>::others>::type;
  static constexpr bool gang = setup_parameters<T>::value;

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
