// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a function takes so that options of a wrong name are one sentence of the compiler, instead of a list of all that
// it might have meant.
#pragma once

#include <cstddef>
#include <initializer_list>

namespace manta::base {

/// Any value of a list in braces.
struct any_value {
  template <class T>
  any_value(const T&);
  any_value(std::initializer_list<any_value> values);
};

/// A deleted function takes this in the place of its options. g++ takes `{.lr = 0.1}` for it where no option has the
/// name, and prints the line of the function; other compilers refuse the list as they would without it.
template <std::size_t N>
using unknown_options = const any_value (&)[N];

}  // namespace manta::base
