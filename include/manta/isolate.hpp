// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The option that makes code run in a child process of its rank (task_options, actor_options, tune::experiment).
#pragma once

#include "manta/base/config.hpp"

#include <type_traits>

#include "manta/base/zygote.hpp"

namespace manta {

/// A bool that registers itself: a program that sets it anywhere in its text prepares for child processes before main.
class isolate_option {
  template <class Bool>
  struct used {
    static inline const bool value = base::zygote::is_wanted = true;
  };

 public:
  /// Off.
  constexpr isolate_option() = default;
  /// On or off. Its use anywhere in a program makes manta prepare for child processes.
  template <class Bool>
    requires(std::is_same_v<Bool, bool>)
  isolate_option(Bool on) : on_(on && used<Bool>::value) {}
  /// Whether it is on.
  constexpr operator bool() const { return on_; }

 private:
  bool on_ = false;
};

namespace detail {
/// Whether this process can have child processes.
inline bool can_isolate() { return base::zygote::of_process().runs(); }
}  // namespace detail

}  // namespace manta
