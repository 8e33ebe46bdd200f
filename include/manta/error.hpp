// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The exceptions that manta throws, and rethrow_as for those of the program.
#pragma once

#include <memory>

#include "manta/base/error.hpp"
#include "manta/store/failure.hpp"

namespace manta {

namespace detail {

template <class E>
inline constexpr bool travels_whole = wire::is_serializable<E>() && std::is_default_constructible_v<E>;

/// An exception that has lost the text of its what() on the way, since its serialize() leaves out the text of its base.
template <class E>
class exception_with_text final : public E {
 public:
  exception_with_text(const E& e, const std::string& text) : E(e), text_(text) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};
template <class E>
inline constexpr bool may_get_text = std::is_base_of_v<std::exception, E> && !std::is_final_v<E>;

/// An exception type whose exceptions travel: as values, or as the text of their what().
template <class E>
struct registered_exception {
  static bool capture(std::string& bytes) {
    try {
      throw;
    } catch (const E& e) {
      if (!has_type(e)) return false;
      if constexpr (travels_whole<E>) {
        wire::buffer out;
        wire::sink sink(out);
        wire::encode(e, sink);
        bytes.assign(reinterpret_cast<const char*>(out.data()), out.size());
      } else {
        bytes = base::text_of(e);
      }
      return true;
    } catch (...) {
      return false;
    }
  }
  static void raise(const std::string& bytes, const std::string& text) {
    if constexpr (travels_whole<E>) {
      const std::unique_ptr<E> e = read(bytes, text);
      if constexpr (may_get_text<E>) {
        if (base::text_of(*e) != text) throw exception_with_text<E>(*e, text);
      }
      throw E(*e);
    } else {
      throw E(bytes);
    }
  }

 private:
  /// Whether the exception is an E, and not of a class derived from it by the program.
  static bool has_type(const E& e) {
    if (typeid(e) == typeid(E)) return true;
    if constexpr (may_get_text<E>) {
      if (typeid(e) == typeid(exception_with_text<E>)) return true;
      return dynamic_cast<const std::nested_exception*>(&e) != nullptr;  // std::throw_with_nested
    } else {
      return false;
    }
  }
  static std::unique_ptr<E> read(const std::string& bytes, const std::string& text) {
    try {
      wire::source in(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
      return std::unique_ptr<E>(wire::decode<E>(in));
    } catch (...) {
      store::refuse_exception(typeid(E).name(), text);
    }
  }

 public:
  static inline const std::uint32_t index = wire::add_entry(store::exception_entry{typeid(E).name(), &capture, &raise});
};

}  // namespace detail

/// Lets exceptions of exactly this type arrive at `get` with their type, on every rank, instead of as task_failed. E
/// must be serialisable and default constructible, or constructible from the text of its what(). An exception whose
/// serialize() leaves out the text of its what() arrives with that text, as an object of a class derived from E. A call
/// anywhere in the program's text registers the type before main; running the call does nothing.
template <class E>
void rethrow_as() {
  constexpr bool travels_as_text =
      std::is_constructible_v<E, const std::string&> && std::is_base_of_v<std::exception, E>;
  constexpr bool possible = detail::travels_whole<E> || travels_as_text;
  static_assert(possible,
                "manta: rethrow_as needs an exception type with serialize() and a default constructor, or one that can "
                "be made from a std::string");
  if constexpr (possible) (void)detail::registered_exception<E>::index;
}

}  // namespace manta
