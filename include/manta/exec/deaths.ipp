// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Ranks that have died. Rank 0 hears of it (net/lifeline.hpp) and tells all
// others; then each rank, for itself, forgets the dead one and sees to what it
// is the home of:
//
//   a task that was there    is submitted again: while recovery is possible the home keeps what it was made of. That
//   which ran
//                            when the rank died by its own doing (an exit, a signal, MPI_Abort), or was the second to
//                            be killed under it, has caused the death: its retries count, and without any left it fails
//                            with rank_lost. One that has cost a rank never runs on rank 0
//   a value that was there   is made again by its task, if that is still known; else whoever asks gets object_lost
//   an actor that lived there is dead, and calls that were under way fail with actor_died; the one that has caused the
//                            death, with rank_lost
//   a rank that stood by       takes its place, and has its resources (runtime_options::spares)
//   a gang with a member there has failed, and is started again; members that do not come back from MPI are ended
//
// What the dead rank was the home of, what it had put and the results of what its tasks had submitted, lives on where
// others have a value of it: who needs it asks them all (seek). What nobody has is made once more by the task that had
// given the handle away, if the value in which it did so has been read here (value/lineage.hpp); else it is lost. Tasks
// that were running there run again elsewhere, and submit what they had submitted anew, under the same ids. Messages
// from it that are handled after the news are thrown away; none is sent to it (net::network::abandon).
#pragma once

#include <algorithm>
#include <bit>

#include "manta/exec/engine.hpp"

