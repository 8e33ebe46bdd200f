// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A class of the program's own, where a library has one to replace, as a value that can be copied, sent and saved:
//
//   struct my_noise : rl::exploration { explicit my_noise(double deviation); .. };
//   rl::sac algorithm("Pendulum-v1", {.exploration = manta::own<my_noise>(0.2)});
//
// What travels is the class's name under the compiler, which is the same on all ranks of a program, and its
// constructor's arguments. Each rank makes objects of its own.
#pragma once

#include <cereal/archives/binary.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/tuple.hpp>
#include <cereal/types/vector.hpp>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "manta/base/demangle.hpp"
#include "manta/error.hpp"

namespace manta {

namespace detail {

/// Texts travel as std::string.
template <class T>
auto constructor_value(const T& value) {
  if constexpr (std::is_convertible_v<const T&, const char*>) {
    return std::string(value);
  } else {
    return value;
  }
}

/// A class with constructor arguments, whatever it derives from.
struct class_value {
  std::string mangled;    ///< the name under the compiler
  std::string name;       ///< as the program writes it, with the arguments that are numbers and texts
  std::string arguments;  ///< as bytes
  bool operator==(const class_value&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(mangled, name, arguments);
  }
};

/// "my_noise(0.2, 3)".
template <class C, class... Args>
std::string class_text(const std::tuple<Args...>& arguments) {
  std::ostringstream out;
  auto add = [&, first = true](const auto& value) mutable {
    out << (std::exchange(first, false) ? "" : ", ");
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>> ||
                  std::is_same_v<std::remove_cvref_t<decltype(value)>, std::string>) {
      out << value;
    } else {
      out << "..";
    }
  };
  std::apply([&](const auto&... values) { (add(values), ...); }, arguments);
  const std::string inside = out.str();
  return base::demangle(typeid(C).name()) + (inside.empty() ? "" : "(" + inside + ")");
}

/// The class whose objects stand for C where a Base is asked for, made from `Given` and C's arguments. Specialised
/// where C need not derive from Base.
template <class Base, class C>
struct standing_for {
  static_assert(
      std::is_base_of_v<Base, C>,
      "manta: own: the class has to derive from the one that it replaces; the error names both as Base and C");
  using type = C;
};

}  // namespace detail

/// A class whose objects are used as Base, or none. The constructor gets values of the types Given, which the library
/// has, and then the program's arguments; or the arguments alone, where it takes no more.
template <class Base, class... Given>
class own_class {
 public:
  own_class() = default;
  /// The class that a value names, such as one that was saved.
  explicit own_class(detail::class_value value) : value_(std::move(value)) {}
  /// The class C, made from these arguments.
  template <class C, class... Args>
  static own_class of(const std::tuple<Args...>& arguments) {
    using made = typename detail::standing_for<Base, C>::type;
    using e = entry<made, Args...>;
    if (!e::registered) makers()[typeid(e).name()] = &e::make;  // an object of static storage asks
    std::ostringstream bytes(std::ios::binary);
    {
      cereal::BinaryOutputArchive archive(bytes);
      archive(arguments);
    }
    return own_class({typeid(e).name(), detail::class_text<C>(arguments), std::move(bytes).str()});
  }

  /// Is there a class?
  explicit operator bool() const { return !value_.mangled.empty(); }
  /// As the program writes it.
  [[nodiscard]] const std::string& name() const { return value_.name; }
  /// What is sent and saved.
  [[nodiscard]] const detail::class_value& value() const { return value_; }
  /// A new object. Throws manta::error if this rank's program does not have the class.
  [[nodiscard]] std::unique_ptr<Base> make(const Given&... given) const {
    const auto found = makers().find(value_.mangled);
    if (found == makers().end())
      throw error("manta: this rank's program does not have the class " + value_.name +
                  ": start the same program on all ranks");
    return found->second(value_.arguments, given...);
  }

  /// Compares classes and arguments.
  bool operator==(const own_class&) const = default;
  /// For cereal.
  template <class Archive>
  void serialize(Archive& archive) {
    archive(value_);
  }

 private:
  using maker = std::unique_ptr<Base> (*)(const std::string& arguments, const Given&... given);
  static std::map<std::string, maker>& makers() {
    static std::map<std::string, maker> all;
    return all;
  }

  template <class Made, class... Args>
  struct entry {
    static std::unique_ptr<Base> make(const std::string& arguments, const Given&... given) {
      std::tuple<Args...> values;
      std::istringstream in(arguments, std::ios::binary);
      cereal::BinaryInputArchive archive(in);
      archive(values);
      return std::apply(
          [&](auto&... v) -> std::unique_ptr<Base> {
            if constexpr (std::is_constructible_v<Made, const Given&..., Args...>) {
              return std::make_unique<Made>(given..., std::move(v)...);
            } else {
              static_assert(std::is_constructible_v<Made, Args...>,
                            "manta: own: the class cannot be constructed from these arguments, nor from what the "
                            "library gives it (Given) and these; the error names them all");
              return std::make_unique<Made>(std::move(v)...);
            }
          },
          values);
    }
    static inline const bool registered = (makers()[typeid(entry).name()] = &make, true);
  };

  detail::class_value value_;
};

/// What own<C>(arguments..) gives: becomes the own_class that an option holds.
template <class C, class... Args>
class own_value {
 public:
  /// Keeps the constructor's arguments.
  explicit own_value(Args... arguments) : arguments_(std::move(arguments)...) {}
  /// The class, where an option asks for one that stands for a Base.
  template <class Base, class... Given>
  operator own_class<Base, Given...>() const {
    return own_class<Base, Given...>::template of<C>(arguments_);
  }

 private:
  std::tuple<Args...> arguments_;
};

/// The class C, whose objects are to be constructed with these arguments, which have to be serialisable and to have a
/// default constructor.
template <class C, class... Args>
auto own(const Args&... arguments) {
  return own_value<C, decltype(detail::constructor_value(arguments))...>(detail::constructor_value(arguments)...);
}

}  // namespace manta
