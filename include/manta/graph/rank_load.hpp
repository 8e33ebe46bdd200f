// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What was sent to each rank, and which rank has room for more.
//
// A rank is sent work ahead of time, measured in time: up to `window_ns` of
// estimated work, so that short tasks flow and long ones never queue behind
// each other. The estimate is kept per function; a function that has not ended
// yet counts as a whole window, so its first tasks go one to a rank.
#pragma once

#include <algorithm>
#include <utility>

#include "manta/graph/change_log.hpp"
#include "manta/graph/durations.hpp"
#include "manta/graph/node.hpp"
#include "manta/graph/request.hpp"
#include "manta/graph/resources.hpp"

namespace manta::graph {

class rank_load {
 public:
  static constexpr std::uint32_t window_ns = 100'000;
  static constexpr std::uint32_t window_tasks = 4096;
  static constexpr std::uint32_t least_charge_ns = 20;

  struct rank_state {
    std::uint32_t sent = 0;     ///< tasks sent and not ended
    std::uint32_t blocked = 0;  ///< how many of these wait inside
    bool own_work = false;      ///< it runs what these tasks, or its actors, have submitted
    bool in_call = false;   ///< it runs a call of an actor for longer than most take: what was sent there would wait
    bool in_idle = false;   ///< it stands in idle_
    bool in_roomy = false;  ///< it stands in roomy_
    bool closed = false;    ///< all of its cpus are reserved, and not those of all other ranks
    bool kept = false;      ///< it is kept for an old gang: no task is sent there
    bool in_gang = false;   ///< a member has been sent and has not ended
    bool in_actor = false;  ///< that member is part of an actor, and may be for ever
    std::uint64_t sent_ns = 0;
    std::uint64_t gang = 0;  ///< the number of the gang that it is in
    std::uint32_t turn = 0;  ///< when a task that is spread came here last
    capacity all;            ///< what the rank has
  };

