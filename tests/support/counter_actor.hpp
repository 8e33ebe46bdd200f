// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// An actor for tests below the public interface, which counts how many of it live.
#pragma once

#include <cstdint>

#include "manta/exec/rank/invocation.hpp"
#include "test_functions.hpp"

namespace test_functions {

struct counter {
  std::uint64_t sum = 0;
  static inline int alive = 0;
  counter() { ++alive; }
  ~counter() { --alive; }
};
inline const manta::exec::actor_class counter_class{[](void* object) { delete static_cast<counter*>(object); }, nullptr,
                                                    nullptr};
inline const std::uint32_t construct = function("counter", [](manta::exec::invocation& call) {
  call.actor = new counter;
  call.actor_type = &counter_class;
});
/// Appends a digit.
inline const std::uint32_t append = function("append", [](manta::exec::invocation& call) {
  auto& its = *static_cast<counter*>(call.self);
  its.sum = 10 * its.sum + argument_of(call);
  give(call, its.sum);
});

}  // namespace test_functions
