// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <string_view>

#include "manta/base/address.hpp"
#include "manta/base/vector.hpp"
#include "manta/exec/rank/stack_trace.hpp"
#include "manta/exec/rank/stack_walk.hpp"

namespace manta::exec {

namespace detail {

inline std::uintptr_t instruction_of([[maybe_unused]] const void* machine) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(machine)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(machine)->uc_mcontext.pc);
#else
  return 0;
#endif
}

/// In the handler of a signal that has interrupted `machine`: notes the stack, and returns its number of frames.
inline int note_stack(const void* machine, const void* below, std::span<void*> frames) {
  stack_walk walk{.frames = frames.data(), .most = static_cast<int>(frames.size())};
  walk.interrupted = instruction_of(machine);
  walk.below = base::address_of(below);
  walk.walk_here();
  return walk.count;
}

inline bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> begins) {
  return std::ranges::any_of(begins, [&](std::string_view each) { return name.starts_with(each); });
}
/// A part of the engine.
inline bool is_engine(const base::code_place& p) { return p.function.starts_with("manta::exec::"); }
/// What stands between the engine and a function of the program. Some lambdas have the compiler's name.
inline bool is_of_call(const base::code_place& p) {
  if (p.function.starts_with("_Z")) return p.function.find("5manta6detail") != std::string::npos;
  return starts_with_any(p.function, {"manta::exec::", "manta::detail::", "manta::run", "std::"});
}

}  // namespace detail

MANTA_DECL void stack_trace::watch() {
  struct sigaction present {};
  if (is_on_ || ::sigaction(SIGURG, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) return;
  struct sigaction action {};
  action.sa_sigaction = &handle;
  action.sa_flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  is_on_ = ::sigaction(SIGURG, &action, nullptr) == 0;
}

inline void stack_trace::handle(int, siginfo_t*, void* machine) {
  step asked = step::asked;
  if (!step_.compare_exchange_strong(asked, step::begun)) return;
  const int error_number = errno;
  count_ = detail::note_stack(machine, below_, frames_);
  errno = error_number;
  step_.store(step::done, std::memory_order_release);
}

inline bool stack_trace::wait_until_done() {
  for (int i = 0; i < 1000; ++i) {
    if (step_.load(std::memory_order_acquire) == step::done) return true;
    ::usleep(100);
  }
  step asked = step::asked;
  return !step_.compare_exchange_strong(asked, step::none) && asked == step::done;
}

MANTA_DECL std::vector<std::string> stack_trace::of(pthread_t thread, const void* below) {
  if (!is_on_ || step_.load(std::memory_order_acquire) == step::begun) return {};  // an earlier handler has not ended
  below_ = below;
  step_.store(step::asked, std::memory_order_release);
  if (::pthread_kill(thread, SIGURG) != 0 || !wait_until_done()) return {};
  return shown(base::code_places({frames_, static_cast<std::size_t>(count_)}));
}

MANTA_DECL std::vector<std::string> stack_trace::at(const void* machine) {
  void* frames[most_frames];
  const int count = detail::note_stack(machine, nullptr, frames);
  return shown(base::code_places({frames, static_cast<std::size_t>(count)}));
}

MANTA_DECL std::vector<std::vector<std::string>> stack_trace::of_waits(std::span<const wait_place> places) {
  std::vector<void*> frames;
  std::vector<std::size_t> ends;
  for (const wait_place& each : places) {
    void* found[most_frames];
    stack_walk walk{.frames = found, .most = most_frames};
    walk.above = base::address_of(each.above);
    if (each.is_known) each.left != nullptr ? walk.walk(each.left->left_at()) : walk.walk_here();
    frames.insert(frames.end(), found, found + walk.count);
    ends.push_back(frames.size());
  }
  if (frames.empty()) return std::vector<std::vector<std::string>>(places.size());
  const base::vector<base::code_place> all = base::code_places(frames);
  std::vector<std::vector<std::string>> stacks;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    stacks.push_back(shown({all.data() + begin, end - begin}));
    begin = end;
  }
  return stacks;
}

MANTA_DECL std::vector<std::string> stack_trace::shown(std::span<const base::code_place> all) {
  constexpr std::size_t longest_name = 90, first_names = 4;
  // The function waits, perhaps only for the lock that the asking thread has.
  const auto begin = std::find_if_not(all.begin(), all.end(), &detail::is_engine);
  all = {begin, std::find_if(begin, all.end(), &detail::is_engine)};
  const bool has_own = std::ranges::any_of(all, &base::code_place::is_program);
  while (!all.empty() && (detail::is_of_call(all.back()) || (has_own && !all.back().is_program)))
    all = all.subspan(0, all.size() - 1);
  // The function of a library that the program has called says more than those which that one calls.
  const auto own = std::ranges::find_if(
      all, [](const base::code_place& p) { return p.is_program && !p.function.starts_with("manta::"); });
  if (own != all.end() && own - all.begin() > 1) all = {own - 1, all.end()};
  std::vector<std::string> names;
  for (const base::code_place& each : all) {
    const bool is_long = each.function.size() > longest_name;
    names.push_back(is_long ? each.function.substr(0, longest_name - 2) + ".." : each.function);
  }
  if (names.size() <= most_names) return names;
  names.erase(names.begin() + first_names, names.end() - (most_names - first_names - 1));
  names.insert(names.begin() + first_names, "..");
  return names;
}

}  // namespace manta::exec
