// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// An input of a running call, as the function's parameters see it: a value to be decoded, moved out or looked at.
#pragma once

#include <cstddef>

#include "manta/call/handle.hpp"

namespace manta {

/// An array that has not been decoded: it lies in pages that stay there while the function runs. `header` is what its
/// type has written before the array.
struct array_in_pages {
  wire::source header;
  const std::byte* data;
  std::size_t bytes;
};

namespace detail {

class input {
 public:
  /// `needed_again`: by the call, so that the object must not be moved out.
  input(graph::node& n, bool needed_again) : node_(&n), needed_again_(needed_again) {}

  /// The decoded value.
  MANTA_DECL const void* value() const;
  /// Whether the object may be moved out, because neither the call nor anybody else needs it. If so, it must be moved.
  MANTA_DECL bool may_move() const;
  /// Whether the value is an array in pages; they stay there as long as the function runs, then.
  MANTA_DECL bool use_pages() const;
  /// The array, after use_pages().
  MANTA_DECL array_in_pages pages() const;
  /// A handle that keeps the value in its place beyond the call.
  MANTA_DECL handle keep() const;

 private:
  graph::node* node_;
  bool needed_again_;
};

}  // namespace detail

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/call/input.ipp"
#endif
