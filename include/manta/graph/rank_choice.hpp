// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Chooses the rank of a task, and notes the reason: the place of its inputs, a bundle of its reservation, or the rank
// that its request prefers. (gang_placement.hpp chooses the ranks of gangs.)
#pragma once

#include <algorithm>

#include "manta/graph/holdings.hpp"
#include "manta/graph/request_queues.hpp"

namespace manta::graph {

class rank_choice {
 public:
  static constexpr std::uint64_t large_bytes = 64 * 1024;  ///< a task follows inputs of this size and more

  rank_choice(rank_load& load, const holdings& held) : load_(load), held_(held) {}

  /// Bytes of the last task's inputs on the rank that was chosen for it, if they are the reason; else 0.
  std::uint64_t bytes_there() const { return bytes_there_; }

  /// Decides to which ranks the `near` of a queue leads: the value's rank, else its node, else any rank. Called for a
  /// new queue, and when the ranks have changed.
  void aim(request_queue& q) const {
    const request& wanted = *q.wanted;
    q.rank = wanted.rank;
    q.node = wanted.node;
    if (wanted.near < 0 || wanted.rank >= 0 || wanted.ranks > 0) return;
    const capacity& place = load_[static_cast<std::uint32_t>(wanted.near)].all;
    if (load_.could_run(static_cast<std::uint32_t>(wanted.near), wanted)) q.rank = wanted.near;
    if (q.rank >= 0 || wanted.granted.member >= 0) return;
    for (const std::uint32_t r : load_.executing()) {
      if (load_[r].all.node == place.node && load_.could_run(r, wanted)) q.node = place.node;
    }
  }

  /// Chooses a rank for the first task of a queue, and notes the reason in its request; no_index if
  /// no rank can take it now.
  std::uint32_t place(request_queue& q, node& n, std::uint32_t ns) {
    request& wanted = *n.record->request;
    wanted.granted.reason = wanted.rank >= 0                  ? placement_reason::rank
                            : wanted.near >= 0 && q.rank >= 0 ? placement_reason::near
                            : wanted.spread                   ? placement_reason::spread
                            : wanted.node >= 0                ? placement_reason::node
                                                              : placement_reason::least_work;
    if (wanted.reservation != 0) return place_in_bundle(wanted, ns);
    if (wanted.unconditional() && !wanted.for_member) {
      const std::uint32_t rank = place_anywhere(n, ns);
      wanted.granted.reason = bytes_there_ != 0 ? placement_reason::data : placement_reason::room;
      wanted.granted.near_bytes = bytes_there_;
      return rank;
    }
    const bool is_of_member = wanted.granted.member >= 0;
    const bool may_leave = wanted.rank < 0 && is_of_member;  // `near` is a wish and no condition
    if (q.rank >= 0 && !(may_leave && load_.may_block(static_cast<std::uint32_t>(q.rank), wanted))) {
      const auto rank = static_cast<std::uint32_t>(q.rank);
      const bool can = may_take(rank, q, wanted) && (wanted.actor || load_.has_room(rank, ns));
      return can ? rank : no_index;
    }
    return place_where_best(q, wanted, ns);
  }

  /// Chooses a rank for a task without conditions: the rank of its large inputs if that has room, else the next rank
  /// with room. It looks at the inputs, which may be many, only if some rank has room. A task of a gang's member goes
  /// back to the member's rank if all ranks are in teams, or if no other rank has room and the member only waits: the
  /// member runs its own tasks while it waits.
  std::uint32_t place_anywhere(const node& n, std::uint32_t ns) {
    bytes_there_ = 0;
    const std::uint32_t home = n.form == form::record ? n.record->home_rank : 0;  // compact: one of rank 0
    if (load_.in_team(home) && load_.all_in_teams()) return home;
    const std::uint32_t next = load_.next_rank(n.function);
    if (next == no_index) return load_.in_team(home) && load_.idle(home) && !load_[home].kept ? home : no_index;
    const std::uint32_t near = nearest(n);
    if (near != no_index && load_.has_room(near, ns) && !load_.is_shunned(near)) return near;
    bytes_there_ = 0;
    return next;
  }

