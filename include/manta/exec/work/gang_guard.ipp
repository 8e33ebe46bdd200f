// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <iostream>  // leaving by _exit must not lose what the program has written to std::cout
#include <string>
#include <utility>
#include <vector>

#include "manta/base/clock.hpp"
#include "manta/exec/rank/messages.hpp"
#include "manta/exec/work/explanations.hpp"
#include "manta/exec/work/gang_guard.hpp"
#include "manta/report/run_state.hpp"

namespace manta::exec {

MANTA_DECL void gang_guard::watch() {
  if (!below_.gangs.ends().empty()) watch_members();
  if (below_.scheduler != nullptr) watch_waiting();
}

MANTA_DECL void gang_guard::watch_members() {
  const std::int64_t now = base::now_ns();
  below_.gangs.ends().for_each([&](gang_ends::gang_end& end) {
    if (end.failed_ns == 0 || end.leader == nullptr || end.missing == 0) return;
    if (now - end.failed_ns < gang_watch::patience_ns) return;
    // The message to rank 0 is repeated: rank 0 ignores it as long as the driver may still need the ranks.
    end.failed_ns = now;
    const base::list<std::uint32_t>& ranks = end.leader->gang->ranks;
    if (!std::exchange(end.said, true)) {
      std::fprintf(
          stderr,
          "manta: rank %u: a member of a gang of %zu failed, and %zu others have not ended ten seconds later. They "
          "probably wait for it inside MPI, and their ranks are lost until they come back: let an exception leave "
          "all members of a gang, or one that the others do not wait for. %s\n",
          own_.rank.number(), ranks.size(), end.missing, store::describe(*end.why).c_str());
    }
    for (const std::uint32_t rank : ranks) {
      if (!end.has_ended(rank)) own_.post.send(0, message::stuck, stuck_message{rank, 0});
    }
  });
  // The helper calls this, and nobody else sends while the rank's own thread is inside MPI.
  own_.net.pump(true);
}

MANTA_DECL void gang_guard::watch_leader() {
  const net::team_place* const team = below_.running->call == nullptr ? nullptr : below_.running->call->team;
  // As long as the leader lives, watch_members() there does this.
  if (team == nullptr || !own_.members.is_dead(static_cast<std::uint32_t>(team->leader))) return;
  if (!below_.gangs.watch().may_say_stuck(base::now_ns())) return;
  own_.post.send(0, message::stuck, stuck_message{own_.rank, 0});
}

MANTA_DECL void gang_guard::watch_waiting() {
  stall_watch& watch = below_.gangs.watch().waiting_tasks();
  const std::int64_t now = base::now_ns();
  if (!watch.is_due(now)) return;
  node* const waiting = below_.scheduler->task_behind_member();
  if (!watch.look(waiting != nullptr, below_.scheduler->load().tasks_ended(), now)) return;
  const bool is_gang = waiting->record->request->ranks > 0;
  std::fprintf(stderr,
               "manta: rank 0: for ten seconds no task has ended, a member of a gang waits inside its task, and the "
               "%s '%s' waits for %s. If the first waits for the second, neither ends: %s. It %s\n",
               is_gang ? "gang" : "task", std::string(task_name(*waiting)).c_str(),
               is_gang ? "ranks" : "a rank on which another member runs, perhaps inside MPI",
               is_gang ? "ask for fewer ranks, start with more, or wait outside the gang"
                       : "let the task run on other ranks, or have the members wait for it before they meet",
               explain_waiting(*waiting->record->request, *below_.scheduler, below_.world).c_str());
}

MANTA_DECL void gang_guard::watch_part(bool was_here) {
  stall_watch& watch = below_.gangs.watch().part();
  const std::int64_t now = base::now_ns();
  if (!was_here && !watch.is_due(now)) return;
  std::uint32_t function = no_index;
  if (!was_here && below_.running->for_member && below_.running->actor != nullptr && below_.running->actor->ranks > 1) {
    const auto is_waited_for = [&](const message_queue::view& v) {
      if ((flags_of_task(v.data) & task_message::for_member) == 0) return false;
      task_message m;
      std::memcpy(&m, v.data, sizeof m);
      function = m.function;
      return true;
    };
    static_cast<void>(below_.actors.any_call(is_waited_for) || below_.executor.any_in_inbox(is_waited_for));
  }
  if (!watch.look(function != no_index, 0, now)) return;
  std::fprintf(stderr,
               "manta: rank %u: '%s', a part of an actor on %d ranks, has not called manta for ten seconds, and "
               "'%s' waits here, which another part has asked for. If the one waits inside MPI and the other for "
               "this, neither ends: have the parts wait for what they call before they meet, or let an actor that "
               "they call live on a rank without a part\n",
               own_.rank.number(), std::string(below_.running->name()).c_str(), below_.running->actor->ranks,
               std::string(wire::function_at(function).name()).c_str());
}

MANTA_DECL void gang_guard::end_broken() {
  const auto is_member = [&](std::uint32_t r, std::uint64_t gang) {
    return below_.scheduler->load().gang_of(r) == gang;
  };
  const auto has_members = [&](std::uint64_t gang) {
    bool any = false;
    for (std::uint32_t r = 0; r < own_.size; ++r) any = any || is_member(r, gang);
    return any;
  };
  below_.gangs.watch().end_broken(base::now_ns(), has_members, [&](std::uint64_t gang) {
    // No rank can end rank 0 and let the job go on.
    if (is_member(0, gang)) {
      std::fprintf(stderr,
                   "manta: rank 0 waits inside MPI for a member of its gang that has died: the job ends here\n");
      ::_exit(1);
    }
    std::vector<int> left;
    for (std::uint32_t r = 1; r < own_.size; ++r) {
      if (is_member(r, gang)) left.push_back(static_cast<int>(r));
    }
    std::fprintf(stderr, "manta: a member of a gang has died; the others, which are inside MPI, are ended too: %s\n",
                 report::ranks_text(left).c_str());
    for (const int r : left) below_.lifeline->end(static_cast<std::uint32_t>(r));
  });
}

MANTA_DECL void gang_guard::on_stuck(const stuck_message& m) {
  const std::uint32_t rank = m.rank;
  if (m.comes_back != 0) {
    constexpr std::int64_t until_next_look_ns = 60'000'000'000;
    return below_.gangs.watch().give_time(below_.scheduler->load().gang_of(rank), base::now_ns() + until_next_look_ns);
  }
  // While the driver runs, the program may get the rank back: the member may still compute.
  if (!below_.waiters.is_last_under_way() || own_.members.is_dead(rank)) return;
  const bool alone = own_.members.recovers() && rank != 0;
  const std::int64_t patience_ns = alone ? 10'000'000'000 : 30'000'000'000;
  if (below_.phase.since_driver_end(base::now_ns()) < patience_ns) return;
  std::fprintf(
      stderr,
      "manta: the driver has returned, and rank %u has not come back from a gang of which another member failed: %s\n",
      rank,
      alone ? "it is ended"
            : "the job ends here, with status 1 (manta-run would have ended that rank alone, unless it is rank 0)");
  if (alone) return below_.lifeline->end(rank);
  // _exit() writes no buffers, and what the program has printed must not be lost.
  std::cout.flush();
  std::fflush(nullptr);
  ::_exit(1);
}

MANTA_DECL void gang_guard::watch_lonely() const {
  if (!below_.gangs.watch().is_alone_too_long(base::now_ns()) || below_.lifeline == nullptr || !below_.lifeline->news())
    return;
  std::fprintf(stderr,
               "manta: rank 0 has waited ten seconds for the members of its gang, and a rank has died: the job "
               "ends here\n");
  ::_exit(1);
}

}  // namespace manta::exec
