// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The tasks that were sent to each rank, and the ranks that have room for more.
//
// A rank gets tasks ahead of time, up to `window_ns` of estimated work: so short tasks never run out, and long tasks
// never queue behind each other. The estimate is a mean for each function. A function of which no task has ended yet
// counts as a whole window, so each of its first tasks goes to another rank.
#pragma once

#include <algorithm>
#include <utility>

#include "manta/graph/change_log.hpp"
#include "manta/graph/durations.hpp"
#include "manta/graph/node.hpp"
#include "manta/graph/offers.hpp"
#include "manta/graph/request.hpp"
#include "manta/graph/resources.hpp"

namespace manta::graph {

class rank_load {
 public:
  static constexpr std::uint32_t window_ns = 100'000;
  static constexpr std::uint32_t window_tasks = 4096;
  static constexpr std::uint32_t least_charge_ns = 20;

  struct rank_state {
    std::uint32_t sent = 0;     ///< number of tasks sent and not ended
    std::uint32_t blocked = 0;  ///< number of these that wait inside
    bool own_work = false;      ///< the rank runs tasks that these tasks, or its actors, have submitted
    bool in_call = false;       ///< the rank is in an unusually long call of an actor: tasks there would wait
    bool in_idle = false;       ///< the rank stands in idle_
    bool in_roomy = false;      ///< the rank stands in roomy_
    bool closed = false;        ///< all of its cpus are reserved, and some other rank has cpus that are not
    bool kept = false;          ///< the rank is kept for an old gang: no task is sent there
    bool lent = false;          ///< rank 0, which runs tasks only since some need it
    bool in_gang = false;       ///< a member of a gang was sent there and has not ended
    bool in_actor = false;      ///< this member is a part of an actor, and may stay for ever
    std::uint64_t sent_ns = 0;
    std::uint64_t gang = 0;  ///< number of the gang that the rank is in
    std::uint32_t turn = 0;  ///< number of the last task with `spread` that the rank got
    capacity all;            ///< what the rank offers

    /// Whether it is rank 0, which runs only some tasks (takes()) as long as it is in no gang.
    bool is_lent() const { return lent && !in_gang; }
  };

  explicit rank_load(const offers& world) : ranks_(world.size()), log_(world.size()) {
    for (std::uint32_t r = 0; r < world.size(); ++r) {
      ranks_[r].all = world[r];
      if (!ranks_[r].all.executes) continue;
      executing_.push_back(r);
      ++inactive_;
      ++outside_;
      offer(r);
    }
  }

  const rank_state& operator[](std::uint32_t rank) const { return ranks_[rank]; }
  const base::list<std::uint32_t>& executing() const { return executing_; }
  /// Number of executing ranks on which no task runs that was sent there.
  std::size_t inactive() const { return inactive_; }
  std::uint64_t tasks_ended() const { return ended_; }
  std::uint32_t sent(std::uint32_t rank) const { return ranks_[rank].sent; }
  bool idle(std::uint32_t rank) const { return idle(ranks_[rank]); }
  bool in_gang(std::uint32_t rank) const { return ranks_[rank].in_gang; }
  /// The number of the gang that `rank` is in; 0: none.
  std::uint64_t gang_of(std::uint32_t rank) const { return ranks_[rank].in_gang ? ranks_[rank].gang : 0; }
  /// Whether the rank is in a gang task, which may continue at any moment and then block its rank inside MPI.
  bool in_team(std::uint32_t rank) const { return ranks_[rank].in_gang && !ranks_[rank].in_actor; }
  /// Whether the rank is in a gang task that waits.
  bool waits_in_gang(std::uint32_t rank) const { return in_gang(rank) && ranks_[rank].blocked > 0; }
  /// Whether a member of a gang, or a call of an actor's part, runs on the rank's thread now.
  bool is_held_up(std::uint32_t rank) const {
    return in_gang(rank) && (in_team(rank) ? active(ranks_[rank]) != 0 : ranks_[rank].in_call);
  }
  /// Whether the task might stand still on this rank while the rank is inside MPI, and everything that waits for
  /// the task with it. A part of an actor enters MPI only in its calls, so this concerns only tasks that such
  /// calls wait for.
  bool may_block(std::uint32_t rank, const request& wanted) const {
    return wanted.for_member ? in_gang(rank) : in_team(rank);
  }
  /// Whether a rank in a gang was sent a task besides its member. A part of an actor is no task.
  bool runs_beside_member(std::uint32_t rank) const { return sent(rank) > (in_team(rank) ? 1U : 0U); }
  /// Whether the rank is one of those that run tasks without conditions.
  static bool takes_any(const rank_state& r) { return r.all.executes && !r.closed && !r.is_lent(); }
  /// Whether the rank may run a task with this request: rank 0, if it is lent, runs those that need it, and those of
  /// gangs' members, which may wait for them.
  static bool takes(const rank_state& r, const request& wanted) {
    return !r.is_lent() || wanted.needs_rank_0 || wanted.for_member || wanted.granted.member >= 0;
  }
  static std::uint32_t active(const rank_state& r) { return r.sent > r.blocked ? r.sent - r.blocked : 0; }