  /// Whether the request allows this rank, and the rank has the resources now.
  bool may_take(std::uint32_t rank, const request_queue& q, const request& wanted) const {
    const rank_load::rank_state& r = load_[rank];
    const stock& free = held_.free_on(rank);
    if (!r.all.executes || !rank_load::takes(r, wanted) || wanted.cpus > r.all.cpus ||
        !wanted.allows(static_cast<int>(rank), r.all.node) || (q.node >= 0 && q.node != r.all.node)) {
      return false;
    }
    if (wanted.cpus > 1 ? wanted.cpus > free.cpus : r.closed && wanted.rank < 0) return false;
    if (r.kept && wanted.actor && wanted.holds() && wanted.ranks == 0) return false;  // it may never give them back
    if (!wanted.holds()) return !(held_.keeps_free(rank) && wanted.cpus > 1);
    return !held_.keeps_free(rank) && free.fits(wanted);
  }

 private:
  /// The rank on which most bytes of large inputs lie, or no_index.
  std::uint32_t nearest(const node& n) {
    if (n.form != form::record) return no_index;
    std::uint32_t best = no_index;
    std::uint64_t most = 0;
    task& t = *n.record;
    for (std::uint32_t i = 0; i < t.seen_inputs(); ++i) {
      const node& input = *t.inputs()[i];
      if (input.form != form::remote || input.remote.bytes < large_bytes) continue;
      std::uint64_t bytes = 0;
      for (std::uint32_t k = 0; k < t.seen_inputs() && t.input_count <= 16; ++k) {
        const node& other = *t.inputs()[k];
        if (other.form == form::remote && other.remote.place == input.remote.place) bytes += other.remote.bytes;
      }
      bytes = std::max(bytes, input.remote.bytes);
      const rank_load::rank_state& there = load_[input.remote.place];
      if (bytes > most && rank_load::takes_any(there)) {
        most = bytes;
        best = input.remote.place;
      }
    }
    bytes_there_ = most;
    return best;
  }

  std::uint32_t place_in_bundle(request& wanted, std::uint32_t ns) const {
    const reservation& r = *held_.find_reservation(wanted.reservation);
    if (!r.met) return no_index;
    wanted.granted.reason = placement_reason::bundle;
    const auto is_outside = [&](std::uint32_t rank) { return !load_.may_block(rank, wanted); };
    const std::uint32_t outside = best_bundle(r, wanted, ns, is_outside);
    if (outside != no_index) return outside;
    const auto is_home = [&wanted](std::uint32_t rank) { return static_cast<int>(rank) == wanted.granted.member; };
    bool at_home = false;  // whether the task must run beside the member that made it, see belongs_home()
    for (std::size_t i = 0; i < r.parts.size(); ++i) {
      const reservation::part& p = r.parts[i];
      at_home = at_home || (is_home(p.rank) && load_.may_block(p.rank, wanted) && held_.is_for(wanted, i, p) &&
                            (p.free.fits(wanted) || load_.runs_beside_member(p.rank)));
    }
    return best_bundle(r, wanted, ns, [&](std::uint32_t rank) { return !at_home || is_home(rank); });
  }
  /// The rank with the least work among the ranks with a bundle into which the task fits now.
  template <class May>
  std::uint32_t best_bundle(const reservation& r, request& wanted, std::uint32_t ns, May&& may) const {
    std::uint32_t best = no_index;
    for (std::size_t i = 0; i < r.parts.size(); ++i) {
      const reservation::part& p = r.parts[i];
      if (!may(p.rank) || !held_.is_for(wanted, i, p)) continue;
      if (!p.free.fits(wanted) || !(wanted.actor || load_.has_room(p.rank, ns))) continue;
      if (best != no_index && load_.sent(best) <= load_.sent(p.rank)) continue;
      best = p.rank;
      wanted.granted.bundle = static_cast<std::int32_t>(i);
    }
    return best;
  }

