// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Opt-in: looks at an array without a copy of it, for longer than a task runs. Tasks get such a view of an argument by
// a parameter std::span<const T>.
//
//   const manta::future<std::vector<float>> table = manta::async<read_table>(path);
//   std::span<const float> all = manta::view(table);   // in the memory that the ranks of the node share
#pragma once

#include <span>
#include <vector>

#include "manta/call/signature.hpp"
#include "manta/future.hpp"

namespace manta {

/// Waits for the array, and returns a view of it, which is valid as long as this rank has a handle on the value. Where
/// another rank of the node has the array, and it has 256 KiB or more, nothing is copied. Throws the error of a failed
/// task, as future::get.
template <class T>
std::span<const T> view(const future<std::vector<T>>& f) {
  exec::engine& e = exec::engine::here("view");
  const exec::engine::guard g(e);
  auto& n = detail::access::of(f).node("view");
  e.waits().bring(n);
  const detail::input array(n, true);
  if (!array.use_pages()) return *static_cast<const std::vector<T>*>(e.waits().value_to_keep(n));
  (void)array.keep();
  return stored_as<std::span<const T>>::look(array.pages());
}

}  // namespace manta
