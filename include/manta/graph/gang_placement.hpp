// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Decides which ranks a gang gets, and when.
//
// A gang starts when enough ranks have nothing to do at the same moment. While it waits, other tasks fill the ranks.
// When as many tasks have ended as there are ranks, the waiting gang is old: each rank that becomes idle is then kept
// free for it. A rank is in one gang at a time, because members block it inside MPI.
#pragma once

#include <algorithm>
#include <utility>

#include "manta/graph/gang_choice.hpp"
#include "manta/graph/rank_choice.hpp"

namespace manta::graph {

class gang_placement {
 public:
  gang_placement(rank_load& load, holdings& held, const rank_choice& choice)
      : load_(load), held_(held), choice_(choice) {}

  /// The ranks of the gang that was placed last; its grants and its number follow.
  const base::list<std::uint32_t>& members() const { return members_; }
  const base::list<grant>& grants() const { return grants_; }
  std::uint64_t id() const { return gangs_; }
  bool keeps(std::uint32_t rank) const { return load_[rank].kept; }
  /// The old gang's queue for which ranks are kept, or null.
  request_queue* keeper() const { return keeper_; }

  void somebody_died() { all_live_ = false; }

  /// Whether the living ranks could meet this request if nothing were taken. True for a reservation that is
  /// not met yet.
  bool is_possible(const request& wanted) {
    candidates_.clear();
    if (wanted.reservation != 0) {
      const reservation* const r = held_.find_reservation(wanted.reservation);
      if (r == nullptr || !r->met) return true;
      for (std::size_t i = 0; i < r->parts.size(); ++i) {
        if (held_.is_for(wanted, i, r->parts[i])) add_bundle(r->parts[i].rank);
      }
    } else {
      for (const std::uint32_t rank : load_.executing()) {
        if (!may_join(rank, wanted)) continue;
        if (load_.could_run(rank, wanted)) candidates_.push_back({rank, load_[rank].all.node});
      }
    }
    if (wanted.ranks == 0) return !candidates_.empty();
    return choose_gang(candidates_, {static_cast<std::size_t>(wanted.ranks), wanted.nodes}, members_);
  }

  /// Finds ranks for the first gang of a queue among the ranks without work, some of which may be kept for it. If the
  /// gang is old and there are too few, begins to keep ranks that become idle.
  bool place(request_queue& q) {
    const request& wanted = *q.wanted;
    if (q.looked_at == load_.log().state_for_gangs()) return false;
    const bool old = keeper_ == nullptr && load_.tasks_ended() - q.first_since >= load_.executing().size();
    if (load_.inactive() < static_cast<std::size_t>(wanted.ranks) && !old) return false;
    const bool is_found = has_no_wishes(q) ? find_by_node(q) : find_among_all(q);
    if (is_found) return true;
    q.looked_at = load_.log().state_for_gangs();
    if (old) keep_for(q);
    return false;
  }

  /// Starts the gang of this node on the ranks that place() has found; returns the booked time of each rank.
  std::uint32_t start(const node& n) {
    if (keeper_ != nullptr && load_[members_[0]].kept) stop_keeping();
    request& wanted = *n.record->request;
    wanted.granted.reason = wanted.reservation != 0 ? placement_reason::gang_in_bundles
                            : wanted.near >= 0      ? placement_reason::gang_near
                            : wanted.spread         ? placement_reason::gang_spread
                                                    : placement_reason::gang;
    ++gangs_;
    load_.log().changed_for_gangs();
    std::uint32_t charge = 0;
    grants_.clear();
    for (const std::uint32_t rank : members_) {
      load_.enters_gang(rank, gangs_, wanted.actor);
      if (wanted.reservation != 0) wanted.granted.bundle = held_.bundle_on(rank, wanted);
      held_.take(wanted, rank);
      grants_.push_back(wanted.granted);
      charge = load_.book(n.function, rank);
    }
    wanted.granted = grants_[0];
    return charge;
  }

  void stop_keeping() {
    keeper_ = nullptr;
    kept_.clear();
    for (const std::uint32_t rank : load_.executing()) {
      if (load_.keep_no_more(rank)) load_.changed(rank);
    }
  }