  /// Chooses among the ranks that fit and have room: for an actor the rank with the fewest actors, for a task the rank
  /// with the least work. With `spread` it is one of the ranks with the fewest tasks (or actors), in turn. If these
  /// have no room, the task waits, because a rank with more tasks would make the distribution uneven.
  std::uint32_t place_where_best(request_queue& q, const request& wanted, std::uint32_t ns) {
    read_log(q, wanted);
    while (!q.best.empty()) {
      const best_ranks::entry top = q.best.top();
      if (!may_take(top.rank, q, wanted) || (!wanted.actor && load_.is_full(top.rank, wanted.spread))) {
        q.best.pop();  // the log brings the rank back when something changes there
      } else if (const best_ranks::entry now = standing(top.rank, wanted); now != top) {
        q.best.replace_top(now);
      } else if (load_.may_block(top.rank, wanted) && belongs_home(q, wanted)) {
        const auto home = static_cast<std::uint32_t>(wanted.granted.member);
        return may_take(home, q, wanted) && (wanted.actor || load_.has_room(home, ns)) ? home : no_index;
      } else if (load_.may_block(top.rank, wanted) && waits_for_home(q, wanted)) {
        return no_index;
      } else if (wanted.actor || load_.has_room(top.rank, ns)) {
        if (wanted.spread) load_.spread_to(top.rank);
        return top.rank;
      } else {
        return no_index;  // the best rank has too much work, and the others have more
      }
    }
    return no_index;
  }
  /// Whether a task must run on the rank of the gang's member that made it, given that all ranks that fit are in teams:
  /// a member runs only its own tasks while it waits. False if the task does not fit there, and no task there will end
  /// and give back what it needs.
  bool belongs_home(const request_queue& q, const request& wanted) const {
    const int member = wanted.granted.member;
    if (member < 0) return false;
    const auto home = static_cast<std::uint32_t>(member);
    if (!load_.may_block(home, wanted) || load_[home].closed || load_[home].kept) return false;
    return may_take(home, q, wanted) || (wanted.possible(member, load_[home].all) && load_.runs_beside_member(home));
  }
  /// Whether the task should wait for room on the rank that made it: a member waits for the task, but that rank has
  /// no member itself.
  bool waits_for_home(request_queue& q, const request& wanted) const {
    const std::uint32_t home = q.tasks.front().record->home_rank;
    return wanted.for_member && !load_.may_block(home, wanted) &&
           wanted.possible(static_cast<int>(home), load_[home].all);
  }
  void read_log(request_queue& q, const request& wanted) {
    const auto add = [&](std::uint32_t rank) {
      if (may_take(rank, q, wanted)) q.best.push(standing(rank, wanted));
    };
    change_log& log = load_.log();
    if (log.must_look_everywhere(q.read) || q.best.size() > 2 * load_.executing().size() + 64) {
      q.best.clear();
      for (const std::uint32_t rank : load_.executing()) add(rank);
    } else {
      log.each_since(q.read, add);
    }
    log.move_to_end(q.read);
  }
  /// The entry of a rank in the order of preference. The work of a rank counts unless all of its tasks wait.
  best_ranks::entry standing(std::uint32_t rank, const request& wanted) const {
    constexpr int bits = 40;  // a quarter of an hour
    constexpr std::uint64_t most = (std::uint64_t{1} << bits) - 1;
    const rank_load::rank_state& r = load_[rank];
    const std::uint64_t work =
        wanted.actor || rank_load::active(r) == 0 ? 0 : std::clamp<std::uint64_t>(r.sent_ns, 1, most);
    const std::uint64_t count = wanted.actor ? held_.actors(rank) : wanted.spread ? r.sent : 0;
    const std::uint64_t team = load_.may_block(rank, wanted) ? std::uint64_t{1} << 63 : 0;  // see rank_load::is_shunned
    return {team | count << bits | work, wanted.spread ? r.turn : 0, rank};
  }

  rank_load& load_;
  const holdings& held_;
  std::uint64_t bytes_there_ = 0;
};

}  // namespace manta::graph
