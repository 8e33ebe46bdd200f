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

#include "manta/graph/gang_index.hpp"
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
  /// Notes that tasks on this rank wait, perhaps a member.
  void note_waits(std::uint32_t rank) {
    if (!load_.waits_in_gang(rank)) return;
    if (rank >= is_noted_.size()) is_noted_.resize(rank + 1, false);
    if (!std::exchange(is_noted_[rank], true)) waiting_.push_back(rank);
  }

  /// Whether the living ranks could meet this request if nothing were taken. True for a reservation that is
  /// not met yet.
  bool is_possible(const request& wanted) {
    candidates_.clear();
    ++looks_;
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
    const bool is_found = wanted.reservation != 0 || keeper_ == &q ? find_among_own(q) : find_by_node(q);
    if (is_found) return true;
    q.looked_at = load_.log().state_for_gangs();
    // Where it is in vain, it is not tried again before as many tasks have ended: it looks at all ranks.
    if (old && !keep_for(q)) q.first_since = load_.tasks_ended();
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
      note_waits(rank);
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
    for (const std::uint32_t rank : kept_) {
      if (load_.keep_no_more(rank)) load_.changed(rank);
    }
    kept_.clear();
  }

 private:
  /// Gangs with the same needs have their free ranks in common, whatever they wish besides.
  struct gang_kind {
    base::shared<const request> of = nullptr;
    gang_index free = {};
    change_log::position read = {};
  };
  static constexpr std::size_t most_kinds = 8;

  gang_shape shape_of(const request& wanted) const {
    gang_shape shape{static_cast<std::size_t>(wanted.ranks), wanted.nodes};
    shape.spread = wanted.spread;
    if (wanted.near >= 0) {
      shape.first = static_cast<std::uint32_t>(wanted.near);
      shape.near = load_[shape.first].all.node;
    }
    return shape;
  }
  /// The numbers of the gangs of which a member waits, in ascending order.
  const base::list<std::uint64_t>& waiting_gangs() {
    waiting_gangs_.clear();
    std::size_t kept = 0;
    for (const std::uint32_t rank : waiting_) {
      is_noted_[rank] = load_.waits_in_gang(rank);
      if (!is_noted_[rank]) continue;
      waiting_[kept++] = rank;
      waiting_gangs_.push_back(load_.gang_of(rank));
    }
    waiting_.resize(kept, 0);
    std::sort(waiting_gangs_.begin(), waiting_gangs_.end());
    return waiting_gangs_;
  }
  /// Finds ranks by the counts of free ranks on each node.
  bool find_by_node(request_queue& q) {
    const request& wanted = *q.wanted;
    const auto can = [&](std::uint32_t rank) {
      return may_join(rank, wanted) && is_free(rank, q) && choice_.may_take(rank, q, wanted);
    };
    gang_index& free = free_for(wanted, can);
    gang_shape shape = shape_of(wanted);
    if (free.size() < shape.ranks) return false;
    if (wanted.near >= 0) {
      const base::list<std::uint64_t>& waiting = waiting_gangs();
      set_hopes(shape, free.count_on(shape.near, [&](std::uint32_t rank) { return could_ever(rank, q, waiting); }));
    }
    shape.least_nodes = shape.ranks;
    if (free.choose(shape, can, members_)) return true;
    if (!wanted.spread || free.size() < shape.ranks || waits_for_node(q, free)) return false;
    shape.least_nodes = 0;
    return free.choose(shape, can, members_);
  }
  /// The free ranks for gangs with these needs, up to date.
  template <class Can>
  gang_index& free_for(const request& wanted, Can&& can) {
    std::size_t at = 0;
    while (at < most_kinds && kinds_[at].of != nullptr && !kinds_[at].of->needs_as(wanted)) ++at;
    if (at == most_kinds) at = next_kind_++ % most_kinds;
    gang_kind& kind = kinds_[at];
    if (kind.of == nullptr || !kind.of->needs_as(wanted)) {
      kind = gang_kind{base::shared<const request>(new request(wanted))};
    }
    const auto add = [&](std::uint32_t rank) {
      if (can(rank)) kind.free.add(rank);
    };
    change_log& log = load_.log();
    if (kind.free.empty() || log.must_look_everywhere(kind.read)) {
      kind.free.begin(load_.executing(), [this](std::uint32_t rank) { return load_[rank].all.node; });
      for (const std::uint32_t rank : load_.executing()) add(rank);
    } else {
      log.each_since(kind.read, add);
    }
    log.move_to_end(kind.read);
    return kind.free;
  }
  /// Whether a gang that is to be spread waits for a node of which no rank is free now.
  bool waits_for_node(request_queue& q, const gang_index& free) {
    const base::list<std::uint64_t>& waiting = waiting_gangs();
    const auto is_awaited = [&](std::uint32_t rank) {
      return !free.has_node(load_[rank].all.node) && could_ever(rank, q, waiting);
    };
    if (q.awaited != no_index && is_awaited(q.awaited)) return true;
    const auto& all = load_.executing();
    const auto* const found = std::find_if(all.begin(), all.end(), is_awaited);
    q.awaited = found == all.end() ? no_index : *found;
    return q.awaited != no_index;
  }
  /// Finds ranks among those that are kept for the gang, or those of its reservation.
  bool find_among_own(const request_queue& q) {
    const request& wanted = *q.wanted;
    gang_shape shape = shape_of(wanted);
    if (wanted.spread || wanted.near >= 0) {
      find_candidates(q, false);
      set_hopes(shape, candidates_);
    }
    find_candidates(q, true);
    return choose_gang(candidates_, shape, members_);
  }
  /// Keeps ranks that become idle for an old gang. False if there will not be enough.
  bool keep_for(request_queue& q) {
    find_candidates(q, false);
    gang_shape shape = shape_of(*q.wanted);
    if (q.wanted->spread || q.wanted->near >= 0) set_hopes(shape, candidates_);
    if (!choose_gang(candidates_, shape, members_)) return false;
    keeper_ = &q;
    for (const std::uint32_t rank : members_) {
      kept_.push_back(rank);
      load_.keep(rank);
    }
    return true;
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
    ++looks_;
    if (wanted.reservation != 0) {
      add_bundles(q, now);
    } else {
      const base::list<std::uint64_t>& waiting = waiting_gangs();
      for (const std::uint32_t rank : keeper_ == &q ? kept_ : load_.executing()) {
        const bool can = now ? may_join(rank, wanted) && is_free(rank, q) && choice_.may_take(rank, q, wanted)
                             : could_ever(rank, q, waiting);
        if (can) candidates_.push_back({rank, load_[rank].all.node});
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
  /// Whether the rank has nothing to do and is not kept for another gang.
  bool is_free(std::uint32_t rank, const request_queue& q) const {
    const rank_load::rank_state& r = load_[rank];
    return rank_load::active(r) == 0 && !r.in_call && !r.in_gang && r.kept == (keeper_ == &q);
  }
  /// Whether the rank will have nothing to do once all of its tasks have ended. False for a rank of a gang that waits
  /// inside, perhaps for this gang.
  bool will_be_free(std::uint32_t rank, const request_queue& q, const base::list<std::uint64_t>& waiting_gangs) const {
    const rank_load::rank_state& r = load_[rank];
    if (r.in_actor || (keeper_ == &q && !r.kept)) return false;
    return !r.in_gang || !std::binary_search(waiting_gangs.begin(), waiting_gangs.end(), r.gang);
  }
  bool could_ever(std::uint32_t rank, const request_queue& q, const base::list<std::uint64_t>& waiting_gangs) const {
    return may_join(rank, *q.wanted) && will_be_free(rank, q, waiting_gangs) && could_take(rank, *q.wanted);
  }
  void add_bundles(const request_queue& q, bool now) {
    const request& wanted = *q.wanted;
    const reservation& r = *held_.find_reservation(wanted.reservation);
    const base::list<std::uint64_t>& waiting = waiting_gangs();
    for (std::size_t i = 0; r.met && i < r.parts.size(); ++i) {
      const reservation::part& p = r.parts[i];
      if (held_.is_for(wanted, i, p) && (now ? is_free(p.rank, q) : will_be_free(p.rank, q, waiting)) &&
          (now ? p.free : p.without_tasks).fits(wanted)) {
        add_bundle(p.rank);
      }
    }
  }
  /// Adds the rank of a bundle once: a rank can be one member only.
  void add_bundle(std::uint32_t rank) {
    if (rank >= added_.size()) added_.resize(rank + 1, 0);
    if (std::exchange(added_[rank], looks_) != looks_) candidates_.push_back({rank, load_[rank].all.node});
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
  base::list<std::uint32_t> waiting_;  // the ranks whose members wait, and some whose members did so
  base::list<bool> is_noted_;          // for each rank: it stands in waiting_
  base::list<std::uint64_t> waiting_gangs_;
  base::list<gang_candidate> candidates_;
  std::uint64_t looks_ = 0;          // number of times that candidates_ was filled
  base::list<std::uint64_t> added_;  // for each rank, the last time when it was added to them as a bundle's
  gang_kind kinds_[most_kinds];
  std::size_t next_kind_ = 0;  // the kind that makes room when there are too many
  base::list<std::uint32_t> members_;
  base::list<grant> grants_;
  request_queue* keeper_ = nullptr;
  base::list<std::uint32_t> kept_;  // the ranks that are kept for it
  std::uint64_t gangs_ = 0;         // number of gangs started
  bool all_live_ = true;
};

}  // namespace manta::graph
