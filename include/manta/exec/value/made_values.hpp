// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Values that the program makes outside of tasks' results: by put, as arguments, and
// as objects of the library. Nothing here sends or waits.
#pragma once

#include "manta/base/config.hpp"
#include "manta/exec/state/current_task.hpp"
#include "manta/exec/value/completion.hpp"
#include "manta/exec/value/context.hpp"

namespace manta::exec {

class made_values {
 public:
  made_values(const rank_context& own, completion& ends, const current_task& running)
      : own_(own), completion_(ends), running_(running) {}

  /// A node of a plain value.
  MANTA_DECL node& make_plain(type_id type, const void* value, std::size_t bytes);
  /// A node of an object, which it takes over. Throws if there is no memory for it.
  MANTA_DECL node& make(type_id type, void* object);
  /// A node with a copy of an object whose type has an array. Null if it is not one for node memory:
  /// copy it otherwise.
  MANTA_DECL node* copy(type_id type, const void* object);

 private:
  const rank_context own_;
  completion& completion_;
  const current_task& running_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/value/made_values.ipp"
#endif
