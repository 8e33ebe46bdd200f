// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of the engine, by subject: engine.hpp has the list.
#pragma once

#include <string>

#include "manta/exec/engine.hpp"

#ifdef MANTA_COMPILED
namespace manta {
MANTA_PROVIDES_SOURCE(one_source_of_this_program_has_to_include_manta_src_hpp);
namespace detail {
const char* header_only_unit = nullptr;
}
}  // namespace manta
#endif

namespace manta::exec {

/// What is wrong with a program of which some units were compiled header-only and others not; empty: nothing.
MANTA_DECL std::string mixed_modes() {
#ifdef MANTA_COMPILED
  if (manta::detail::header_only_unit != nullptr) {
    return std::string("manta: ") + manta::detail::header_only_unit +
           " was compiled without MANTA_COMPILED, and other units of this " +
           "program with it; compile all of them with -DMANTA_COMPILED, or none (then leave out manta/src.hpp and "
           "libmanta.a)";
  }
#endif
  return {};
}

}  // namespace manta::exec

#include "manta/exec/explanations.ipp"
#include "manta/exec/lock.ipp"
#include "manta/exec/stack.ipp"
#include "manta/exec/failure_writer.ipp"
#include "manta/exec/value/completion.ipp"
#include "manta/exec/value/fetches.ipp"
#include "manta/exec/value/incoming_values.ipp"
#include "manta/exec/value/references.ipp"
#include "manta/exec/value/supply.ipp"
#include "manta/exec/task/attempts.ipp"
#include "manta/exec/task/task_records.ipp"
#include "manta/exec/task/runner.ipp"
#include "manta/exec/task/executor.ipp"
#include "manta/exec/actor/restarts.ipp"
#include "manta/exec/actor/actor_host.ipp"
#include "manta/exec/task/task_places.ipp"
#include "manta/exec/task/tasks_ahead.ipp"
#include "manta/exec/task/placement.ipp"
#include "manta/exec/task/withdrawal.ipp"
#include "manta/exec/task/lost_tasks.ipp"
#include "manta/exec/run/tickets.ipp"
#include "manta/exec/run/questions.ipp"
#include "manta/exec/actor/names.ipp"
#include "manta/exec/actor/named_actors.ipp"
#include "manta/exec/actor/actor_calls.ipp"
#include "manta/exec/layers.ipp"
#include "manta/exec/hooks.ipp"
#include "manta/exec/values.ipp"
#include "manta/exec/isolation/child_messages.ipp"
#include "manta/exec/isolation/crash_words.ipp"
#include "manta/exec/isolation/isolated_actor.ipp"
#include "manta/exec/isolation/isolated_calls.ipp"
#include "manta/exec/isolation/child_side.ipp"
#include "manta/exec/isolation.ipp"
#include "manta/exec/capacities.ipp"
#include "manta/exec/gang/gang_ends.ipp"
#include "manta/exec/gang/gangs.ipp"
#include "manta/exec/gang/gang_guard.ipp"
#include "manta/exec/value/journaling.ipp"
#include "manta/exec/leaving.ipp"
#include "manta/exec/value/lineage.ipp"
#include "manta/exec/value/recovery.ipp"
#include "manta/exec/membership.ipp"
#include "manta/exec/run/waves.ipp"
#include "manta/exec/run/helper.ipp"
#include "manta/exec/run/thread_watch.ipp"
#include "manta/exec/deaths.ipp"
#include "manta/exec/dispatch.ipp"
#include "manta/exec/run/waiters.ipp"
#include "manta/exec/task/home.ipp"
#include "manta/exec/run/loop.ipp"
#include "manta/exec/run/waiting.ipp"
#include "manta/exec/run/quiet_watch.ipp"
#include "manta/exec/progress.ipp"
#include "manta/exec/process_watch.ipp"
#include "manta/exec/ending.ipp"

namespace manta::exec {

#ifdef MANTA_COMPILED
template class actor_calls<net::network>;
template class actor_host<net::network>;
template class actor_restarts<net::network>;
template class attempts<net::network>;
template class completion<net::network>;
template class executor<net::network>;
template class fetches<net::network>;
template class home<net::network>;
template class incoming_values<net::network>;
template class lost_tasks<net::network>;
template class named_actors<net::network>;
template class placement<net::network>;
template class questions<net::network>;
template class quiet_watch<net::network>;
template class rank_loop<net::network>;
template class recovery<net::network>;
template class references<net::network>;
template class supply<net::network>;
template class task_records<net::network>;
template class tasks_ahead<net::network>;
template class thread_watch<net::network>;
template class tickets<net::network>;
template class waiters<net::network>;
template class waiting<net::network>;
template class withdrawal<net::network>;
#endif

MANTA_DECL void engine::refuse(const char* call) {
  if (is_copy_ && isolated_ == nullptr) process_watch::end_copy((std::string("called manta (") + call + ")").c_str());
  throw error(std::string("manta: ") + call +
              (isolated_ != nullptr
                   ? " was called in an isolated task or actor, which runs in a process of its own and can neither "
                     "submit nor wait; pass values in and return values, or leave isolate out"
               : current_ == nullptr
                   ? " was called outside of a run; call it inside manta::run or runtime::run"
                   : " was called from a thread of your own; only the thread that runs tasks may call it"));
}

}  // namespace manta::exec
