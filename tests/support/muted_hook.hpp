// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A hook that does nothing in the place of one of the product's (exec/hooks.ipp), for tests/exec/hooks.py: it shows that
// the tests notice. The environment variable MANTA_TEST_MUTED_HOOK names the hook.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <tuple>

#include "manta/exec/layers.hpp"

/// Calls visit(name, hook) for all hooks of the parts. `hook` is a reference to the pointer to the function.
template <class Visit>
void for_each_hook(manta::exec::part_hooks& all, Visit&& visit) {
  constexpr std::size_t parts = 22;  // each has `rank` too
  std::size_t count = 0;
  const auto visit_all = [&](auto&... named) { (..., (++count, visit(std::get<0>(named), std::get<1>(named)))); };
#define MANTA_HOOK(part, name) std::tuple<const char*, decltype(all.part.name)&>(#part "." #name, all.part.name)
  const auto visit_hooks = [&](auto&&... named) { visit_all(named...); };
  visit_hooks(MANTA_HOOK(references, stand_in_gone), MANTA_HOOK(references, actor_gone),
              MANTA_HOOK(references, free_task), MANTA_HOOK(references, given_up));
  visit_hooks(MANTA_HOOK(completion, task_ready), MANTA_HOOK(completion, announce),
              MANTA_HOOK(completion, input_arrived), MANTA_HOOK(completion, send_call), MANTA_HOOK(completion, pulled),
              MANTA_HOOK(completion, send_after), MANTA_HOOK(completion, inherit), MANTA_HOOK(completion, await_return),
              MANTA_HOOK(completion, stop_timer), MANTA_HOOK(completion, free_task));
  visit_hooks(MANTA_HOOK(supply, pulled), MANTA_HOOK(fetches, await_heir), MANTA_HOOK(fetches, actor_of),
              MANTA_HOOK(attempts, task_ready), MANTA_HOOK(attempts, withdraw), MANTA_HOOK(recovery, start));
  visit_hooks(MANTA_HOOK(runner, run_isolated), MANTA_HOOK(runner, keep), MANTA_HOOK(executor, run_own),
              MANTA_HOOK(executor, run_part), MANTA_HOOK(executor, call_ready), MANTA_HOOK(executor, new_actor),
              MANTA_HOOK(executor, ended_here), MANTA_HOOK(actors, run_part), MANTA_HOOK(actors, part_failed),
              MANTA_HOOK(ahead, start), MANTA_HOOK(ahead, fail_dependent), MANTA_HOOK(ahead, discard),
              MANTA_HOOK(placement, is_withdrawn));
  visit_hooks(MANTA_HOOK(lost, start), MANTA_HOOK(lost, task_ready), MANTA_HOOK(lost, repeats_call),
              MANTA_HOOK(tickets, wait_for_end), MANTA_HOOK(named, start), MANTA_HOOK(calls, wait_for_end),
              MANTA_HOOK(calls, relieve), MANTA_HOOK(home, relieve));
  visit_hooks(MANTA_HOOK(loop, progress), MANTA_HOOK(loop, look_for_deadlock), MANTA_HOOK(loop, serve_others),
              MANTA_HOOK(quiet, tell_state), MANTA_HOOK(questions, seen), MANTA_HOOK(isolated, attend));
  visit_hooks(MANTA_HOOK(helper, sleep), MANTA_HOOK(helper, rouse), MANTA_HOOK(helper, owner_is_here),
              MANTA_HOOK(helper, do_duties), MANTA_HOOK(helper, patience_ns), MANTA_HOOK(helper, pause_ns),
              MANTA_HOOK(watching_helper, sleep), MANTA_HOOK(watching_helper, rouse),
              MANTA_HOOK(watching_helper, owner_is_here), MANTA_HOOK(watching_helper, do_duties),
              MANTA_HOOK(watching_helper, patience_ns), MANTA_HOOK(watching_helper, pause_ns));
#undef MANTA_HOOK
  ++count, visit("rouse", all.rouse);
  if ((parts + count) * sizeof(void*) != sizeof all) std::abort();  // a hook is missing above
}

namespace detail {
template <class Result, class... Given>
void mute(Result (*&hook)(void*, Given...)) {
  hook = [](void*, Given...) { return Result(); };
}
}  // namespace detail

/// The hook that the environment names does nothing from now on. With `list` as the name, prints all names and ends the
/// program.
inline void mute_chosen_hook(manta::exec::part_hooks& all) {
  static const char* const chosen = std::getenv("MANTA_TEST_MUTED_HOOK");
  if (chosen == nullptr) return;
  const bool is_list = std::string_view(chosen) == "list";
  bool is_known = false;
  for_each_hook(all, [&](std::string_view name, auto& hook) {
    if (is_list && hook != nullptr) std::puts(name.data());
    if (name != chosen) return;
    is_known = true;
    detail::mute(hook);
  });
  if (is_list) std::exit(0);
  if (!is_known) std::abort();
}