  change_log& log() { return log_; }
  const change_log& log() const { return log_; }
  const durations& times() const { return durations_; }
  /// Estimated nanoseconds of a task of this function: a smoothed mean of the tasks that have ended.
  std::uint32_t estimate(std::uint32_t function) const {
    const float mean = durations_.mean(function);
    if (mean < 0) return window_ns;
    return std::max(least_charge_ns, static_cast<std::uint32_t>(std::min(mean, 4e9F)));
  }

  // --- events

  /// Notes that a task of this function is sent to `rank`; returns its booked time, in nanoseconds of the window.
  std::uint32_t book(std::uint32_t function, std::uint32_t rank) {
    const std::uint32_t charge = estimate(function);
    rank_state& r = ranks_[rank];
    log_.note_load();
    inactive_ -= r.sent++ == r.blocked;
    r.sent_ns += charge;
    return charge;
  }
  void unbook(std::uint32_t rank, std::uint32_t charge) {
    rank_state& r = ranks_[rank];
    inactive_ += --r.sent == r.blocked;
    r.sent_ns -= charge;
  }
  /// Notes that a task has ended after `ns` of its own time; not_run: it never ran.
  void ended(std::uint32_t rank, std::uint32_t function, std::uint32_t charge, std::uint64_t ns) {
    unbook(rank, charge);
    if (ns != not_run) durations_.learn(function, ns);
    ++ended_;
  }
  void blocked(std::uint32_t rank, std::uint32_t count, bool own_work, bool in_call) {
    rank_state& r = ranks_[rank];
    inactive_ -= active(r) == 0;
    r.blocked = count;
    inactive_ += active(r) == 0;
    r.own_work = own_work;
    r.in_call = in_call;
  }
  void enters_gang(std::uint32_t rank, std::uint64_t gang, bool of_actor) {
    change(rank, [=](rank_state& r) {
      r.in_gang = true;
      r.gang = gang;
      r.in_actor = of_actor;
    });
  }
  void leaves_gang(std::uint32_t rank) {
    change(rank, [](rank_state& r) { r.in_gang = r.in_actor = false; });
  }
  /// Notes that the rank has died. It may still stand in the lists.
  void died(std::uint32_t rank) {
    rank_state& r = ranks_[rank];
    inactive_ -= r.all.executes && active(r) == 0;
    rank_state dead;
    dead.all.executes = false;
    dead.all.node = r.all.node;  // a task may want to be near this rank
    dead.closed = true;
    dead.in_idle = r.in_idle;
    dead.in_roomy = r.in_roomy;
    executing_.remove(rank);
    change(rank, [&](rank_state& its) { its = std::move(dead); });
    log_.forget(rank);
  }
  void joins(std::uint32_t rank, const capacity& its) {
    change(rank, [&](rank_state& r) { r.all = its; });
    ++inactive_;
    executing_.push_back(rank);
  }
  /// Notes that rank 0 executes tasks; false if it did so before. `lent`: only those that need it, unless it
  /// executes others already.
  bool rank_0_executes(bool lent) {
    const bool is_first = !ranks_[0].all.executes;
    change(0, [=](rank_state& r) {
      r.all.executes = true;
      r.lent = lent && (is_first || r.lent);
    });
    if (!is_first) return false;
    inactive_ += active(ranks_[0]) == 0;
    executing_.push_back(0);
    return true;
  }
  /// Whether the rank could run this task if nothing were taken.
  bool could_run(std::uint32_t rank, const request& wanted) const {
    const rank_state& r = ranks_[rank];
    return wanted.possible(static_cast<int>(rank), r.all) && takes(r, wanted);
  }
  void close(std::uint32_t rank, bool closed) {
    change(rank, [=](rank_state& r) { r.closed = closed; });
  }
  void keep(std::uint32_t rank) {
    change(rank, [](rank_state& r) { r.kept = true; });
  }
  bool keep_no_more(std::uint32_t rank) {
    const bool was = ranks_[rank].kept;
    change(rank, [](rank_state& r) { r.kept = false; });
    return was;
  }
  void spread_to(std::uint32_t rank) { ranks_[rank].turn = ++turns_; }

