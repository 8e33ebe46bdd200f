// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a thread is for the engine of its process. A thread of the program's own has no
// role: it may only copy and destroy handles.
#pragma once

#include <cstdint>

namespace manta::exec {

class thread_role {
 public:
  /// Does the calling thread run the tasks of its rank?
  static bool is_owner() { return now_ == role::owner; }
  /// Is the calling thread one of those that work for a run?
  static bool has_any() { return now_ != role::none; }
  static void set_owner() { now_ = role::owner; }    ///< It runs tasks from now on.
  static void set_helper() { now_ = role::helper; }  ///< It answers for a busy owner.
  static void clear() { now_ = role::none; }         ///< It works for no run any more.

 private:
  enum class role : std::uint8_t { none, owner, helper };

  static inline constinit thread_local role now_ = role::none;
};

}  // namespace manta::exec
