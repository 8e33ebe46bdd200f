// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Mistakes that the compiler reports in one sentence and few lines. A check is a function that returns
// mistake<Sentence, T> or no_mistake, and reports nothing itself. The function that the user called names the result's
// `sentence`: this instantiates Sentence<T>, whose static_assert prints the message. So compilers list two places,
// however deep the check was that found the mistake:
//
//   template <class P>
//   struct pointer_parameter { static_assert(never<P>, "manta: a task cannot take a pointer: ..."); };
//
//   using mistake = decltype(mistake_in_parameter<P>());
//   (void)typename mistake::sentence();
//   if constexpr (!mistake::found) ...
#pragma once

#include "manta/base/config.hpp"

namespace manta::base {

template <class...>
inline constexpr bool never = false;

struct no_mistake {
  static constexpr bool found = false;
  struct sentence {};
};

/// A mistake. Compilers show `T`, the type that the sentence is about, beside the sentence.
template <template <class> class Sentence, class T>
struct mistake {
  static constexpr bool found = true;
  using sentence = Sentence<T>;
};

/// The first mistake among the results of several checks, in their order.
constexpr no_mistake first_mistake() { return {}; }
template <class First, class... Rest>
constexpr auto first_mistake(First first, Rest... rest) {
  if constexpr (First::found) {
    return first;
  } else {
    return first_mistake(rest...);
  }
}

}  // namespace manta::base
