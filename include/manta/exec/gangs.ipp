// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// k ranks start one gang task with a communicator of their own. Each tells the first, the leader, how it ended; the
// leader sends the result home, but a failure at once: the others may wait in MPI for the member that failed.
#pragma once

#include <algorithm>
#include <cstdio>

#include "manta/exec/engine.hpp"

namespace manta::exec {

MANTA_DECL void engine::dispatch_gang(node& n, std::uint32_t charge) {
  task& t = *n.record;
  graph::gang gang;
  gang.id = scheduler_->gang().id() | (members_.deaths() != 0 ? net::teams::after_deaths : 0);
  for (const std::uint32_t rank : scheduler_->gang().members()) gang.ranks.push_back(rank);
  graph::grant& granted = t.request->granted;
  const graph::grant of_leader = granted;
  for (const std::uint32_t rank : gang.ranks) {  // each is told what it was given, and gives that back
    granted = scheduler_->gang().grants()[gang.member];
    const task_message m{t.id,  t.function,       t.home_rank, t.home_index,
                         charge, t.argument_bytes, t.attempt,   task_message::by_scheduler, 0};
    records_.send(rank, message::run, m, t.request.get(), t.arguments(), t.argument_bytes, t.inputs(), t.seen_inputs(),
                &gang, t.digest);
    ++gang.member;
  }
  granted = of_leader;
}

MANTA_DECL void engine::require_gangs(const graph::request& request) const {
  if (request.ranks <= 1 || gangs_possible_) return;
  throw error(
      "manta: a gang of " + std::to_string(request.ranks) +
      " ranks computes inside MPI while manta goes on beside it, which needs the progress thread and "
      "MPI_THREAD_MULTIPLE; leave runtime_options::progress_thread on, and ask MPI_Init_thread for that level if the "
      "program initialises MPI itself");
}

/// MPI knows already that a member has died, or before they have met any rank; the helper is told which.
MANTA_DECL store::failure_ptr engine::hear_of_lost_member(const graph::gang& g) {
  for (;;) {
    if (store::failure_ptr lost = failures_.lost_member(g)) return lost;
    for (std::uint32_t rank = 0; members_.deaths() != 0 && (g.id & net::teams::after_deaths) == 0 && rank < size_;
         ++rank) {
      if (is_dead(rank)) return failures_.death(store::failure::kind::rank, rank, "the gang could not meet: ");
    }
    const outside helper(lock_);
    usleep(1000);
  }
}

/// Waits until all members are here. False if one is lost.
MANTA_DECL bool engine::meet(const graph::gang& g) {
  const auto wait_for = [&](std::uint64_t others) {
    while (gang_ends_.arrivals(g.id) < others && failures_.lost_member(g) == nullptr) {
      const outside helper(lock_);
      usleep(100);
    }
    return failures_.lost_member(g) == nullptr;
  };
  // Has it go out as well: nobody sends for this rank once it waits for the others in MPI.
  const auto tell = [&](std::uint32_t rank) {
    post_.send(rank, message::gang_meets, gang_message{g.id, g.member, 0, 0, 0});
    for (net_.pump(true); net_.queued_bytes(static_cast<int>(rank)) != 0 && !is_dead(rank); net_.pump(true)) {
      const outside helper(lock_);
      usleep(100);
    }
  };
  bool all = true;
  if (g.member == 0) {
    all = wait_for(g.ranks.size() - 1);
    for (std::size_t i = 1; all && i < g.ranks.size(); ++i) tell(g.ranks[i]);
  } else {
    tell(g.ranks[0]);
    all = wait_for(1);
  }
  gang_ends_.end_meeting(g.id);
  return all;
}

/// The communicator of its members. Others may still be on their way, so the lock is let go meanwhile; after a death
/// MPI_Comm_create_from_group has to be alone in MPI (see net::teams::create), so they meet first and it is kept.
MANTA_DECL MPI_Comm engine::communicator_of(const graph::gang& g) {
  if ((g.id & net::teams::after_deaths) != 0 && net::mpi_tolerates_deaths() && teams_.find(g.ranks) == nullptr) {
    if (!meet(g)) return MPI_COMM_NULL;
    gang_watch_.begin_alone(base::now_ns());
    MPI_Comm made = teams_.get(g.ranks, g.id);
    gang_watch_.end_alone();
    return made;
  }
  const outside user(lock_);
  return teams_.get(g.ranks, g.id);
}

/// At the leader of a gang or of its actor: stops the other parts too. What concerns a part must not come before it,
/// so it takes the same way: parts of a gang come from rank 0, those of a call from this rank.
MANTA_DECL void engine::stop_members(std::uint64_t id, std::uint16_t flags) {
  gang_ends_.for_each([&](const gang_end& end) {
    const task* const leader = end.leader;
    if (leader == nullptr || leader->id != id) return;
    const bool is_call = end.slot != no_index;
    const auto theirs = static_cast<std::uint16_t>(flags | cancel_message::gang | (is_call ? 0 : cancel_message::part));
    for (std::uint32_t member = 1; member < leader->gang->ranks.size(); ++member) {
      const std::uint32_t rank = leader->gang->ranks[member];
      const std::uint32_t slot = is_call ? slots_[end.slot].member_slots[member] : rank;
      const cancel_message m{id, rank_, no_index, slot, 0, theirs};
      post_.send(is_call || rank_ == 0 ? rank : 0, message::cancel, m);
    }
  });
}

/// All inputs are here: runs this rank's part.
MANTA_DECL void engine::run_member(task* t) {
  store::failure_ptr why = failures_.of_input(*t);
  if (why == nullptr && members_.deaths() != 0) why = failures_.lost_member(*t->gang);
  std::uint64_t ns = 0;
  running_task identity{t->id, t->function, t->attempt, t->request.get()};
  identity.for_member = identity.for_member || t->request->actor;
  invocation call(lock_, t->arguments(), t->argument_bytes, t->inputs(), t->seen_inputs());
  net::team_place place{MPI_COMM_NULL, static_cast<int>(t->gang->member), static_cast<int>(t->gang->ranks.size()),
                        static_cast<int>(t->gang->ranks[0])};
  call.team = &place;
  const bool leads = place.rank == 0;
  if (leads) gang_ends_.of(t->gang->id, t->gang->ranks.size()).leader = t;
  started_.add(identity);  // it can be told to stop while it waits for the others
  if (started_.take_stop_at_start(identity)) {
    stop_members(t->id, identity.stops_children ? cancel_message::children : 0);
  }
  if (why == nullptr || why->kind != store::failure::kind::rank) place.comm = communicator_of(*t->gang);
  if (place.comm != MPI_COMM_NULL) place.known = teams_.find(t->gang->ranks);
  if (place.comm == MPI_COMM_NULL && why == nullptr) why = hear_of_lost_member(*t->gang);
  started_.remove(identity);
  bool ok = why == nullptr && invoke(call, t->function, identity, why, &ns);
  if (place.comm != MPI_COMM_NULL && net::is_revoked(place.comm)) [[unlikely]] {  // whatever came of it
    if (ok && call.form == form::box) wire::type_at(call.type).destroy(call.box);
    if (ok && call.actor != nullptr) call.actor_type->destroy(std::exchange(call.actor, nullptr));
    ok = false;
    why = hear_of_lost_member(*t->gang);
  }
  if (!ok) why = failures_.of_member(why, *t->gang);
  std::uint32_t slot = no_index;
  if (ok && call.actor != nullptr) {  // this rank's part of an actor
    slot = new_slot(call, t->function, t->request, nullptr);
    graph::gang* const members = slots_[slot].gang = new graph::gang;
    members->id = t->gang->id;
    members->member = t->gang->member;
    for (const std::uint32_t rank : t->gang->ranks) members->ranks.push_back(rank);
    const actor_place lives{rank_, slot};
    call.form = form::plain;
    std::memcpy(call.plain, &lives, sizeof lives);
    call.type = wire::type_index<std::uint64_t>::value;
    call.actor = nullptr;
  }

  --received_tasks_;
  wire::buffer request;
  t->request->write(request);
  post_.send(0, message::ended, ended_message{t->function, t->charge, rounded(ns), ok ? 0u : 1u, place_key(*t)},
             request.data(), request.size());

  if (leads) {
    return leader_ended(*t->gang, call, ok, why);
  }
  tell_leader(*t->gang, call, why, slot);
  records_.free(t);
}

MANTA_DECL void engine::leader_ended(const graph::gang& gang, const invocation& call, bool ok,
                                 const store::failure_ptr& why) {
  gang_end& end = gang_ends_.of(gang.id, gang.ranks.size());
  if (ok) end.value = new invocation(call);
  if (!ok && end.why == nullptr) end.why = why;
  member_ended(end, rank_);
}

MANTA_DECL void engine::tell_leader(const graph::gang& gang, const invocation& call, store::failure_ptr why,
                                std::uint32_t slot) {
  wire::buffer bytes;
  if (why == nullptr && call.form == form::box) {
    const wire::type_entry& type = wire::type_at(call.type);
    if (type.merge != nullptr) {
      wire::sink out(bytes);
      try {
        type.write(call.box, out);
      } catch (...) {
        why = failures_.codec("save()", call.type);
        bytes.clear();
      }
    }
    type.destroy(call.box);
  }
  if (slot != no_index) wire::put(bytes, slot);
  if (why != nullptr) bytes = store::encode(*why);
  const gang_message m{gang.id, gang.member, static_cast<std::uint32_t>(gang.ranks.size()), why == nullptr ? 0u : 1u,
                       0};
  post_.send(gang.ranks[0], message::gang_ended, m, bytes.data(), bytes.size());
}

/// A call on an actor of several ranks, at its leader: has the other parts do it too. The channel keeps the order.
MANTA_DECL void engine::forward_call(actor_slot& slot, task* t) {
  t->gang = new graph::gang;
  t->gang->id = gang_ends_.next_call();
  for (const std::uint32_t rank : slot.gang->ranks) t->gang->ranks.push_back(rank);
  ++slot.forwarded;
  for (std::uint32_t member = 1; member < t->gang->ranks.size(); ++member) {
    t->gang->member = member;
    const task_message m{t->id, t->function, rank_, 0, slot.member_slots[member], t->argument_bytes, 0, 0, 0};
    records_.send(t->gang->ranks[member], message::call, m, nullptr, t->arguments(), t->argument_bytes, t->inputs(),
                t->input_count, t->gang);
  }
  t->gang->member = 0;
}

/// This rank's part of such a call; the slot is active.
MANTA_DECL void engine::run_gang_call(std::uint32_t index, task* t) {
  actor_slot& slot = slots_[index];
  const bool leads = slot.gang->member == 0;
  if (leads) {
    forward_call(slot, t);
    gang_end& end = gang_ends_.of(t->gang->id, t->gang->ranks.size());
    end.leader = t;
    end.slot = index;
  }
  store::failure_ptr why = failures_.of_input(*t);
  running_task identity{t->id, t->function};
  identity.actor = slot.request.get();
  identity.for_member = true;
  started_.take_stop_at_start(identity);
  invocation call(lock_, t->arguments(), t->argument_bytes, t->inputs(), t->seen_inputs());
  call.self = slot.object;
  const bool ok = why == nullptr && invoke(call, t->function, identity, why);
  if (!ok) why = failures_.of_member(why, *t->gang);
  if (leads) return leader_ended(*t->gang, call, ok, why);
  tell_leader(*t->gang, call, why, no_index);
  records_.free(t);
  after_call(index);
}

MANTA_DECL void engine::ask_for_patience(std::uint32_t dead) {
  if (teams_.are_watched_with(dead)) post_.send(0, message::stuck, stuck_message{rank_, 1});
}

/// All parts of an actor have been constructed or not: the leader notes where they live, or has them end again.
MANTA_DECL void engine::settle_members(gang_end& end) {
  actor_slot* leader = nullptr;
  if (end.value != nullptr) {
    const actor_place place = actor_place_in(end.value->plain);
    leader = &slots_[place.slot];
    leader->member_slots.resize(end.leader->gang->ranks.size(), no_index);
    if (end.why != nullptr) {
      on_kill(place.slot, "another part of it could not be constructed");
      leader->ends_after = 0;  // nobody has heard of it
    }
  }
  for (const gang_end::part* p = end.parts; p != nullptr; p = p->next) {
    wire::source in(p->bytes.data(), p->bytes.size());
    const auto slot = in.get<std::uint32_t>();
    if (end.why != nullptr) {
      post_.send(end.leader->gang->ranks[p->member], message::end_actor, end_actor_message{slot, 0, 0});
    } else {
      leader->member_slots[p->member] = slot;
    }
  }
}

/// In a handler, at the leader.
MANTA_DECL void engine::on_gang_ended(std::uint32_t from, const gang_message& m, const std::byte* data,
                                      std::size_t bytes) {
  gang_end& end = gang_ends_.of(m.gang, m.size);
  if (m.failed != 0) {
    if (end.why == nullptr) end.why = store::decode_failure(data, bytes);
  } else if (bytes != 0) {
    gang_ends_.add_part(end, m.member, wire::buffer(data, bytes));
  }
  member_ended(end, from);
}

MANTA_DECL void engine::member_ended(gang_end& end, std::uint32_t member) {
  if (!gang_ends_.note_ended(end, member, base::now_ns())) return;
  const task& t = *end.leader;
  invocation none(lock_);
  finish_foreign(t.home_rank, t.home_index, t.function, 0, t.request.get(), false, none, false, end.why, 0);
}

/// At the top level of the leader's rank, for values of members are decoded: all have ended.
MANTA_DECL void engine::finish_gangs() {
  while (gang_ends_.has_complete()) {
    gang_end& end = gang_ends_.take_complete();
    task* const t = end.leader;
    const std::uint32_t slot = end.slot;
    if (t->request != nullptr && t->request->actor) settle_members(end);
    if (end.value != nullptr && end.why == nullptr) {
      try {
        gang_ends::merge_parts(end);
      } catch (...) {
        end.why = failures_.codec("load()", end.value->type);
      }
    }
    if (end.why != nullptr && end.value != nullptr && end.value->form == form::box) {
      wire::type_at(end.value->type).destroy(end.value->box);
    }
    if (!end.told) {
      if (end.why == nullptr && t->digest != 0) journaling_.write(*t, *end.value, ~std::uint64_t{0});
      invocation none(lock_);
      finish_foreign(t->home_rank, t->home_index, t->function, 0, t->request.get(), false,
                     end.value != nullptr ? *end.value : none, end.why == nullptr, end.why, 0);
    }
    gang_ends_.finish(end);
    records_.free(t);
    if (slot != no_index) after_call(slot);
  }
}

/// At the leader: a member has failed while others wait for it inside MPI. Nothing can get them out of there, but it
/// can be said, and rank 0 told again and again, which may be about to end the run.
MANTA_DECL void engine::watch_gangs() {
  const std::int64_t now = base::now_ns();
  gang_ends_.for_each([&](gang_end& end) {
    if (end.failed_ns == 0 || end.leader == nullptr || end.missing == 0) return;
    if (now - end.failed_ns < gang_watch::patience_ns) return;
    end.failed_ns = now;
    const base::list<std::uint32_t>& ranks = end.leader->gang->ranks;
    if (!std::exchange(end.said, true)) {
      std::fprintf(
          stderr,
          "manta: rank %u: a member of a gang of %zu failed, and %zu others have not ended ten seconds later. They "
          "probably wait for it inside MPI, and their ranks are lost until they come back: let an exception leave "
          "all members of a gang, or one that the others do not wait for. %s\n",
          rank_, ranks.size(), end.missing, store::describe(*end.why).c_str());
    }
    for (const std::uint32_t rank : ranks) {
      if (!end.has_ended(rank)) post_.send(0, message::stuck, stuck_message{rank, 0});
    }
  });
  net_.pump(true);
}

/// From a member's helper: if the first member has died, which is to report those that are stuck, it does so itself.
MANTA_DECL void engine::watch_leader() {
  const net::team_place* const team = running_->call == nullptr ? nullptr : running_->call->team;
  if (team == nullptr || !is_dead(static_cast<std::uint32_t>(team->leader))) return;
  if (!gang_watch_.may_say_stuck(base::now_ns())) return;
  post_.send(0, message::stuck, stuck_message{rank_, 0});
}

/// Rank 0: says that a task or a gang may wait for ever.
MANTA_DECL void engine::watch_waiting_gangs() {
  stall_watch& watch = gang_watch_.waiting_tasks();
  const std::int64_t now = base::now_ns();
  if (!watch.is_due(now)) return;
  node* const waiting = scheduler_->task_behind_member();
  if (!watch.look(waiting != nullptr, scheduler_->load().tasks_ended(), now)) return;
  const bool is_gang = waiting->record->request->ranks > 0;
  std::fprintf(stderr,
               "manta: rank 0: for ten seconds no task has ended, a member of a gang waits inside its task, and the "
               "%s '%s' waits for %s. If the first waits for the second, neither ends: %s. It %s\n",
               is_gang ? "gang" : "task", std::string(task_name(*waiting)).c_str(),
               is_gang ? "ranks" : "a rank on which another member runs, perhaps inside MPI",
               is_gang ? "ask for fewer ranks, start with more, or wait outside the gang"
                       : "let the task run on other ranks, or have the members wait for it before they meet",
               explain_waiting(*waiting->record->request, *scheduler_, world_).c_str());
}

/// A part of an actor has the rank's thread, perhaps inside MPI where it waits for the other parts, and what one of
/// these may wait for stands here.
MANTA_DECL void engine::watch_part(bool was_here) {
  stall_watch& watch = gang_watch_.part();
  const std::int64_t now = base::now_ns();
  if (!was_here && !watch.is_due(now)) return;
  std::uint32_t function = no_index;
  if (!was_here && running_->for_member && running_->actor != nullptr && running_->actor->ranks > 1) {
    const auto is_waited_for = [&](const message_queue::view& v) {
      if ((flags_of_task(v.data) & task_message::for_member) == 0) return false;
      task_message m;
      std::memcpy(&m, v.data, sizeof m);
      function = m.function;
      return true;
    };
    static_cast<void>(calls_.any(is_waited_for) || inbox_.any(is_waited_for));
  }
  if (!watch.look(function != no_index, 0, now)) return;
  std::fprintf(stderr,
               "manta: rank %u: '%s', a part of an actor on %d ranks, has not called manta for ten seconds, and "
               "'%s' waits here, which another part has asked for. If the one waits inside MPI and the other for "
               "this, neither ends: have the parts wait for what they call before they meet, or let an actor that "
               "they call live on a rank without a part\n",
               rank_, std::string(running_->name()).c_str(), running_->actor->ranks,
               std::string(wire::function_at(function).name()).c_str());
}

}  // namespace manta::exec