namespace manta::exec {

/// Collective.
MANTA_DECL void engine::connect_lifelines(const engine_options& options) {
  if (size_ == 1 || !options.recovery) return;
  lifeline_ = new net::lifeline(net_, options.heartbeat_ns);
  if (lifeline_->is_up()) {
    members_.set_recovers();
    if (!has_journal()) most_compact_ = sizeof(std::uint64_t) + 1;
    net::print_mpi_warnings_here();
    struct sigaction pipe {};  // MPI may write to a connection whose other end has died
    if (::sigaction(SIGPIPE, nullptr, &pipe) == 0 && pipe.sa_handler == SIG_DFL) ::signal(SIGPIPE, SIG_IGN);
    if (rank_ == 0) base::launcher::get().tell("survives\n");
    return;
  }
  delete std::exchange(lifeline_, nullptr);
  if (rank_ == 0) {
    std::fprintf(stderr,
                 "manta: not all ranks can reach rank 0 by TCP, so the death of a rank will not be noticed, and the "
                 "program may hang then%s; allow connections between the nodes of the job\n",
                 members_.has_spares() ? ", and the ranks that stand by never run anything" : "");
  }
}

// --- rank 0 hears of it

MANTA_DECL void engine::look_for_deaths() {
  for (const net::lifeline::death& d : lifeline_->take_deaths()) {
    const std::string why =
        "rank " + std::to_string(d.rank) + " has died: " + d.why.substr(d.why.starts_with("manta: ") ? 7 : 0);
    const auto is_near = [&](std::uint32_t spare) { return world_[spare].node == world_[d.rank].node; };
    const death_message news{d.task, d.rank, members_.successor_of(d.rank, is_near), d.by};
    const std::string then = news.successor != 0
                                 ? "rank " + std::to_string(news.successor) + ", which stood by, takes its place"
                             : members_.is_spare(d.rank) ? "it stood by, and had nothing to do"
                                                         : "what it had to do is done elsewhere";
    std::fprintf(stderr, "manta: %s; %s\n", why.c_str(), then.c_str());
    for (std::uint32_t r = 1; r < size_; ++r) {
      if (r != d.rank && !is_dead(r)) post_.send(r, message::rank_died, news, why.data(), why.size());
    }
    on_rank_died(news, why);
  }
  net_.pump(true);
}

/// Rank 0: what the scheduler had sent there, and the names that it had claimed.
MANTA_DECL void engine::placed_lost(std::uint32_t rank) {
  asked_.erase(rank);
  const std::uint64_t broken = scheduler_->load().gang_of(rank);
  base::list<node*> refused;
  if (!scheduler_->died(rank, [&](node& n) { refused.push_back(&n); })) {
    world_[0].executes = true;  // there is nobody else
    scheduler_->rank_0_executes(false);
    scheduler_->refuse_impossible([&](node& n) { refused.push_back(&n); });
  }
  for (node* n : refused) refuse_task(*n, never_possible(*n));
  places_.rank_died(rank);
  if (broken != 0) gang_watch_.note_broken(broken, base::now_ns() + 1'000'000'000);
  names_.rank_died(rank);
  answer_names();
  waves_.give_up();
}

/// Rank 0: members of a gang that wait inside MPI for one that has died cannot be freed.
MANTA_DECL void engine::end_broken_gangs() {
  const auto is_member = [&](std::uint32_t r, std::uint64_t gang) { return scheduler_->load().gang_of(r) == gang; };
  const auto has_members = [&](std::uint64_t gang) {
    bool any = false;
    for (std::uint32_t r = 0; r < size_; ++r) any = any || is_member(r, gang);
    return any;
  };
  gang_watch_.end_broken(base::now_ns(), has_members, [&](std::uint64_t gang) {
    if (is_member(0, gang)) {
      std::fprintf(stderr,
                   "manta: rank 0 waits inside MPI for a member of its gang that has died: the job ends here\n");
      ::_exit(1);
    }
    for (std::uint32_t r = 1; r < size_; ++r) {
      if (!is_member(r, gang)) continue;
      std::fprintf(stderr, "manta: rank %u waits inside MPI for a member of its gang that has died: it is ended too\n",
                   r);
      lifeline_->end(r);
    }
  });
}

MANTA_DECL void engine::on_where_is(std::uint32_t from, const where_message& m) {
  const std::uint32_t rank = places_.take_lost(m.key, [this](std::uint32_t r) { return is_dead(r); });
  if (rank == no_index) return;
  post_.send(from, message::task_lost, where_message{m.key, m.index, rank});
}

// --- every rank

/// It has from now on what the dead rank had; on another node, what it has there itself.
/// On the same node it has all that the dead rank had, but devices only if both see the same ones; else it has its own.
MANTA_DECL void engine::take_place(std::uint32_t spare, std::uint32_t rank) {
  members_.enlist(spare);
  graph::capacity& its = world_[spare];
  if (its.node == world_[rank].node) {
    const graph::gpu_set own = its.gpus;
    its = world_[rank];
    if (sees_[spare] == 0 || sees_[spare] != sees_[rank]) its.gpus = own;
  }
  its.executes = true;
  its.stands_by = false;
  if (scheduler_ != nullptr) scheduler_->joins(spare, its);
}

/// The one order in which the parts hear of a death: who lives; what comes from there no more; what rank 0 has sent
/// there; the nodes, values before tasks; then all else that is kept for a rank.
MANTA_DECL void engine::on_rank_died(const death_message& m, const std::string& why) {
  const std::uint32_t rank = m.rank;
  if (!members_.note_death(rank, {why, m.culprit, m.by})) return;
  if (m.successor != 0) take_place(m.successor, rank);
  leave_world(rank);
  fetches_.rank_died(rank);
  if (scheduler_ != nullptr) {
    short_ranks_.erase(rank);
    placed_lost(rank);
  }
  sent_arguments_.clear();  // some will not be answered
  nodes_lost(rank);
  supply_.rank_died(rank);
  ledger_.rank_died(rank);
  gangs_lost(rank);
  ask_for_patience(rank);
  supply_.answer_deferred();  // what is on its way to the dead rank will not get there
}

MANTA_DECL void engine::leave_world(std::uint32_t dead) {
  world_[dead] = graph::capacity{};
  world_[dead].node = -1;
  world_[dead].executes = false;
}

MANTA_DECL void engine::nodes_lost(std::uint32_t dead) {
  base::list<node*> values, tasks;
  graph_.nodes.for_each([&](node& n) {
    forget_links_to(n, dead);
    if (!is_concerned(n, dead)) return;
    refs_.hold(n);
    (is_task(n) ? tasks : values).push_back(&n);
  });
  for (node* n : values) recovery_.value_lost(*n, dead);
  for (node* n : tasks) {
    if (is_task(*n)) task_lost(*n, dead);  // else it has failed with a value
  }
  for (node* n : values) refs_.release(*n);
  for (node* n : tasks) refs_.release(*n);
}

/// What it wanted to be told, or had of a value.
MANTA_DECL void engine::forget_links_to(node& n, std::uint32_t rank) {
  for (link** at = &n.links; *at != nullptr;) {
    link* const l = *at;
    const bool names_rank = l->kind == link_kind::subscriber || l->kind == link_kind::puller ||
                            l->kind == link_kind::reader || l->kind == link_kind::replica ||
                            l->kind == link_kind::ahead;
    if (l->kind == link_kind::home && l->rank == rank) {
      l->count = 0;
      if (store::large* const only = store::large_of(n)) ledger_.keep(*only);
    }
    if (!names_rank || l->rank != rank) {
      at = &l->next;
      continue;
    }
    *at = l->next;
    graph_.links.free(l);
  }
}

MANTA_DECL bool engine::is_concerned(node& n, std::uint32_t rank) {
  if (fetches_.is_asked_for(n, rank)) return true;
  if (n.state == state::failed) return false;
  if (n.state == state::ready) return place_of(n, rank_) == rank;
  if (is_stand_in(n)) return n.links->rank == rank;
  if (n.function == no_index) return n.missing == rank + 1;  // an answer is awaited
  if (n.form == form::record)
    return n.record->place == graph::place::elsewhere && (n.record->caller == rank || n.record->caller == 0);
  return n.form == form::none && (n.sent.at == rank || (n.sent.at == 0 && rank_ != 0 && n.sent.slot == no_index));
}

/// A task or call of ours that was there. One that rank 0 has sent on: perhaps.
MANTA_DECL void engine::task_lost(node& n, std::uint32_t rank) {
  const bool has_record = n.form == form::record;
  if (!has_record && n.sent.slot != no_index) {
    if (n.sent.at != rank) return;
    elsewhere_.note_back();
    completion_.fail(n, members_.is_to_blame(rank, n.sent.id)
                ? failures_.died_with(n, rank)
                : failures_.death(store::failure::kind::actor, rank,
                                  "the actor died with its rank before the call had ended: ", true));
    return refs_.release(n);
  }
  const std::uint32_t at = has_record ? n.record->caller : n.sent.at;
  if (at != rank && !is_dead(at)) {
    if (rank_ != 0 && at == 0) post_.send(0, message::where_is, where_message{place_key_of(n, rank_), n.index, 0});
    if (rank_ != 0 || at != 0) return;
    // a task of ours, on its second way
    if (places_.take_lost(place_key_of(n, rank_), [this](std::uint32_t r) { return is_dead(r); }) == no_index) return;
  }
  submit_again(n, rank);
}

MANTA_DECL void engine::submit_again(node& n, std::uint32_t rank) {
  const bool has_record = n.form == form::record;
  elsewhere_.note_back();
  if (has_record && n.record->ahead) {
    n.record->ahead = false;
    elsewhere_.note_ahead_back();
  }
  using verdict = membership::verdict;
  const std::uint64_t id = id_of(n);
  const verdict found = members_.judge(rank, id);
  const bool is_retried = found == verdict::culprit && attempts_.may_retry(n);
  if (found == verdict::too_often || (found == verdict::culprit && !is_retried)) {
    completion_.fail(n,
                     found == verdict::culprit ? failures_.died_with(n, rank) : failures_.was_there_too_often(n, id));
    return refs_.release(n);
  }
  if (is_retried) ++n.record->attempt;
  if (is_retried || found == verdict::suspect) with_request(n).cost = static_cast<int>(rank);
  if (n.form == form::record) {
    n.record->place = graph::place::here;
    return start_when_possible(n);
  }
  const auto sent = n.sent;
  n.form = form::compact;
  n.compact.id = sent.id;
  std::memcpy(n.compact.arguments, &sent.kept, sizeof sent.kept);
  task_ready(n);
}

/// What is asked for a task of ours that was sent away; with a record of its own if it has none.
MANTA_DECL const graph::request& engine::with_request(node& n) {
  if (n.form != form::record) {
    const auto sent = n.sent;
    task* const t =
        records_.make(sent.id, n.function, reinterpret_cast<const std::byte*>(&sent.kept), n.size, nullptr, 0, nullptr);
    t->home_index = n.index;
    n.form = form::record;
    n.record = t;
  }
  if (n.record->request == nullptr) n.record->request = graph::request_ptr(new graph::request);
  return *n.record->request;
}

/// A task is submitted again, under the same id, because the rank has died on which it had been: by one that runs once
/// more. What it has cost counts as ever. Null if it may run, else why not.
MANTA_DECL store::failure_ptr engine::tried_too_often(const node& n, std::uint64_t id, graph::request_ptr& request) {
  const membership::toll t = members_.toll_of(id);
  if (t.caused + t.killed == 0) return nullptr;
  if (static_cast<int>(t.blamed()) > (request == nullptr ? 0 : request->retries)) {
    return failures_.died_with(n, t.last);
  }
  if (request == nullptr) request = graph::request_ptr(new graph::request);
  request->cost = static_cast<int>(t.last);
  return nullptr;
}

/// At the leaders of gangs: a member will not tell any more how it ended.
MANTA_DECL void engine::gangs_lost(std::uint32_t rank) {
  for (gang_end* const broken : gang_ends_.with_member(rank)) {
    gang_end& end = *broken;
    const bool is_call = end.slot != no_index && !members_.is_to_blame(rank, end.leader->id);
    if (end.why == nullptr) {
      end.why = failures_.death(is_call ? store::failure::kind::actor : store::failure::kind::rank, rank,
                              "a member of the gang was lost: ");
    }
    member_ended(end, rank);
  }
  // Parts of actors end when the calls under way have come back. One that may be made again is left to rank 0, which
  // ends all its ranks.
  for (std::uint32_t index = 0; index < slots_.size(); ++index) {
    const actor_slot& slot = slots_[index];
    if (!slot.used || slot.gang == nullptr || !slot.request || slot.request->restarts > 0) continue;
    if (std::ranges::count(slot.gang->ranks, rank) == 0) continue;
    on_kill(index, "a member of the gang was lost: " + members_.obituary_of(rank).why);
  }
}

}  // namespace manta::exec
