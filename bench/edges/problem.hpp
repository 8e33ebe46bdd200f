// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P7: many dependences. Twenty layers of 500 tasks, each of which takes the
// results of all 500 tasks of the layer before: 10 000 tasks, 5 million edges.
// The time runs from the first submission until the last result is read.
#pragma once

#include <cstddef>
#include <vector>

namespace edges {

inline constexpr int width = 500;
inline constexpr int layers = 20;
inline constexpr int edges = width * width * layers;

/// The task: one more than its inputs, which are all the same; -1 if they are not.
inline int next(const std::vector<int>& inputs) {
  if (inputs.size() != static_cast<std::size_t>(width)) return -1;
  for (const int x : inputs) {
    if (x != inputs[0]) return -1;
  }
  return inputs[0] + 1;
}

}  // namespace edges
