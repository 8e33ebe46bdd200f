// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Functions of tasks for tests below the public interface: each takes one number, and gives one.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "manta/exec/rank/invocation.hpp"

namespace test_functions {

/// Enters a function in the table of this program.
inline std::uint32_t function(const char* name, void (*run)(manta::exec::invocation&), bool looks_only = false) {
  return manta::wire::add_entry(
      manta::wire::function_entry{name, [] { return std::string_view("test"); }, run, false, looks_only});
}
inline std::uint64_t argument_of(const manta::exec::invocation& call) {
  std::uint64_t number = 0;
  std::memcpy(&number, call.arguments, sizeof number);
  return number;
}
inline void give(manta::exec::invocation& call, std::uint64_t number) {
  call.form = manta::graph::form::plain;
  call.type = manta::wire::type_index<std::uint64_t>::value;
  std::memcpy(call.plain, &number, sizeof number);
}

/// The sum of the argument and all inputs.
inline const std::uint32_t add = function("add", [](manta::exec::invocation& call) {
  std::uint64_t sum = argument_of(call);
  for (std::uint32_t i = 0; i < call.input_count; ++i) {
    std::uint64_t input = 0;
    std::memcpy(&input, call.inputs[i]->bytes, sizeof input);
    sum += input;
  }
  give(call, sum);
});
inline const std::uint32_t fail =
    function("fail", [](manta::exec::invocation&) { throw std::runtime_error("out of tea"); });

}  // namespace test_functions
