// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Mistakes that the compiler finds, said in one sentence and few lines. A check
// is a function that returns mistake<Sentence, T> or no_mistake and says
// nothing. The function that the user called names the result's `sentence`:
// that instantiates Sentence<T>, whose static_assert speaks. So compilers list
// two places, whatever the depth at which the mistake was found:
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

/// `T` is shown by compilers beside the sentence: the type that it is about.
template <template <class> class Sentence, class T>
struct mistake {
  static constexpr bool found = true;
  using sentence = Sentence<T>;
};

/// The first one of several checks, in the order in which a reader would look.
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