  /// Notes that something may have become possible on this rank.
  void changed(std::uint32_t rank) {
    offer(rank);
    log_.note(rank);
  }
  /// Makes next_rank() find the rank.
  void offer(std::uint32_t rank) {
    rank_state& r = ranks_[rank];
    log_.note_load();
    log_.changed_for_gangs();
    if (!takes_any(r)) return;
    if (idle(r) && !std::exchange(r.in_idle, true)) idle_.push_back(rank);
    if (!std::exchange(r.in_roomy, true)) roomy_.push_back(rank);
  }

  // --- room

  bool has_room(std::uint32_t rank, std::uint32_t ns) const {
    const rank_state& r = ranks_[rank];
    if (r.kept || r.in_call) return false;
    return active(r) == 0 || (!r.in_gang && r.sent < window_tasks && r.sent_ns + ns <= window_ns);
  }
  /// Whether the rank has no room for any task, however short. With `spread`, only the number of tasks counts, not
  /// their estimated time.
  bool is_full(std::uint32_t rank, bool spread) const {
    const rank_state& r = ranks_[rank];
    return r.kept || r.in_call ||
           (active(r) != 0 && (r.in_gang || r.sent >= window_tasks || (!spread && r.sent_ns >= window_ns)));
  }
  /// Whether every rank that takes tasks is in a team. Ranks that are closed or kept for a gang take no tasks.
  bool all_in_teams() const { return outside_ == 0; }
  /// Whether tasks avoid this rank because a member of a gang waits there. When the member continues inside MPI, a task
  /// that has begun beside it stands still, and the team may be waiting for this very task. So tasks go to other ranks,
  /// as long as there is a rank without a member.
  bool is_shunned(std::uint32_t rank) const { return in_team(rank) && outside_ != 0; }

  /// The next rank for a task without conditions: idle ranks first, then ranks with room in turn. A rank without room
  /// leaves the list until a task ends there.
  std::uint32_t next_rank(std::uint32_t function) {
    const std::uint32_t ns = estimate(function);
    if (std::exchange(members_are_due_, false) && outside_ == 0) {
      for (const std::uint32_t each : executing_) offer(each);
    }
    while (!idle_.empty()) {
      const std::uint32_t rank = idle_.front();
      if (idle(rank) && !ranks_[rank].kept && takes_any(ranks_[rank]) && !is_shunned(rank)) return rank;
      idle_.pop_front();
      ranks_[rank].in_idle = false;
    }
    while (!roomy_.empty()) {
      const std::uint32_t rank = roomy_.front();
      if (has_room(rank, ns) && takes_any(ranks_[rank]) && !is_shunned(rank)) {
        if (roomy_.size() > 1 && ++turn_ >= 16) {  // several tasks in a row to each rank fill the batches
          turn_ = 0;
          roomy_.pop_front();
          roomy_.push_back(rank);
        }
        return rank;
      }
      roomy_.pop_front();
      ranks_[rank].in_roomy = false;
    }
    return no_index;
  }

 private:
  static bool idle(const rank_state& r) { return active(r) == 0 && !r.own_work && !r.in_call; }
  static bool is_outside(const rank_state& r) { return takes_any(r) && !r.kept && (!r.in_gang || r.in_actor); }
  /// Changes the state that decides whether the rank is outside of teams. When no rank is left outside, ranks inside of
  /// teams are offered again, before the next task is placed.
  template <class Change>
  void change(std::uint32_t rank, Change&& change) {
    const bool was_outside = is_outside(ranks_[rank]);
    log_.note_load();
    change(ranks_[rank]);
    outside_ = outside_ + is_outside(ranks_[rank]) - was_outside;
    if (!was_outside || outside_ != 0) return;
    members_are_due_ = true;
    log_.changed_for_gangs();
  }

  base::array<rank_state> ranks_;
  base::list<std::uint32_t> executing_;
  base::ring<std::uint32_t> idle_, roomy_;
  unsigned turn_ = 0;  // number of tasks in a row that the first rank of roomy_ has got
  std::size_t inactive_ = 0;
  bool members_are_due_ = false;  // the ranks in teams are to be offered again
  std::size_t outside_ = 0;       // number of ranks that take tasks and are in no team
  std::uint64_t ended_ = 0;
  std::uint32_t turns_ = 0;  // number of tasks with `spread` so far
  durations durations_;
  change_log log_;
};

}  // namespace manta::graph