 private:
  gang_shape shape_of(const request& wanted) const {
    gang_shape shape{static_cast<std::size_t>(wanted.ranks), wanted.nodes};
    shape.spread = wanted.spread;
    if (wanted.near >= 0) shape.near = load_[static_cast<std::uint32_t>(wanted.near)].all.node;
    return shape;
  }
  /// Whether the gang takes any ranks, and none is kept for it: then gang_index.hpp finds them.
  bool has_no_wishes(const request_queue& q) const {
    const request& wanted = *q.wanted;
    return wanted.reservation == 0 && wanted.nodes == 0 && !wanted.spread && wanted.near < 0 && keeper_ != &q &&
           !load_[0].all.executes;
  }
  bool find_by_node(request_queue& q) {
    const request& wanted = *q.wanted;
    const auto can = [&](std::uint32_t rank) {
      return may_join(rank, wanted) && could_join(rank, q, true) && choice_.may_take(rank, q, wanted);
    };
    const auto add = [&](std::uint32_t rank) {
      if (can(rank)) q.free.add(rank);
    };
    change_log& log = load_.log();
    if (q.free.empty() || log.must_look_everywhere(q.read)) {
      q.free.begin(load_.executing(), [this](std::uint32_t rank) { return load_[rank].all.node; });
      for (const std::uint32_t rank : load_.executing()) add(rank);
    } else {
      log.each_since(q.read, add);
    }
    log.move_to_end(q.read);
    return q.free.choose(static_cast<std::size_t>(wanted.ranks), can, members_);
  }
  bool find_among_all(const request_queue& q) {
    const request& wanted = *q.wanted;
    gang_shape shape = shape_of(wanted);
    if (wanted.spread || wanted.near >= 0) {
      find_candidates(q, false);
      set_hopes(shape, candidates_);
    }
    find_candidates(q, true);
    return choose_gang(candidates_, shape, members_);
  }
  /// Keeps ranks that become idle for an old gang, if there will be enough.
  void keep_for(request_queue& q) {
    find_candidates(q, false);
    gang_shape shape = shape_of(*q.wanted);
    if (q.wanted->spread || q.wanted->near >= 0) set_hopes(shape, candidates_);
    if (!choose_gang(candidates_, shape, members_)) return;
    keeper_ = &q;
    for (const std::uint32_t rank : members_) {
      kept_.push_back(rank);
      load_.keep(rank);
    }
  }
  /// Rank 0, where it is lent, joins only gangs that need it, and none after a death.
  bool may_join(std::uint32_t rank, const request& wanted) const {
    const bool may_be_lent = !load_[rank].lent || wanted.ranks == 0 || (wanted.needs_rank_0 && all_live_);
    return wanted.may_come_to(static_cast<int>(rank)) && may_be_lent;
  }
  /// Finds the ranks that can take a member: now, or else once all of their tasks have ended.
  void find_candidates(const request_queue& q, bool now) {
    const request& wanted = *q.wanted;
    candidates_.clear();
    waiting_gangs_.clear();
    for (std::size_t i = 0; !now && i < load_.executing().size(); ++i) {
      const rank_load::rank_state& r = load_[load_.executing()[i]];
      if (r.in_gang && r.blocked > 0) waiting_gangs_.push_back(r.gang);
    }
    if (wanted.reservation != 0) {
      add_bundles(q, now);
    } else {
      for (const std::uint32_t rank : now&& keeper_ == &q ? kept_ : load_.executing()) {
        if (!may_join(rank, wanted) || !could_join(rank, q, now)) continue;
        if (now ? choice_.may_take(rank, q, wanted) : could_take(rank, wanted))
          candidates_.push_back({rank, load_[rank].all.node});
      }
    }
    // The rank where the value lies comes first. Rank 0 comes last, because it could not schedule while it
    // is inside MPI.
    if (wanted.near >= 0) move(static_cast<std::uint32_t>(wanted.near), true);
    if (load_[0].all.executes) move(0, false);
  }
  /// Whether the rank could take a member once all of its tasks have ended.
  bool could_take(std::uint32_t rank, const request& wanted) const {
    const rank_load::rank_state& r = load_[rank];
    return !r.closed && load_.could_run(rank, wanted) &&
           (wanted.cpus <= held_.free_on(rank).cpus || wanted.cpus <= 1) && held_.without_tasks(rank).fits(wanted);
  }
  /// Whether the rank has nothing to do and is not kept for another gang: now, or else once all of its tasks have
  /// ended. False for a rank of a gang that waits inside, perhaps for this gang.
  bool could_join(std::uint32_t rank, const request_queue& q, bool now) const {
    const rank_load::rank_state& r = load_[rank];
    if (now) return rank_load::active(r) == 0 && !r.in_call && !r.in_gang && r.kept == (keeper_ == &q);
    if (r.in_actor || (keeper_ == &q && !r.kept)) return false;
    return !r.in_gang || std::find(waiting_gangs_.begin(), waiting_gangs_.end(), r.gang) == waiting_gangs_.end();
  }
  void add_bundles(const request_queue& q, bool now) {
    const request& wanted = *q.wanted;
    const reservation& r = *held_.find_reservation(wanted.reservation);
    for (std::size_t i = 0; r.met && i < r.parts.size(); ++i) {
      const reservation::part& p = r.parts[i];
      if (held_.is_for(wanted, i, p) && could_join(p.rank, q, now) && (now ? p.free : p.without_tasks).fits(wanted)) {
        add_bundle(p.rank);
      }
    }
  }
  /// Adds the rank of a bundle once: a rank can be one member only.
  void add_bundle(std::uint32_t rank) {
    const gang_candidate c{rank, load_[rank].all.node};
    if (std::find(candidates_.begin(), candidates_.end(), c) == candidates_.end()) candidates_.push_back(c);
  }
  void move(std::uint32_t rank, bool to_front) {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].rank != rank) continue;
      const std::size_t end = to_front ? 0 : candidates_.size() - 1;
      for (; i != end; to_front ? --i : ++i) std::swap(candidates_[i], candidates_[to_front ? i - 1 : i + 1]);
      return;
    }
  }

  rank_load& load_;
  holdings& held_;
  const rank_choice& choice_;
  base::list<gang_candidate> candidates_;
  base::list<std::uint64_t> waiting_gangs_;
  base::list<std::uint32_t> members_;
  base::list<grant> grants_;
  request_queue* keeper_ = nullptr;
  base::list<std::uint32_t> kept_;  // the ranks that are kept for it
  std::uint64_t gangs_ = 0;         // number of gangs started
  bool all_live_ = true;
};

}  // namespace manta::graph
