// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// While a value is copied out of its node.
#pragma once

#include <optional>

#include "manta/exec/rank/invocation.hpp"
#include "manta/store/value.hpp"

namespace manta::exec {

/// A large value takes a while: meanwhile it does not move to a disk, and the lock is free. For others nothing is done.
class copying {
 public:
  copying(biased_lock& held, graph::node& n) : node_(&n) {
    if (store::large_of(n) == nullptr) return;
    here_.emplace(&node_, 1U);
    free_.emplace(held);
  }
  copying(const copying&) = delete;
  copying& operator=(const copying&) = delete;

 private:
  graph::node* node_;
  std::optional<store::looking> here_;
  std::optional<outside> free_;  // ends first
};

}  // namespace manta::exec
