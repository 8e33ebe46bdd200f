// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "manta/base/clock.hpp"
#include "manta/base/error.hpp"
#include "manta/base/text.hpp"
#include "manta/exec/rank/messages.hpp"
#include "manta/exec/work/gangs.hpp"

namespace manta::exec {

MANTA_DECL void gangs::require(const graph::request& request) const {
  if (request.ranks <= 1 || allowed_) return;
  throw error(base::text(
      "manta: a gang of {} ranks computes inside MPI while manta goes on beside it, which needs the progress thread "
      "and MPI_THREAD_MULTIPLE; leave runtime_options::progress_thread on, and ask MPI_Init_thread for that level if "
      "the program initialises MPI itself",
      request.ranks));
}

MANTA_DECL store::failure_ptr gangs::wait_for_death_notice(const graph::gang& g) {
  for (;;) {
    if (store::failure_ptr lost = own_.failures.lost_member(g)) return lost;
    // The scheduler numbered this gang before the first death, so it makes its communicator the ordinary way, which
    // fails after the death of any rank, a member or not.
    const bool is_first_death = own_.members.deaths() != 0 && (g.id & net::teams::after_deaths) == 0;
    for (std::uint32_t rank = 0; is_first_death && rank < own_.size; ++rank) {
      if (!own_.members.is_dead(rank)) continue;
      return own_.failures.death(store::failure::kind::rank, rank, "the gang could not meet: ");
    }
    const outside helper(below_.lock);
    // This thread has let go of the lock, so the helper can receive the notice.
    usleep(1000);
  }
}

MANTA_DECL bool gangs::meet(const graph::gang& g) {
  const auto wait_for = [&](std::uint64_t others) {
    while (ends_.arrivals(g.id) < others && own_.failures.lost_member(g) == nullptr) {
      const outside helper(below_.lock);
      usleep(100);
    }
    return own_.failures.lost_member(g) == nullptr;
  };
  // Has it go out as well: nobody sends for this rank once it waits for the others in MPI.
  const auto tell = [&](rank_id rank) {
    own_.post.send(rank, message::gang_meets, gang_message{g.id, g.member, 0, 0, 0});
    own_.net.pump(true);
    while (own_.net.queued_bytes(static_cast<int>(rank)) != 0 && !own_.members.is_dead(rank)) {
      {
        const outside helper(below_.lock);
        usleep(100);
      }
      own_.net.pump(true);
    }
  };
  bool all = true;
  if (g.member == 0) {
    // The others report to the leader, and the leader answers all of them: two messages a member, and no member goes on
    // before the last has come.
    all = wait_for(g.ranks.size() - 1);
    for (std::size_t i = 1; all && i < g.ranks.size(); ++i) tell(g.ranks[i]);
  } else {
    tell(g.ranks[0]);
    all = wait_for(1);
  }
  ends_.end_meeting(g.id);
  return all;
}

MANTA_DECL MPI_Comm gangs::communicator_of(const graph::gang& g) {
  if ((g.id & net::teams::after_deaths) != 0 && teams_.makes_them_alone() && teams_.find(g.ranks) == nullptr) {
    if (!meet(g)) return MPI_COMM_NULL;
    watch_.begin_alone(base::now_ns());
    MPI_Comm made = teams_.get(g.ranks, g.id);
    watch_.end_alone();
    return made;
  }
  const outside user(below_.lock);
  return teams_.get(g.ranks, g.id);
}

MANTA_DECL void gangs::stop_members(std::uint64_t id, std::uint16_t flags) {
  ends_.for_each([&](const gang_end& end) {
    const task* const leader = end.leader;
    if (leader == nullptr || leader->id != id) return;
    const bool is_call = end.slot != no_index;
    const auto theirs = static_cast<std::uint16_t>(flags | cancel_message::gang | (is_call ? 0 : cancel_message::part));
    for (std::uint32_t member = 1; member < leader->gang->ranks.size(); ++member) {
      const std::uint32_t rank = leader->gang->ranks[member];
      const std::uint32_t slot = is_call ? below_.actors.at(end.slot).member_slots[member] : rank;
      const cancel_message m{id, own_.rank, no_index, slot, 0, theirs};
      own_.post.send(is_call || own_.rank == 0 ? rank : 0, message::cancel, m);
    }
  });
}

MANTA_DECL void gangs::run_part(task* t) {
  store::failure_ptr why = own_.failures.of_input(*t);
  if (why == nullptr && own_.members.deaths() != 0) why = own_.failures.lost_member(*t->gang);
  std::uint64_t ns = 0;
  running_task identity{t->id, t->function, t->attempt, t->request.get()};
  // What an actor's part asks for is for the other parts too, which may wait for it inside MPI: it
  // must not wait behind them.
  identity.for_member = identity.for_member || t->request->actor;
  invocation call(below_.lock, t->arguments(), t->argument_bytes, t->inputs(), t->seen_inputs());
  net::team_place place{MPI_COMM_NULL, static_cast<int>(t->gang->member), static_cast<int>(t->gang->ranks.size()),
                        static_cast<int>(t->gang->ranks[0])};
  call.team = &place;
  const bool leads = place.rank == 0;
  if (leads) ends_.of(t->gang->id, t->gang->ranks.size()).leader = t;
  below_.started.add(identity);  // it can be told to stop while it waits for the others
  // The stop came before the part had begun. The other members may be ahead of this one, so the
  // leader passes the stop on.
  if (below_.started.take_stop_at_start(identity)) {
    stop_members(t->id, identity.stops_children ? cancel_message::children : 0);
  }
  if (why == nullptr || why->kind != store::failure::kind::rank) place.comm = communicator_of(*t->gang);
  if (place.comm != MPI_COMM_NULL) place.known = teams_.find(t->gang->ranks);
  if (place.comm == MPI_COMM_NULL && why == nullptr) why = wait_for_death_notice(*t->gang);
  below_.started.remove(identity);
  bool ok = why == nullptr && below_.runner.invoke(call, t->function, identity, why, &ns);
  if (place.comm != MPI_COMM_NULL && teams_.is_revoked(place.comm)) [[unlikely]] {  // whatever came of it
    // A result that was computed over a broken communicator is not to be trusted.
    if (ok && call.form == form::box) wire::type_at(call.type).destroy(call.box);
    if (ok && call.actor != nullptr) call.actor_type->destroy(std::exchange(call.actor, nullptr));
    ok = false;
    why = wait_for_death_notice(*t->gang);
  }
  if (!ok) why = own_.failures.of_member(why, *t->gang);
  std::uint32_t slot = no_index;
  if (ok && call.actor != nullptr) slot = add_part_of_actor(call, *t);
  below_.executor.end_part(*t, ok, ns);
  if (leads) return leader_ended(*t->gang, call, ok, why);
  tell_leader(*t->gang, call, why, slot);
  below_.records.free(t);
}

MANTA_DECL slot_index gangs::add_part_of_actor(invocation& call, const task& t) {
  const std::uint32_t slot = below_.actors.add(call, t, nullptr);
  graph::gang* const members = below_.actors.at(slot).gang = new graph::gang;
  members->id = t.gang->id;
  members->member = t.gang->member;
  for (const std::uint32_t rank : t.gang->ranks) members->ranks.push_back(rank);
  const actor_place lives{own_.rank, slot};
  // What the part returns is where it lives, so that the leader can send it calls.
  call.form = form::plain;
  std::memcpy(call.plain, &lives, sizeof lives);
  call.type = wire::type_index<std::uint64_t>::value;
  call.actor = nullptr;
  return slot;
}

MANTA_DECL void gangs::leader_ended(const graph::gang& gang, const invocation& call, bool ok,
                                    const store::failure_ptr& why) {
  gang_end& end = ends_.of(gang.id, gang.ranks.size());
  if (ok) end.value = new invocation(call);
  // The first failure is the cause; later ones mostly follow from it.
  if (!ok && end.why == nullptr) end.why = why;
  member_ended(end, own_.rank);
}

MANTA_DECL void gangs::tell_leader(const graph::gang& gang, const invocation& call, store::failure_ptr why,
                                   slot_index slot) {
  wire::buffer bytes;
  if (why == nullptr && call.form == form::box) {
    const wire::type_entry& type = wire::type_at(call.type);
    // Only results that are merged into the leader's travel; any other result of a member is dropped.
    if (type.merge != nullptr) {
      wire::sink out(bytes);
      try {
        type.write(call.box, out);
      } catch (...) {
        why = own_.failures.codec("save()", call.type);
        bytes.clear();
      }
    }
    type.destroy(call.box);
  }
  if (slot != no_index) wire::put(bytes, slot);
  if (why != nullptr) bytes = store::encode(*why);
  const gang_message m{gang.id, gang.member, static_cast<std::uint32_t>(gang.ranks.size()), why == nullptr ? 0u : 1u,
                       0};
  own_.post.send(gang.ranks[0], message::gang_ended, m, bytes.data(), bytes.size());
}

MANTA_DECL void gangs::part_failed(const task& call, const store::failure_ptr& why) {
  tell_leader(*call.gang, invocation(below_.lock), why, no_index);
}

MANTA_DECL void gangs::forward(actor_slot& slot, task* t) {
  t->gang = new graph::gang;
  t->gang->id = ends_.next_call();
  for (const std::uint32_t rank : slot.gang->ranks) t->gang->ranks.push_back(rank);
  // When the actor ends, each part waits until it has received this many calls (end_actor).
  ++slot.forwarded;
  for (std::uint32_t member = 1; member < t->gang->ranks.size(); ++member) {
    t->gang->member = member;
    const task_message m{t->id, t->function, own_.rank, 0, slot.member_slots[member], t->argument_bytes, 0, 0, 0};
    below_.records.send(t->gang->ranks[member], message::call, m, arguments_of(*t), {nullptr, t->gang});
  }
  t->gang->member = 0;
}

MANTA_DECL void gangs::run_call(slot_index index, task* t) {
  actor_slot& slot = below_.actors.at(index);
  const bool leads = slot.gang->member == 0;
  if (leads) {
    forward(slot, t);
    gang_end& end = ends_.of(t->gang->id, t->gang->ranks.size());
    end.leader = t;
    end.slot = index;
  }
  store::failure_ptr why = own_.failures.of_input(*t);
  running_task identity{t->id, t->function};
  identity.actor = slot.request.get();
  identity.for_member = true;
  below_.started.take_stop_at_start(identity);
  invocation call(below_.lock, t->arguments(), t->argument_bytes, t->inputs(), t->seen_inputs());
  call.self = slot.object;
  const bool ok = why == nullptr && below_.runner.invoke(call, t->function, identity, why);
  if (!ok) why = own_.failures.of_member(why, *t->gang);
  if (leads) return leader_ended(*t->gang, call, ok, why);
  tell_leader(*t->gang, call, why, no_index);
  below_.records.free(t);
  below_.actors.after_call(index);
}

MANTA_DECL void gangs::settle_members(gang_end& end) {
  actor_slot* leader = nullptr;
  if (end.value != nullptr) {
    const actor_place place = actor_place_in(end.value->plain);
    leader = &below_.actors.at(place.slot);
    leader->member_slots.resize(end.leader->gang->ranks.size(), no_index);
    if (end.why != nullptr) {
      below_.actors.kill(place.slot, "another part of it could not be constructed");
      leader->ends_after = 0;  // nobody has heard of it
    }
  }
  for (const gang_end::part* p = end.parts; p != nullptr; p = p->next) {
    wire::source in(p->bytes.data(), p->bytes.size());
    const auto slot = in.get<std::uint32_t>();
    if (end.why != nullptr) {
      own_.post.send(end.leader->gang->ranks[p->member], message::end_actor, end_actor_message{slot, 0, 0, 0, 0});
    } else {
      leader->member_slots[p->member] = slot;
    }
  }
}

MANTA_DECL void gangs::on_ended(rank_id from, const gang_message& m, const std::byte* data, std::size_t bytes) {
  gang_end& end = ends_.of(m.gang, m.size);
  if (m.failed != 0) {
    if (end.why == nullptr) end.why = store::decode_failure(data, bytes);
  } else if (bytes != 0) {
    ends_.add_part(end, m.member, wire::buffer(data, bytes));
  }
  member_ended(end, from);
}

MANTA_DECL void gangs::member_ended(gang_end& end, rank_id member) {
  if (!ends_.note_ended(end, member, base::now_ns())) return;
  // The home hears of the failure at once: members may never come back from MPI.
  const task& t = *end.leader;
  invocation none(below_.lock);
  below_.executor.ended({t.home_rank, t.home_index, t.function, 0, false, t.request.get()}, none, false, end.why, 0);
}

MANTA_DECL void gangs::finish_complete() {
  while (ends_.has_complete()) {
    gang_end& end = ends_.take_complete();
    task* const t = end.leader;
    const std::uint32_t slot = end.slot;
    // The leader must know the slots of all parts before the home hears of the actor, for its
    // first call may come at once.
    if (t->request != nullptr && t->request->actor) settle_members(end);
    if (end.value != nullptr && end.why == nullptr) {
      try {
        gang_ends::merge_parts(end);
      } catch (...) {
        end.why = own_.failures.codec("load()", end.value->type);
      }
    }
    if (end.why != nullptr && end.value != nullptr && end.value->form == form::box) {
      wire::type_at(end.value->type).destroy(end.value->box);
    }
    // A failure that came earlier has been sent already.
    if (!end.told) {
      if (end.why == nullptr && t->digest != 0) below_.journaling.write(*t, *end.value, ~std::uint64_t{0});
      invocation none(below_.lock);
      below_.executor.ended({t->home_rank, t->home_index, t->function, 0, false, t->request.get()},
                            end.value != nullptr ? *end.value : none, end.why == nullptr, end.why, 0);
    }
    ends_.finish(end);
    below_.records.free(t);
    if (slot != no_index) below_.actors.after_call(slot);
  }
}

MANTA_DECL void gangs::rank_died(rank_id dead) {
  for (gang_end* const broken : ends_.with_member(dead)) {
    gang_end& end = *broken;
    // A call that has not killed the rank itself fails as other calls do whose actor has died.
    const bool is_call = end.slot != no_index && !own_.members.is_to_blame(dead, end.leader->id);
    if (end.why == nullptr) {
      end.why = own_.failures.death(is_call ? store::failure::kind::actor : store::failure::kind::rank, dead,
                                    "a member of the gang was lost: ");
    }
    member_ended(end, dead);
  }
  // Parts of actors end when the calls under way have come back.
  below_.actors.kill_parts_with(dead, "a member of the gang was lost: " + own_.members.obituary_of(dead).why);
}

}  // namespace manta::exec
