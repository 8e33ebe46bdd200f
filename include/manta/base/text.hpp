// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Texts with values in them: text("rank {} has {} cores", rank, cores). std::format would do the same, but the library
// of GCC 12 does not have it, and fmt would be one more dependency of every program that uses manta.
#pragma once

#include "manta/base/config.hpp"

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

namespace manta::base {

/// A value in a text: a text, a character, or a number. A number with a point is written with as few digits as tell it
/// from all others: 0.1, not 0.100000.
class text_argument {
 public:
  text_argument(std::string_view text) : kind_(kind::text), text_(text) {}
  text_argument(const std::string& text) : text_argument(std::string_view(text)) {}
  text_argument(const char* text) : text_argument(std::string_view(text)) {}
  text_argument(char character) : kind_(kind::character), character_(character) {}
  text_argument(bool) = delete;  // "true" is seldom the right word: write the word that is
  template <std::signed_integral I>
  text_argument(I given) : kind_(kind::integer), integer_(given) {}
  template <std::unsigned_integral U>
  text_argument(U given) : kind_(kind::natural), natural_(given) {}
  /// An id of graph/ids.hpp, as its number.
  template <class Id>
    requires requires(const Id& id) {
      { id.number() } -> std::unsigned_integral;
    }
  text_argument(const Id& id) : text_argument(id.number()) {}
  template <std::floating_point F>
  text_argument(F given) : kind_(sizeof(F) == sizeof(float) ? kind::single : kind::real), real_(given) {}

  /// Appends the value to `out`.
  MANTA_DECL void append_to(std::string& out) const;

 private:
  enum class kind { text, character, integer, natural, single, real };
  kind kind_;
  union {
    std::string_view text_;
    char character_;
    long long integer_;
    unsigned long long natural_;
    double real_;
  };
};

/// The format of a text with `Count` values: a literal in which {} stands once for each of them. Another number of {}
/// is an error of the compiler. There is no way to write {} itself.
template <std::size_t Count>
class text_format {
 public:
  consteval text_format(const char* format) : format_(format) {
    std::size_t places = 0;
    for (std::size_t i = 0; i + 1 < format_.size(); ++i) places += format_[i] == '{' && format_[i + 1] == '}' ? 1U : 0U;
    if (places != Count) throw "manta: text() needs one {} for each value";
  }
  std::string_view get() const { return format_; }

 private:
  std::string_view format_;
};

/// `format` with the `values` in the places of its {}, in their order.
MANTA_DECL std::string text_from(std::string_view format, const text_argument* values);

/// The text that `format` gives with these values: text("rank {} of {}", 1, 4) is "rank 1 of 4". The format is no
/// parameter of which types are deduced: the front end of nvcc would try, and fail.
template <class... Values>
std::string text(std::type_identity_t<text_format<sizeof...(Values)>> format, const Values&... values) {
  const text_argument arguments[] = {values..., '\0'};  // one more: an array has at least one element
  return text_from(format.get(), arguments);
}

}  // namespace manta::base

#ifndef MANTA_COMPILED
#include "manta/base/text.ipp"
#endif
