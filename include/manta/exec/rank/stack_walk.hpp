// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The addresses of the calls on a stack, from the innermost outwards: on the stack
// of the calling thread, and on one that was left (stack.hpp) and stands still. The
// second is walked from outside, by a function of which the unwinder is told that
// the stack's last function has called it. Only x86-64 has that function.
#pragma once

#include <ucontext.h>
#include <unwind.h>

#include <cstdint>

#include "manta/base/address.hpp"
#include "manta/exec/rank/stack_switch.hpp"

namespace manta::exec {

/// A stack while it is walked.
struct stack_walk {
  void** frames;
  int most;
  std::uintptr_t interrupted = 0;  ///< address of the instruction where a signal came: deeper frames are left out
  std::uintptr_t above = 0;        ///< address: frames that end there or deeper are left out; 0: none
  std::uintptr_t below = 0;        ///< address: frames that lie further out are left out; 0: none
  int skipped = 0;                 ///< number of first frames that are left out
  int count = 0;                   ///< number of frames that were noted

  /// Notes the calls of the calling thread.
  void walk_here() { _Unwind_Backtrace(&note, this); }
  /// Notes the calls of a stack that was left there. Nothing where that cannot be done.
  void walk(const detail::jump_buffer& left);

 private:
  /// What the unwinder calls for each frame.
  static _Unwind_Reason_Code note(_Unwind_Context* frame, void* walk);
};

inline _Unwind_Reason_Code stack_walk::note(_Unwind_Context* frame, void* walk) {
  stack_walk& w = *static_cast<stack_walk*>(walk);
  int is_exact = 0;  // else the address is behind a call
  const std::uintptr_t at = _Unwind_GetIPInfo(frame, &is_exact);
  if (at == 0) return _URC_END_OF_STACK;
  if (w.skipped > 0) {
    --w.skipped;
    return _URC_NO_REASON;
  }
  if (at == w.interrupted) w.interrupted = 0;
  const std::uintptr_t inner_end = _Unwind_GetCFA(frame);  // where the frame before this one ends
  if (w.interrupted != 0 || (w.above != 0 && inner_end <= w.above)) return _URC_NO_REASON;
  if (w.below != 0 && inner_end > w.below) {
    w.count -= w.count > 0 ? 1 : 0;
    return _URC_END_OF_STACK;
  }
  if (w.count == w.most) return _URC_END_OF_STACK;
  w.frames[w.count++] = base::place_at(is_exact != 0 ? at : at - 1);
  return _URC_NO_REASON;
}

#if defined(__x86_64__) && defined(__GCC_HAVE_DWARF2_CFI_ASM)
namespace detail {

/// Calls _Unwind_Backtrace(note, walk). `registers`: frame pointer, instruction and stack pointer of the function
/// that is to count as the caller. Their addresses are what the directives describe: DW_CFA_def_cfa_expression
/// says that the caller's stack ends at the third of the words to which rbx points, and DW_CFA_expression where
/// rbp and the return address are.
__attribute__((naked, noinline)) inline void backtrace_from(const void* const* /*registers*/, _Unwind_Trace_Fn /*note*/,
                                                            void* /*walk*/) {
  asm(R"(
    pushq %rbx
    movq %rdi, %rbx
    movq %rsi, %rdi
    movq %rdx, %rsi
    .cfi_remember_state
    .cfi_escape 0x0f, 3, 0x73, 16, 0x06
    .cfi_escape 0x10, 6, 2, 0x73, 0
    .cfi_escape 0x10, 16, 2, 0x73, 8
    call _Unwind_Backtrace@PLT
    .cfi_restore_state
    popq %rbx
    ret
  )");
}

}  // namespace detail

inline void stack_walk::walk(const detail::jump_buffer& left) {
#if defined(MANTA_USE_SWAPCONTEXT)
  const auto& saved = left.registers.uc_mcontext.gregs;
  const void* const registers[3] = {base::place_at(static_cast<std::uintptr_t>(saved[REG_RBP])),
                                    base::place_at(static_cast<std::uintptr_t>(saved[REG_RIP])),
                                    base::place_at(static_cast<std::uintptr_t>(saved[REG_RSP]))};
#else
  const void* const registers[3] = {left.words[0], left.words[1], left.words[2]};
#endif
  skipped = 1;  // backtrace_from
  detail::backtrace_from(registers, &note, this);
}
#else
inline void stack_walk::walk(const detail::jump_buffer& /*left*/) {}
#endif

}  // namespace manta::exec
