// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a task consists of, on its way into a record or a message. Nothing here owns memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "manta/graph/task.hpp"

namespace manta::exec {

/// What a function is given: plain bytes, and nodes whose values it needs.
struct task_arguments {
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
  graph::node* const* inputs = nullptr;
  std::uint32_t input_count = 0;
};
/// What the function of a task is given, with the inputs that it does not see.
inline task_arguments arguments_of(graph::task& t) {
  return {t.arguments(), t.argument_bytes, t.inputs(), t.input_count};
}
/// What the function of a task sees.
inline task_arguments seen_arguments_of(graph::task& t) {
  return {t.arguments(), t.argument_bytes, t.inputs(), t.seen_inputs()};
}

/// What goes with a task besides its arguments; each may be missing.
struct task_conditions {
  const graph::request* request = nullptr;
  const graph::gang* gang = nullptr;
  std::uint64_t digest = 0;  ///< digest of function and arguments, for the journal
};

}  // namespace manta::exec
