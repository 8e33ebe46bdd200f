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

/// Whether an exception travels as a value; one that does not travels as the text of its what().
template <class E>
struct registered_exception {
  static bool capture(std::string& bytes) {
    try {
      throw;
    } catch (const E& e) {
      if (typeid(e) != typeid(E)) return false;
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
  static void raise(const std::string& bytes) {
    if constexpr (travels_whole<E>) {
      wire::source in(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
      const std::unique_ptr<E> e(wire::decode<E>(in));
      throw E(*e);
    } else {
      throw E(bytes);
    }
  }
  static inline const std::uint32_t index = wire::add_entry(store::exception_entry{typeid(E).name(), &capture, &raise});
};

}  // namespace detail

/// Lets exceptions of exactly this type arrive at `get` with their type, on every rank, instead of as task_failed. E
/// must be serialisable and default constructible, or constructible from the text of its what(). A call anywhere in the
/// program's text registers the type before main; running the call does nothing.
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
