// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>

#include "manta/exec/home/lost_tasks.hpp"
#include "manta/exec/rank/messages.hpp"

namespace manta::exec {

MANTA_DECL void lost_tasks::rank_died(rank_id dead) {
  // What follows adds and frees nodes, which the table does not allow during a visit. So the nodes
  // are listed and held first.
  base::list<node*> values, tasks;
  own_.graph.nodes.for_each([&](node& n) {
    forget_links_to(n, dead);
    if (!is_concerned(n, dead)) return;
    own_.refs.hold(n);
    (is_task(n) ? tasks : values).push_back(&n);
  });
  for (node* n : values) below_.recovery.value_lost(*n, dead);
  for (node* n : tasks) {
    if (is_task(*n)) task_lost(*n, dead);  // else it has failed with a value
  }
  for (node* n : values) own_.refs.release(*n);
  for (node* n : tasks) own_.refs.release(*n);
}

MANTA_DECL void lost_tasks::forget_links_to(node& n, rank_id dead) {
  for (link** at = &n.links; *at != nullptr;) {
    link* const l = *at;
    const bool names_rank = l->kind == link_kind::subscriber || l->kind == link_kind::puller ||
                            l->kind == link_kind::reader || l->kind == link_kind::replica ||
                            l->kind == link_kind::ahead;
    if (l->kind == link_kind::home && l->rank == dead) {
      l->count = 0;
      // The home could have given the value again. Now this copy may be the last one, so the ledger must not drop it
      // when memory is short.
      if (store::large* const only = store::large_of(n)) own_.ledger.keep(*only);
    }
    if (!names_rank || l->rank != dead) {
      at = &l->next;
      continue;
    }
    *at = l->next;
    own_.graph.links.free(l);
  }
}

MANTA_DECL bool lost_tasks::is_concerned(const node& n, rank_id dead) const {
  if (below_.fetches.is_asked_for(n, dead)) return true;
  if (n.state == state::failed) return false;
  if (n.state == state::ready) return place_of(n, own_.rank) == dead;
  if (is_stand_in(n)) return n.links->rank == dead;
  if (n.function == no_index) return is_ticket_for(n, dead);
  if (n.form == form::record)
    // A task that went to rank 0 may have been sent on to the dead rank: rank 0 is asked (task_lost).
    return n.record->place == graph::place::elsewhere && (n.record->caller == dead || n.record->caller == 0);
  return n.form == form::none && (n.sent.at == dead || (n.sent.at == 0 && own_.rank != 0 && n.sent.slot == no_index));
}

MANTA_DECL void lost_tasks::task_lost(node& n, rank_id dead) {
  const bool has_record = n.form == form::record;
  if (!has_record && n.sent.slot != no_index) {
    if (n.sent.at != dead) return;
    below_.elsewhere.note_back();
    // A call dies with its actor. It is made again only if the program allowed it, for the actor's state may have gone.
    if (others_.repeats_call(others_.rank, n)) return;
    below_.completion.fail(n, own_.members.is_to_blame(dead, n.sent.id)
                                  ? own_.failures.died_with(n, dead)
                                  : own_.failures.actor_died_with(dead, n.sent.id));
    return own_.refs.release(n);
  }
  const std::uint32_t at = has_record ? n.record->caller : n.sent.at;
  if (at != dead && !own_.members.is_dead(at)) {
    // Only rank 0 knows where it has sent the task. It answers, by on_task_lost, only if that was the dead rank.
    if (own_.rank != 0 && at == 0) {
      own_.post.send(0, message::where_is, where_message{place_key_of(n, own_.rank), n.index, 0});
    }
    if (own_.rank != 0 || at != 0) return;
    // a task of ours, on its second way
    if (!below_.placement.take_lost(place_key_of(n, own_.rank))) return;
  }
  submit_again(n, dead);
}

MANTA_DECL void lost_tasks::submit_again(node& n, rank_id dead) {
  const bool has_record = n.form == form::record;
  below_.elsewhere.note_back();
  if (has_record && n.record->ahead) {
    n.record->ahead = false;
    below_.elsewhere.note_ahead_back();
  }
  using verdict = membership::verdict;
  const std::uint64_t id = id_of(n);
  const verdict found = below_.members.judge(dead, id);
  const bool is_retried = found == verdict::culprit && below_.attempts.may_retry(n);
  if (found == verdict::too_often || (found == verdict::culprit && !is_retried)) {
    const bool is_culprit = found == verdict::culprit;
    below_.completion.fail(n, is_culprit ? own_.failures.died_with(n, dead) : own_.failures.was_there_too_often(n, id));
    return own_.refs.release(n);
  }
  // A task that was merely there when its rank died does not use up one of its attempts.
  if (is_retried) ++n.record->attempt;
  own_.counts.note_retry(n.function);
  if (is_retried || found == verdict::suspect) {
    graph::request& wanted = with_request(n);
    // A task that may have killed its rank does not come to rank 0, whose death would end the job.
    wanted.cost = {static_cast<int>(dead), !is_retried};
  }
  if (n.form == form::record) {
    n.record->place = graph::place::here;
    return others_.start(others_.rank, n);
  }
  const auto sent = n.sent;
  n.form = form::compact;
  n.compact.id = sent.id;
  std::memcpy(n.compact.arguments, &sent.kept, sizeof sent.kept);
  others_.task_ready(others_.rank, n);
}

MANTA_DECL graph::request& lost_tasks::with_request(node& n) {
  if (n.form != form::record) {
    const auto sent = n.sent;
    const auto* const arguments = reinterpret_cast<const std::byte*>(&sent.kept);
    task* const t = below_.records.make(sent.id, n.function, {arguments, n.size}, nullptr);
    t->home_index = n.index;
    n.form = form::record;
    n.record = t;
  }
  if (n.record->request == nullptr) n.record->request = graph::request_ptr(new graph::request);
  return *n.record->request;
}

MANTA_DECL store::failure_ptr lost_tasks::tried_too_often(const node& n, std::uint64_t id,
                                                          graph::request_ptr& request) const {
  const membership::toll t = own_.members.toll_of(id);
  if (t.caused + t.killed == 0) return nullptr;
  if (static_cast<int>(t.blamed()) > (request == nullptr ? 0 : request->retries)) {
    return own_.failures.died_with(n, t.last);
  }
  if (request == nullptr) request = graph::request_ptr(new graph::request);
  request->cost.rank = static_cast<int>(t.last);
  return nullptr;
}

MANTA_DECL void lost_tasks::on_task_lost(const where_message& m) {
  node& n = own_.graph.nodes.at(m.index);
  if (is_task(n) && place_key_of(n, own_.rank) == m.key) submit_again(n, m.rank);
}

}  // namespace manta::exec
