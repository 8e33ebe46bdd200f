// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A class of the program's own in place of a class of a library, as a value that can be copied, sent and saved:
//
//   struct my_noise : rl::exploration { explicit my_noise(double deviation); .. };
//   rl::sac algorithm("Pendulum-v1", {.exploration = manta::own<my_noise>(0.2)});
//
// The value holds the compiler's name of the class, which is the same on all ranks of a program, and the arguments of
// its constructor. Each rank makes objects of its own.
#pragma once

#include <cereal/archives/binary.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/tuple.hpp>
#include <cereal/types/vector.hpp>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "manta/base/demangle.hpp"
#include "manta/call/class_table.hpp"

namespace manta {

namespace detail {

/// A constructor's argument as a value that can travel: text becomes a std::string.
template <class T>
auto constructor_value(const T& value) {
  if constexpr (std::is_convertible_v<const T&, const char*>) {
    return std::string(value);
  } else {
    return value;
  }
}

/// A class with the arguments of its constructor, for any base class.
struct class_value {
  std::string mangled;    ///< the compiler's name of the class
  std::string name;       ///< the name in the program, with those arguments that are numbers and texts
  std::string arguments;  ///< the arguments as bytes
  bool operator==(const class_value&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(mangled, name, arguments);
  }
};

/// The text of a constructor call, such as "my_noise(0.2, 3)".
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

/// The class derived from Base whose objects represent C; its constructor takes `Given` and C's arguments. A library
/// specialises it where C need not derive from Base.
template <class Base, class C>
struct standing_for {
  static_assert(
      std::is_base_of_v<Base, C>,
      "manta: own: the class has to derive from the one that it replaces; the error names both as Base and C");
  using type = C;
};

}  // namespace detail

/// A class whose objects are used as Base, or no class. The constructor gets values of the types Given from the library
/// and then the program's arguments, or the program's arguments alone if it takes no more.
template <class Base, class... Given>
class own_class {
 public:
  own_class() = default;
  /// The class that a value names, such as a saved one.
  explicit own_class(detail::class_value value) : value_(std::move(value)) {}
  /// The class C, made from these arguments.
  template <class C, class... Args>
  static own_class of(const std::tuple<Args...>& arguments) {
    using made = typename detail::standing_for<Base, C>::type;
    using e = entry<made, Args...>;
    if (!e::is_known) makers().add(typeid(e).name(), &e::make);  // called before main, by a static object
    std::ostringstream bytes(std::ios::binary);
    {
      cereal::BinaryOutputArchive archive(bytes);
      archive(arguments);
    }
    return own_class({typeid(e).name(), detail::class_text<C>(arguments), std::move(bytes).str()});
  }

  /// Whether there is a class.
  explicit operator bool() const { return !value_.mangled.empty(); }
  /// The constructor call in the program's words, such as "my_noise(0.2, 3)".
  [[nodiscard]] const std::string& name() const { return value_.name; }
  /// The value that is sent and saved.
  [[nodiscard]] const detail::class_value& value() const { return value_; }
  /// Makes a new object. Throws manta::error if this rank's program does not have the class.
  [[nodiscard]] std::unique_ptr<Base> make(const Given&... given) const {
    return makers().at([this] { return "the class " + value_.name; }, value_.mangled)(value_.arguments, given...);
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
  static detail::class_table<maker>& makers() {
    static detail::class_table<maker> all;
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
    static inline const bool is_known = (makers().add(typeid(entry).name(), &make), true);
  };

  detail::class_value value_;
};

/// What own<C>(arguments..) returns; it converts to the own_class that an option holds.
template <class C, class... Args>
class own_value {
 public:
  /// Keeps the constructor's arguments.
  explicit own_value(Args... arguments) : arguments_(std::move(arguments)...) {}
  /// Converts to the option's own_class, with the Base that the option asks for.
  template <class Base, class... Given>
  operator own_class<Base, Given...>() const {
    return own_class<Base, Given...>::template of<C>(arguments_);
  }

 private:
  std::tuple<Args...> arguments_;
};

/// Names the class C for an option of a library, whose objects each rank constructs from these arguments. The arguments
/// must be serialisable and default constructible.
template <class C, class... Args>
auto own(const Args&... arguments) {
  return own_value<C, decltype(detail::constructor_value(arguments))...>(detail::constructor_value(arguments)...);
}

}  // namespace manta