  explicit rank_load(const base::array<capacity>& world) : ranks_(world.size()), log_(world.size()) {
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
  /// Number of executing ranks on which nothing that was sent there runs.
  std::size_t inactive() const { return inactive_; }
  std::uint64_t tasks_ended() const { return ended_; }
  std::uint32_t sent(std::uint32_t rank) const { return ranks_[rank].sent; }
  bool idle(std::uint32_t rank) const { return idle(ranks_[rank]); }
  bool in_gang(std::uint32_t rank) const { return ranks_[rank].in_gang; }
  /// The number of the gang of which `rank` is a member; 0: it is in none.
  std::uint64_t gang_of(std::uint32_t rank) const { return ranks_[rank].in_gang ? ranks_[rank].gang : 0; }
  /// Is the rank in a gang task, which may go on at any moment and then block its rank inside MPI?
  bool in_team(std::uint32_t rank) const { return ranks_[rank].in_gang && !ranks_[rank].in_actor; }
  /// Is the rank in a gang task that waits?
  bool waits_in_gang(std::uint32_t rank) const { return in_gang(rank) && ranks_[rank].blocked > 0; }
  /// Does a member of a gang, or a call of an actor's part, have the rank's thread?
  bool is_held_up(std::uint32_t rank) const {
    return in_gang(rank) && (in_team(rank) ? active(ranks_[rank]) != 0 : ranks_[rank].in_call);
  }
  /// May what was begun on the rank stand still while the rank is inside MPI, and whoever waits for this task too? A
  /// part of an actor goes into MPI in its calls only, so it matters to the tasks that such calls wait for.
  bool may_block(std::uint32_t rank, const request& wanted) const {
    return wanted.for_member ? in_gang(rank) : in_team(rank);
  }
  /// Has the rank, which is in a gang, been sent a task besides its member? A part of an actor is no task.
  bool runs_beside_member(std::uint32_t rank) const { return sent(rank) > (in_team(rank) ? 1U : 0U); }
  static std::uint32_t active(const rank_state& r) { return r.sent > r.blocked ? r.sent - r.blocked : 0; }

  change_log& log() { return log_; }
  const change_log& log() const { return log_; }
  const durations& times() const { return durations_; }
  /// Estimated nanoseconds of a task of this function: a smoothed mean of those that ended.
  std::uint32_t estimate(std::uint32_t function) const {
    const float mean = durations_.mean(function);
    if (mean < 0) return window_ns;
    return std::max(least_charge_ns, static_cast<std::uint32_t>(std::min(mean, 4e9F)));
  }

  // --- events

  /// A task of this function is sent to `rank`: returns the nanoseconds that it takes of the window.
  std::uint32_t book(std::uint32_t function, std::uint32_t rank) {
    const std::uint32_t charge = estimate(function);
    rank_state& r = ranks_[rank];
    inactive_ -= r.sent++ == r.blocked;
    r.sent_ns += charge;
    return charge;
  }
  void unbook(std::uint32_t rank, std::uint32_t charge) {
    rank_state& r = ranks_[rank];
    inactive_ += --r.sent == r.blocked;
    r.sent_ns -= charge;
  }
  /// A task has ended after `ns` of its own time, or `not_run`.
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
  /// The rank is no more, wherever it still stands.
  void died(std::uint32_t rank) {
    rank_state& r = ranks_[rank];
    inactive_ -= r.all.executes && active(r) == 0;
    rank_state dead;
    dead.all.executes = false;
    dead.all.node = r.all.node;  // some may want to be near it
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
  /// False if rank 0 did so before.
  bool rank_0_executes() {
    if (ranks_[0].all.executes) return false;
    change(0, [](rank_state& r) { r.all.executes = true; });
    inactive_ += active(ranks_[0]) == 0;
    executing_.push_back(0);
    return true;
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

  /// Something may be possible on this rank that was not before.
  void changed(std::uint32_t rank) {
    offer(rank);
    log_.note(rank);
  }
  /// Lets the rank be found by next_rank().
  void offer(std::uint32_t rank) {
    rank_state& r = ranks_[rank];
    log_.changed_for_gangs();
    if (!r.all.executes || r.closed) return;
    if (idle(r) && !std::exchange(r.in_idle, true)) idle_.push_back(rank);
    if (!std::exchange(r.in_roomy, true)) roomy_.push_back(rank);
  }

  // --- room

  bool has_room(std::uint32_t rank, std::uint32_t ns) const {
    const rank_state& r = ranks_[rank];
    if (r.kept || r.in_call) return false;
    return active(r) == 0 || (!r.in_gang && r.sent < window_tasks && r.sent_ns + ns <= window_ns);
  }
  /// Has it no room for any task, however short? If they are to be spread, one with much work that has the fewest tasks
  /// still counts.
  bool is_full(std::uint32_t rank, bool spread) const {
    const rank_state& r = ranks_[rank];
    return r.kept || r.in_call ||
           (active(r) != 0 && (r.in_gang || r.sent >= window_tasks || (!spread && r.sent_ns >= window_ns)));
  }
  /// Is every rank that takes tasks in a team? Ranks that are closed or kept for a gang take none.
  bool all_in_teams() const { return outside_ == 0; }
  /// What was begun beside a member of a gang that waits stands still when that goes on in MPI, where its team may wait
  /// for just this: so tasks go to others, as long as there is a rank without a member.
  bool is_shunned(std::uint32_t rank) const { return in_team(rank) && outside_ != 0; }

  /// Idle ranks first, then those with room in turn. A rank without room leaves the list until something ends there.
  std::uint32_t next_rank(std::uint32_t function) {
    const std::uint32_t ns = estimate(function);
    while (!idle_.empty()) {
      const std::uint32_t rank = idle_.front();
      if (idle(rank) && !ranks_[rank].kept && !ranks_[rank].closed && !is_shunned(rank)) return rank;
      idle_.pop_front();
      ranks_[rank].in_idle = false;
    }
    while (!roomy_.empty()) {
      const std::uint32_t rank = roomy_.front();
      if (has_room(rank, ns) && !ranks_[rank].closed && !is_shunned(rank)) {
        if (roomy_.size() > 1 && ++turn_ >= 16) {  // a short run to each, so that batches fill
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
  static bool is_outside(const rank_state& r) {
    return r.all.executes && !r.closed && !r.kept && (!r.in_gang || r.in_actor);
  }
  /// Changes what decides whether the rank is outside of teams. Where none is left, those inside are shunned no more.
  template <class Change>
  void change(std::uint32_t rank, Change&& change) {
    const bool was_outside = is_outside(ranks_[rank]);
    change(ranks_[rank]);
    outside_ = outside_ + is_outside(ranks_[rank]) - was_outside;
    if (!was_outside || outside_ != 0) return;
    for (const std::uint32_t each : executing_) offer(each);
  }

  base::array<rank_state> ranks_;
  base::list<std::uint32_t> executing_;
  base::ring<std::uint32_t> idle_, roomy_;
  unsigned turn_ = 0;  // tasks that the front of roomy_ has got
  std::size_t inactive_ = 0;
  std::size_t outside_ = 0;  // ranks that take tasks and are in no team
  std::uint64_t ended_ = 0;
  std::uint32_t turns_ = 0;  // tasks that were spread
  durations durations_;
  change_log log_;
};

}  // namespace manta::graph
