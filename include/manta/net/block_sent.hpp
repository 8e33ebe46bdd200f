// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What is called when a block has been sent. A header of its own, without MPI, for
// the parts that have blocks sent.
#pragma once

namespace manta::net {

/// A function to call once, when the memory of a sent block may be used again.
struct completion {
  void (*call)(void* argument);
  void* argument;
};

}  // namespace manta::net
