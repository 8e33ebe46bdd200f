// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Which task goes to which rank, and when. Plain data: events in (a task may
// start, a task has ended, a rank is blocked), decisions out; no message, no
// clock, no thread, so that the same events give the same decisions and ten
// thousand ranks can be simulated in one process.
//
// A rank is sent work ahead of time, measured in time: up to `window_ns` of
// estimated work, so that short tasks flow and long ones never queue behind
// each other. The estimate is kept per function; a function that has not ended
// yet counts as a whole window, so its first tasks go one to a rank. If it is
// known when the run has to end, tasks that would take longer are not sent.
//
// Tasks with conditions wait in one queue for each distinct request, and the
// queues stand in the order of their priorities, then of their first tasks. Each
// keeps the ranks that fit in the order in which it prefers them; where something
// has become possible that was not is written down once, and read by each queue
// when it is tried. Reservations are met first come, first served.
//
// A gang starts when enough ranks have nothing to do at the same moment. While
// it waits, other tasks fill the ranks; one that has seen as many tasks end as
// there are ranks is old: ranks are then kept free for it as they fall idle. A
// rank is in one gang at a time, for members block it inside MPI.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "manta/graph/best_ranks.hpp"
#include "manta/graph/durations.hpp"
#include "manta/graph/gang_choice.hpp"
#include "manta/graph/node.hpp"
#include "manta/graph/reservation.hpp"
#include "manta/graph/resources.hpp"
#include "manta/graph/task.hpp"

namespace manta::graph {

class scheduler {
 public:
  static constexpr std::uint32_t window_ns = 100'000;
  static constexpr std::uint32_t window_tasks = 4096;
  static constexpr std::uint32_t least_charge_ns = 20;
  static constexpr std::uint64_t large_bytes = 64 * 1024;  ///< inputs of this size pull their task to where they lie

  /// So many tasks may take resources past a reservation that waits before ranks are kept free for it.
  static constexpr unsigned reservation_patience = 64;

  scheduler(node_table& nodes, const base::array<capacity>& world)
      : nodes_(nodes), anywhere_(nodes), late_(nodes), ranks_(world.size()), log_(world.size()) {
    const auto free_at = [](void* all, std::uint32_t r) { return &(*static_cast<base::array<rank_state>*>(all))[r].free; };
    const auto lasting_at = [](void* all, std::uint32_t r) {
      return &(*static_cast<base::array<rank_state>*>(all))[r].without_tasks;
    };
    sites_ = sites_of(world, free_at, &ranks_);
    lasting_sites_ = sites_of(world, lasting_at, &ranks_);
    for (std::size_t r = 0; r < world.size(); ++r) {
      ranks_[r].all = world[r];
      ranks_[r].free = world[r].whole();
      ranks_[r].without_tasks = world[r].whole();
      if (ranks_[r].all.executes) {
        executing_.push_back(static_cast<std::uint32_t>(r));
        ++inactive_ranks_;
        offer(static_cast<std::uint32_t>(r));
      }
    }
  }

  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;
  ~scheduler() {
    for (queue* q : queues_) delete q;
    reservations_.for_each([](std::uint64_t, std::uint64_t at) { delete reinterpret_cast<reservation*>(at); });
  }

  /// Event: all inputs of this task exist. `n` holds a task (compact or record). `overtakes`: one that asks for nothing
  /// had better go before others that do not, but not for ever. False, and nothing is kept, if its reservation has been
  /// given up.
  bool ready(node& n, bool overtakes = false) {
    constexpr unsigned most_in_turn = 64;
    const request* wanted = request_of(n);
    if (wanted == nullptr || wanted->anywhere()) {
      ++waiting_;
      if (overtakes && in_turn_ < most_in_turn) {
        ++in_turn_;
        anywhere_.push_front(n);
      } else {
        in_turn_ = 0;
        anywhere_.push_back(n);
      }
      return true;
    }
    if (wanted->reservation != 0 && find_reservation(wanted->reservation) == nullptr) return false;
    ++waiting_;
    wanted->granted = {};
    n.record->sequence = ++sequence_;
    queue& q = queue_of(n.record->request);
    q.tasks.push_back(n);
    if (q.tasks.size() == 1) {
      q.stuck = false;
      q.first_since = ended_;
      active_.push_back(&q);
      for (std::size_t i = active_.size() - 1; i > 0 && before(q, *active_[i - 1]); --i) std::swap(active_[i], active_[i - 1]);
    }
    return true;
  }

  /// Event: a task that was sent to `rank` has ended there, after `ns` of its own time, or `not_run`.
  void ended(std::uint32_t rank, std::uint32_t function, std::uint32_t charge, std::uint64_t ns,
             const request* wanted = nullptr) {
    unbook(rank, charge);
    if (ns != not_run) durations_.learn(function, ns);
    ++ended_;
    if (wanted != nullptr && !wanted->actor) give_back(rank, *wanted);
    changed(rank);
  }

  /// Event: a task came back from `rank` unstarted.
  void returned(std::uint32_t rank, std::uint32_t charge) {
    unbook(rank, charge);
    changed(rank);
  }

  /// Event: an actor that held resources on `rank` has ended.
  void give_back(std::uint32_t rank, const request& wanted) {
    if (wanted.actor) --ranks_[rank].actors;
    if (wanted.ranks > 0) {
      in_teams_ -= in_team(rank);
      ranks_[rank].in_gang = ranks_[rank].in_actor = false;
    }
    if (wanted.holds()) {
      const std::uint64_t devices = wanted.granted.devices;
      if (reservation* r = wanted.reservation == 0 ? nullptr : find_reservation(wanted.reservation)) {
        reservation::part& p = r->parts[static_cast<std::size_t>(wanted.granted.bundle)];
        p.free.give(devices, wanted.gpu_units, wanted.resources);
        if (wanted.actor) p.without_tasks.give(devices, wanted.gpu_units, wanted.resources);
      } else {
        ranks_[rank].free.give(devices, wanted.gpu_units, wanted.resources);
        if (wanted.actor && wanted.reservation == 0) {
          ranks_[rank].without_tasks.give(devices, wanted.gpu_units, wanted.resources);
        }
        may_meet_ = true;
      }
    }
    changed(rank);
  }

  /// Event: of the tasks sent to `rank`, `count` wait for something and leave it free.
  void blocked(std::uint32_t rank, std::uint32_t count, bool own_work = false, bool in_call = false) {
    rank_state& r = ranks_[rank];
    inactive_ranks_ -= active(r) == 0;
    r.blocked = count;
    inactive_ranks_ += active(r) == 0;
    r.own_work = own_work;
    r.in_call = in_call;
    changed(rank);
  }

  /// Event: a rank is no more, with all that was sent there. Takes out the tasks that no other rank can run:
  /// refuse(node&). False if no rank is left that executes tasks.
  template <class Refuse>
  bool died(std::uint32_t rank, Refuse&& refuse) {
    rank_state& r = ranks_[rank];
    const bool in_idle = r.in_idle, in_roomy = r.in_roomy;
    const int node = r.all.node;  // some may want to be near it
    inactive_ranks_ -= r.all.executes && active(r) == 0;
    in_teams_ -= in_team(rank);
    r = rank_state{};
    r.all.executes = false;
    r.all.node = node;
    r.closed = true;  // wherever it still stands
    r.in_idle = in_idle, r.in_roomy = in_roomy;
    keep_nothing_free();
    executing_.remove(rank);
    all_live_ = false;
    for (base::list<site>* sites : {&sites_, &lasting_sites_}) {
      std::size_t kept = 0;  // they stand by node
      for (const site& s : *sites) {
        if (s.rank != rank) (*sites)[kept++] = s;
      }
      sites->resize(kept, site{nullptr, 0, 0});
    }
    for (queue* q : queues_) aim(*q);
    if (executing_.empty() || (zero_is_lent_ && executing_.size() == 1)) return false;
    refuse_impossible(refuse);
    share_executors();
    return true;
  }
  /// Event: a rank that has stood by executes tasks from now on, and has that.
  void joins(std::uint32_t rank, const capacity& its) {
    rank_state& r = ranks_[rank];
    r.all = its;
    r.free = its.whole();
    r.without_tasks = its.whole();
    ++inactive_ranks_;
    executing_.push_back(rank);
    for (base::list<site>* sites : {&sites_, &lasting_sites_}) {
      sites->push_back({sites == &sites_ ? &r.free : &r.without_tasks, rank, its.node});
      for (std::size_t i = sites->size() - 1; i > 0 && (*sites)[i - 1].node > its.node; --i) std::swap((*sites)[i], (*sites)[i - 1]);
    }
    keep_nothing_free();  // it may be what a reservation waits for
    for (queue* q : queues_) aim(*q);
    may_meet_ = true;
    share_executors();
  }
  /// Event: rank 0 executes tasks from now on. `lent`: it joins only the gangs that say that they need it.
  void rank_0_executes(bool lent) {
    const bool did = std::exchange(ranks_[0].all.executes, true);
    zero_is_lent_ = lent && (!did || zero_is_lent_);
    if (did) return;
    inactive_ranks_ += active(ranks_[0]) == 0;
    executing_.push_back(0);
    share_executors();
  }
  /// Could the ranks that live meet this request, with nothing taken? In a reservation that is not met yet: perhaps.
  bool is_possible(const request& wanted) {
    candidates_.clear();
    if (wanted.reservation != 0) {
      const reservation* const r = find_reservation(wanted.reservation);
      if (r == nullptr || !r->met) return true;
      for (std::size_t i = 0; i < r->parts.size(); ++i) {
        if (is_for(wanted, i, r->parts[i])) add_bundle(r->parts[i].rank);
      }
    } else {
      for (const std::uint32_t rank : executing_) {
        if (!may_join(rank, wanted)) continue;
        if (wanted.possible(static_cast<int>(rank), ranks_[rank].all)) candidates_.push_back({rank, ranks_[rank].all.node});
      }
    }
    if (wanted.ranks == 0) return !candidates_.empty();
    return choose_gang(candidates_, {static_cast<std::size_t>(wanted.ranks), wanted.nodes}, members_);
  }
  /// Takes out the tasks, of this reservation or of all, that no rank can run.
  template <class Refuse>
  void refuse_impossible(Refuse&& refuse, std::uint64_t reservation = 0) {
    base::list<node*> refused;
    for (queue* q : active_) {
      if ((reservation != 0 && q->wanted->reservation != reservation) || is_possible(*q->wanted)) continue;
      for (node* n = &q->tasks.front();; n = &nodes_.at(n->next)) {
        refused.push_back(n);
        if (n->next == no_index) break;
      }
    }
    for (node* n : refused) {
      remove(*n);
      refuse(*n);
    }
  }
  /// Of the gang of which `rank` is a member its number; 0: it is in none.
  std::uint64_t gang_of(std::uint32_t rank) const { return ranks_[rank].in_gang ? ranks_[rank].gang : 0; }

  /// Event: somebody wants these bundles, all at once; takes the record. Met by a later decide() at the earliest.
  void reserve(reservation* r) {
    reservations_.insert(r->id) = reinterpret_cast<std::uint64_t>(r);
    pending_.push_back(r);
    may_meet_ = true;
  }

  /// Event: a reservation is given up: what its tasks do not hold is free at once, the rest when they end. Takes out
  /// those that have not been dispatched: refuse(node&). Returns its record, to be deleted, or null if there is none.
  template <class Refuse>
  reservation* release(std::uint64_t id, Refuse&& refuse) {
    reservation* const r = find_reservation(id);
    if (r == nullptr) return nullptr;
    reservations_.erase(id);
    for (std::size_t i = queues_.size(); i-- > 0;) {
      queue* const q = queues_[i];
      if (q->wanted->reservation != id) continue;
      while (!q->tasks.empty()) --waiting_, refuse(q->tasks.pop_front());
      active_.remove(q);
      forget(q);
    }
    if (!r->met) {
      pending_.remove(r);
      keep_nothing_free();
    }
    for (reservation::part& p : r->parts) {
      if (!r->met) continue;
      rank_state& at = ranks_[p.rank];
      at.free.cpus += p.wanted.cpus;
      at.free.gpus.give(p.free.gpus);
      for (const quantity& q : p.free.named) at.free.named[q.name] += q.units;
      p.wanted.give_to(at.without_tasks, p.devices);
    }
    share_executors();
    may_meet_ = true;
    return r;
  }

  /// Reservations that have been met since the last call; null when there are no more.
  reservation* take_met() { return met_.empty() ? nullptr : met_.pop_front(); }
  reservation* find_reservation(std::uint64_t id) {
    const std::uint64_t* at = reservations_.find(id);
    return at == nullptr ? nullptr : reinterpret_cast<reservation*>(*at);
  }
  reservation* first_pending() { return pending_.empty() ? nullptr : pending_[0]; }
  /// Any reservation, or null.
  reservation* any_reservation() {
    reservation* any = nullptr;
    reservations_.for_each([&](std::uint64_t, std::uint64_t at) { any = reinterpret_cast<reservation*>(at); });
    return any;
  }

  /// Event: the run has to end in so many nanoseconds. A task that takes longer, as far as is known, is not dispatched.
  void set_time_left(double ns) { left_ns_ = ns; }
  double expected(const node& n) const { return durations_.expected(n); }
  /// Tasks that waited and would take longer, taken out; null when there are no more.
  node* take_late() { return late_.empty() ? nullptr : &late_.pop_front(); }

  /// Event: nothing goes on any more. True if ranks were being kept free for a reservation or a gang, which ends now.
  bool stop_keeping_free() {
    const bool any = keeping_free_ || keeper_ != nullptr;
    keep_nothing_free();
    if (keeper_ != nullptr) {
      keeper_->first_since = ended_;  // or they would be kept again at once
      stop_keeping();
    }
    return any;
  }

  /// Takes decisions while there are any: dispatch(node&, rank, charge_ns) for each.
  template <class Dispatch>
  void decide(Dispatch&& dispatch) {
    if (may_meet_ && !pending_.empty()) meet_reservations();
    std::size_t at = 0;
    decide_queues(at, false, dispatch);
    while (place_plain(dispatch)) {
    }
    plain_waits_ = !anywhere_.empty();
    if (at < active_.size()) decide_queues(at, true, dispatch);
  }

  /// While a gang is dispatched: its ranks, what each of them was given, and its number.
  const base::list<std::uint32_t>& members() const { return members_; }
  const base::list<grant>& grants() const { return grants_; }
  std::uint64_t gang_id() const { return gangs_; }

  /// In a dispatch of a task without a request: so many bytes of its inputs lie on its rank, and are the reason.
  std::uint64_t bytes_there() const { return why_bytes_; }

  /// Can one more plain task of this function leave at once? The rank, or no_index; books it if so.
  std::uint32_t take_room(std::uint32_t function, std::uint32_t& charge) {
    if (others_come_first(function)) return no_index;
    const std::uint32_t rank = next_rank(function);
    if (rank != no_index) charge = book_function(function, rank);
    return rank;
  }

  /// The same for a task that is to go to that rank, behind others; not if all that is there waits.
  bool has_room_on(std::uint32_t rank, std::uint32_t function) const {
    if (others_come_first(function)) return false;
    const rank_state& r = ranks_[rank];
    return r.all.executes && !r.closed && active(r) != 0 && has_room(rank, estimate(function));
  }
  bool take_room_on(std::uint32_t rank, std::uint32_t function, std::uint32_t& charge) {
    const bool room = has_room_on(rank, function);
    if (room) charge = book_function(function, rank);
    return room;
  }

  /// Event: a task that is ready and not dispatched will not be run.
  void remove(node& n) {
    --waiting_;
    const request* wanted = request_of(n);
    if (wanted == nullptr || wanted->anywhere()) return anywhere_.remove(n);
    queue& q = *find_queue(*wanted, hash(*wanted));
    const bool first = &q.tasks.front() == &n;
    q.tasks.remove(n);
    if (!first) return;
    q.first_since = ended_;
    q.stuck = false;
    std::size_t at = 0;
    while (active_[at] != &q) ++at;
    first_left(q, at);
    if (keeper_ == &q && q.tasks.empty()) stop_keeping();
  }

  /// Takes out every task that has not been dispatched.
  template <class Take>
  void drop_all(Take&& take) {
    while (!anywhere_.empty()) --waiting_, take(anywhere_.pop_front());
    if (keeper_ != nullptr) stop_keeping();
    for (queue* q : active_) {
      while (!q->tasks.empty()) --waiting_, take(q->tasks.pop_front());
    }
    active_.clear();
  }
  /// The waiting task for which found(node&) is true, or null.
  template <class Found>
  node* find_waiting(Found&& found) {
    node* n = anywhere_.find(found);
    for (std::size_t i = 0; n == nullptr && i < active_.size(); ++i) n = active_[i]->tasks.find(found);
    return n;
  }

  std::size_t waiting() const { return waiting_; }
  std::uint32_t sent(std::uint32_t rank) const { return ranks_[rank].sent; }
  bool idle(std::uint32_t rank) const { return idle(ranks_[rank]); }
  const base::list<std::uint32_t>& executing() const { return executing_; }
  const capacity& capacity_of(std::uint32_t rank) const { return ranks_[rank].all; }
  /// What tasks with conditions may still take; reserved cpus are not free.
  const stock& free_on(std::uint32_t rank) const { return ranks_[rank].free; }
  std::uint32_t actors(std::uint32_t rank) const { return ranks_[rank].actors; }
  bool keeps_free(std::uint32_t rank) const { return ranks_[rank].kept_free; }
  bool keeps_for_gang(std::uint32_t rank) const { return ranks_[rank].kept; }
  bool in_gang(std::uint32_t rank) const { return ranks_[rank].in_gang; }
  /// In a gang task, which may go on at any moment and then block its rank inside MPI.
  bool in_team(std::uint32_t rank) const { return ranks_[rank].in_gang && !ranks_[rank].in_actor; }
  std::uint64_t tasks_ended() const { return ended_; }
  /// A gang that waits for ranks while a member of another one waits inside: perhaps for it. Null: none.
  node* gang_behind_waiting_gang() {
    bool waits_inside = false;
    for (const std::uint32_t rank : executing_) waits_inside = waits_inside || (ranks_[rank].in_gang && ranks_[rank].blocked > 0);
    for (queue* q : active_) {
      if (waits_inside && q->wanted->ranks > 0) return &q->tasks.front();
    }
    return nullptr;
  }

  /// Estimated nanoseconds of a task of this function: a smoothed mean of those that ended.
  std::uint32_t estimate(std::uint32_t function) const {
    const float mean = durations_.mean(function);
    if (mean < 0) return window_ns;
    return std::max(least_charge_ns, static_cast<std::uint32_t>(std::min(mean, 4e9F)));
  }

 private:
  struct rank_state {
    std::uint32_t sent = 0;     ///< tasks sent and not ended
    std::uint32_t blocked = 0;  ///< of these, waiting inside
    bool own_work = false;      ///< it runs what these, or its actors, have submitted
    bool in_call = false;       ///< of an actor, for longer than most take: what was sent there would wait
    std::uint32_t actors = 0;
    std::uint64_t sent_ns = 0;
    bool in_idle = false;       ///< stands in idle_
    bool in_roomy = false;      ///< stands in roomy_
    bool closed = false;        ///< all of its cpus are reserved, and not those of all other ranks
    bool kept_free = false;     ///< for a reservation that has waited too long: its resources
    bool in_gang = false;       ///< a member has been sent and has not ended
    bool in_actor = false;      ///< it is part of an actor, and may be for ever
    bool kept = false;          ///< for an old gang: no task is sent there
    std::uint64_t gang = 0;     ///< if it is in one, its number
    std::uint64_t logged = 0;   ///< its last place in the log; 0: none
    std::uint32_t turn = 0;     ///< when a task that is spread came here last
    stock free;
    capacity all;
    stock without_tasks;        ///< what would be free if all tasks had ended: less than all by actors and reservations
  };
  /// Tasks that ask for the same: if its first does not fit, none of the others does.
  struct queue {
    request_ptr wanted;
    node_list tasks;
    std::uint64_t hash;
    queue* next = nullptr;          // of the same hash
    int rank = -1, node = -1;       // what `wanted` leaves of the ranks, with the place it wants to be near
    best_ranks best = {};           // that fit, as far as it has read the log
    std::uint64_t read = 0, all_read = 0;  // of the log, and of changes everywhere
    bool stuck = false;             // no rank could take its first when it was tried last,
    std::uint32_t stuck_ns = 0;     // by this estimate
    std::uint64_t first_since = 0;  // gangs: tasks that had ended when the first came to wait,
    std::uint64_t looked_at = 0;    // and the state of the world in which there was no place
  };

  static std::uint32_t active(const rank_state& r) { return r.sent > r.blocked ? r.sent - r.blocked : 0; }

  static bool idle(const rank_state& r) { return active(r) == 0 && !r.own_work && !r.in_call; }

  static bool same(const request& a, const request& b) {
    return a.cpus == b.cpus && a.gpu_units == b.gpu_units && a.rank == b.rank && a.node == b.node &&
           a.near == b.near && a.spread == b.spread && a.priority == b.priority && a.reservation == b.reservation &&
           a.bundle == b.bundle && a.actor == b.actor && a.ranks == b.ranks && a.nodes == b.nodes && (a.cost < 0) == (b.cost < 0) &&
           a.resources == b.resources;
  }
  static std::uint64_t hash(const request& r) {
    std::uint64_t h = r.reservation;
    const auto add = [&h](std::int64_t number) {
      h = (h ^ static_cast<std::uint64_t>(number)) * 0x9fb21c651e98df25ULL;
      h ^= h >> 32;
    };
    for (const int i : {r.cpus, r.rank, r.node, r.near, r.priority, r.bundle, r.ranks, r.nodes}) add(i);
    add(r.gpu_units);
    for (const quantity& q : r.resources) add(static_cast<std::int64_t>(base::hash_text(q.name)) + q.units);
    return h >> 1;
  }
  /// Shall the first task of `a` be tried before that of `b`?
  static bool before(queue& a, queue& b) {
    if (a.wanted->priority != b.wanted->priority) return a.wanted->priority > b.wanted->priority;
    return a.tasks.front().record->sequence < b.tasks.front().record->sequence;
  }

  queue* find_queue(const request& wanted, std::uint64_t h) {
    const std::uint64_t* const first = queues_by_hash_.find(h);
    auto* q = first == nullptr ? nullptr : reinterpret_cast<queue*>(*first);
    while (q != nullptr && !same(*q->wanted, wanted)) q = q->next;
    return q;
  }
  queue& queue_of(const request_ptr& wanted) {
    const std::uint64_t h = hash(*wanted);
    if (queue* const there = find_queue(*wanted, h)) return *there;
    std::uint64_t& first = queues_by_hash_.insert(h);
    auto* const q = new queue{wanted, node_list(nodes_), h};
    q->next = reinterpret_cast<queue*>(first);
    first = reinterpret_cast<std::uint64_t>(q);
    queues_.push_back(q);
    aim(*q);
    return *q;
  }
  /// Near a value: on its rank, else on its node, else anywhere.
  void aim(queue& q) {
    const request& wanted = *q.wanted;
    q.rank = wanted.rank;
    q.node = wanted.node;
    if (wanted.near < 0 || wanted.rank >= 0 || wanted.ranks > 0) return;
    const capacity& place = ranks_[static_cast<std::size_t>(wanted.near)].all;
    if (wanted.possible(wanted.near, place)) {
      q.rank = wanted.near;
      return;
    }
    for (const std::uint32_t r : executing_) {
      if (ranks_[r].all.node == place.node && wanted.possible(static_cast<int>(r), ranks_[r].all)) q.node = place.node;
    }
  }
  void forget(queue* q) {
    std::uint64_t& first = queues_by_hash_.insert(q->hash);
    if (reinterpret_cast<queue*>(first) == q) {
      first = reinterpret_cast<std::uint64_t>(q->next);
    } else {
      auto* each = reinterpret_cast<queue*>(first);
      while (each->next != q) each = each->next;
      each->next = q->next;
    }
    if (first == 0) queues_by_hash_.erase(q->hash);
    queues_.remove(q);
    delete q;
  }

  /// Places the first task without conditions, if a rank has room for it.
  template <class Dispatch>
  bool place_plain(Dispatch&& dispatch) {
    while (!anywhere_.empty() && set_aside_if_late(anywhere_.front())) {
    }
    if (anywhere_.empty()) return false;
    node& n = anywhere_.front();
    const std::uint32_t rank = next_rank_for(n, estimate(n.function));
    if (rank == no_index) return false;
    anywhere_.remove(n);
    dispatch(n, rank, book(n, rank));
    return true;
  }

  /// Places from the queues of priority 0 and more, or of those below. `at`: the first that was not tried. Of priority 0
  /// those with conditions have fewer places and go first; but where others were left behind before, they go in turn.
  template <class Dispatch>
  void decide_queues(std::size_t& at, bool below, Dispatch&& dispatch) {
    while (at < active_.size() && (below || active_[at]->wanted->priority >= 0)) {
      queue& q = *active_[at];
      if (set_aside_if_late(q.tasks.front())) continue;
      if (q.wanted->ranks > 0) {
        if (!place_gang(q)) {
          ++at;
          continue;
        }
        node& first = q.tasks.pop_front();
        q.first_since = ended_;
        first_left(q, at);
        start_gang(first, dispatch);
        continue;
      }
      const std::uint32_t function = q.tasks.front().function;
      const std::uint32_t ns = estimate(function);
      // nothing has happened since; but spread tasks may go to others now if those with the fewest have got more
      if (q.stuck && has_read_all(q) && ns >= q.stuck_ns && !q.wanted->spread) {
        ++at;
        continue;
      }
      if (plain_is_next_ && q.wanted->priority == 0) plain_is_next_ = !place_plain(dispatch);
      node& n = q.tasks.front();
      const request& wanted = *n.record->request;
      const std::uint32_t rank = place(q, n, wanted, ns);
      if (rank == no_index) {
        q.stuck = true;
        q.stuck_ns = ns;
        note_read(q);
        ++at;
        continue;
      }
      q.stuck = false;
      if (wanted.priority == 0) plain_is_next_ = plain_waits_;
      q.tasks.remove(n);
      first_left(q, at);
      take(wanted, rank);
      dispatch(n, rank, book(n, rank));
    }
  }

  bool set_aside_if_late(node& n) {
    if (left_ns_ == forever || durations_.expected(n) <= left_ns_) return false;
    remove(n);
    late_.push_back(n);
    return true;
  }
  /// Than a plain task of this function that would leave at once; or it would not end in time.
  bool others_come_first(std::uint32_t function) const {
    return !anywhere_.empty() || (!active_.empty() && active_[0]->wanted->priority > 0) ||
           static_cast<double>(durations_.mean(function)) > left_ns_;
  }

  /// The first task of the queue at this place has left it.
  void first_left(queue& q, std::size_t at) {
    if (q.tasks.empty()) {
      active_.remove(&q);
      if (queues_.size() * executing_.size() > most_kept) q.best.free(), q.all_read = 0;
    } else {
      for (; at + 1 < active_.size() && before(*active_[at + 1], q); ++at) std::swap(active_[at], active_[at + 1]);
    }
  }

  /// Where it goes, and why; no_index if no rank can take it now.
  std::uint32_t place(queue& q, node& n, const request& wanted, std::uint32_t ns) {
    wanted.granted.reason = wanted.rank >= 0 ? placement_reason::rank : wanted.near >= 0 && q.rank >= 0 ? placement_reason::near
                            : wanted.spread ? placement_reason::spread
                            : wanted.node >= 0 ? placement_reason::node
                                               : placement_reason::least_work;
    if (wanted.reservation != 0) return place_in_bundle(wanted, ns);
    if (wanted.unconditional()) {
      const std::uint32_t rank = next_rank_for(n, ns);
      wanted.granted.reason = why_bytes_ != 0 ? placement_reason::data : placement_reason::room;
      wanted.granted.near_bytes = why_bytes_;
      return rank;
    }
    if (q.rank >= 0) {
      const auto rank = static_cast<std::uint32_t>(q.rank);
      return can_take(rank, q, wanted, ns) ? rank : no_index;
    }
    return place_where_best(q, wanted, ns);
  }

  void take(const request& wanted, std::uint32_t rank) {
    rank_state& r = ranks_[rank];
    grant& g = wanted.granted;
    g.rank = static_cast<std::int32_t>(rank);
    if (wanted.actor) ++r.actors;
    if (!wanted.holds()) return;
    if (wanted.reservation != 0) {
      reservation::part& part = find_reservation(wanted.reservation)->parts[static_cast<std::size_t>(g.bundle)];
      g.devices = part.free.take(wanted.gpu_units, wanted.resources);
      if (wanted.actor) part.without_tasks.take(g.devices, wanted.gpu_units, wanted.resources);
      return;
    }
    g.devices = r.free.take(wanted.gpu_units, wanted.resources);
    if (wanted.actor) r.without_tasks.take(g.devices, wanted.gpu_units, wanted.resources);
    if (!pending_.empty() && ++passed_ >= reservation_patience && !keeping_free_) keep_free();
  }

  /// Something may be possible on this rank that was not before.
  void changed(std::uint32_t rank) {
    offer(rank);
    rank_state& r = ranks_[rank];
    if (r.logged > read_) return;  // nobody has read the log since
    log_[logged_ % log_.size()] = rank;
    r.logged = ++logged_;
  }
  /// The same on all ranks.
  void all_changed() { ++all_logged_; }
  bool has_read_all(const queue& q) const { return q.read == logged_ && q.all_read == all_logged_; }
  void note_read(queue& q) {
    q.read = read_ = logged_;
    q.all_read = all_logged_;
  }

  // --- gangs

  /// Finds ranks for the first gang of a queue: those without work, of which some may have been kept for it. If it is
  /// old and there are too few, keeps those that come free.
  bool place_gang(queue& q) {
    const request& wanted = *q.wanted;
    if (q.looked_at == changes_) return false;
    const bool old = keeper_ == nullptr && ended_ - q.first_since >= executing_.size();
    if (inactive_ranks_ < static_cast<std::size_t>(wanted.ranks) && !old) return false;
    gang_shape shape{static_cast<std::size_t>(wanted.ranks), wanted.nodes};
    shape.spread = wanted.spread;
    if (wanted.near >= 0) shape.near = ranks_[static_cast<std::size_t>(wanted.near)].all.node;
    if (wanted.spread || wanted.near >= 0) {
      find_candidates(q, false);
      set_hopes(shape, candidates_);
    }
    find_candidates(q, true);
    if (choose_gang(candidates_, shape, members_)) return true;
    q.looked_at = changes_;
    if (old) {
      find_candidates(q, false);
      if (choose_gang(candidates_, shape, members_)) {
        keeper_ = &q;
        for (const std::uint32_t rank : members_) ranks_[rank].kept = true;
      }
    }
    return false;
  }
  bool may_join(std::uint32_t rank, const request& wanted) const {
    return wanted.may_come_to(static_cast<int>(rank)) &&
           (rank != 0 || !zero_is_lent_ || wanted.ranks == 0 || (wanted.needs_rank_0 && all_live_));
  }
  /// Ranks that can take a member now, or once all of their tasks have ended.
  void find_candidates(const queue& q, bool now) {
    const request& wanted = *q.wanted;
    candidates_.clear();
    waiting_gangs_.clear();
    for (std::size_t i = 0; !now && i < executing_.size(); ++i) {
      const rank_state& r = ranks_[executing_[i]];
      if (r.in_gang && r.blocked > 0) waiting_gangs_.push_back(r.gang);
    }
    if (wanted.reservation != 0) {
      const reservation& r = *find_reservation(wanted.reservation);
      for (std::size_t i = 0; r.met && i < r.parts.size(); ++i) {
        const reservation::part& p = r.parts[i];
        if (is_for(wanted, i, p) && could_join(p.rank, q, now) &&
            (now ? p.free : p.without_tasks).fits(wanted.gpu_units, wanted.resources)) {
          add_bundle(p.rank);
        }
      }
    } else {
      for (const std::uint32_t rank : executing_) {
        const rank_state& r = ranks_[rank];
        if (!may_join(rank, wanted) || !could_join(rank, q, now)) continue;
        if (now) {
          if (!may_take(rank, q, wanted)) continue;
        } else {
          if (r.closed || !wanted.possible(static_cast<int>(rank), r.all)) continue;
          if (wanted.cpus > r.free.cpus && wanted.cpus > 1) continue;
          if (!r.without_tasks.fits(wanted.gpu_units, wanted.resources)) continue;
        }
        candidates_.push_back({rank, r.all.node});
      }
    }
    // where the value lies comes first; rank 0 last: the scheduler would sit in a rank that is busy with MPI
    const auto move = [&](std::uint32_t rank, bool to_front) {
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        if (candidates_[i].rank != rank) continue;
        const std::size_t end = to_front ? 0 : candidates_.size() - 1;
        for (; i != end; to_front ? --i : ++i) std::swap(candidates_[i], candidates_[to_front ? i - 1 : i + 1]);
        return;
      }
    };
    if (wanted.near >= 0) move(static_cast<std::uint32_t>(wanted.near), true);
    if (ranks_[0].all.executes) move(0, false);
  }
  /// Has it nothing to do, and is not kept for others; or will that be so once all of its tasks have ended? Not if it is
  /// in a gang that waits, perhaps for this one.
  bool could_join(std::uint32_t rank, const queue& q, bool now) const {
    const rank_state& r = ranks_[rank];
    if (now) return active(r) == 0 && !r.in_call && !r.in_gang && r.kept == (keeper_ == &q);
    if (r.in_actor || (keeper_ == &q && !r.kept)) return false;
    return !r.in_gang || std::find(waiting_gangs_.begin(), waiting_gangs_.end(), r.gang) == waiting_gangs_.end();
  }
  /// Of several on one rank only one: a rank can be one member only.
  void add_bundle(std::uint32_t rank) {
    const gang_candidate c{rank, ranks_[rank].all.node};
    if (std::find(candidates_.begin(), candidates_.end(), c) == candidates_.end()) candidates_.push_back(c);
  }
  template <class Dispatch>
  void start_gang(node& n, Dispatch&& dispatch) {
    if (keeper_ != nullptr && ranks_[members_[0]].kept) stop_keeping();
    const request& wanted = *n.record->request;
    wanted.granted.reason = wanted.reservation != 0 ? placement_reason::gang_in_bundles
                            : wanted.near >= 0      ? placement_reason::gang_near
                            : wanted.spread         ? placement_reason::gang_spread
                                                    : placement_reason::gang;
    ++gangs_;
    ++changes_;
    std::uint32_t charge = 0;
    grants_.clear();
    for (const std::uint32_t rank : members_) {
      ranks_[rank].in_gang = true;
      ranks_[rank].gang = gangs_;
      ranks_[rank].in_actor = wanted.actor;
      in_teams_ += in_team(rank);
      if (wanted.reservation != 0) wanted.granted.bundle = bundle_on(rank, wanted);
      take(wanted, rank);
      grants_.push_back(wanted.granted);
      charge = book_function(n.function, rank);
    }
    if (in_teams_ == executing_.size()) {
      for (const std::uint32_t rank : executing_) offer(rank);  // they are not shunned any more
    }
    wanted.granted = grants_[0];
    --waiting_;
    dispatch(n, members_[0], charge);
  }
  void stop_keeping() {
    keeper_ = nullptr;
    for (const std::uint32_t rank : executing_) {
      if (std::exchange(ranks_[rank].kept, false)) changed(rank);
    }
  }

  // --- reservations

  void meet_reservations() {
    may_meet_ = false;
    while (!pending_.empty()) {
      reservation& r = *pending_[0];
      place_finder finder(sites_, r.wanted, r.how);
      if (!finder.find()) return;
      for (std::size_t i = 0; i < r.parts.size(); ++i) {
        reservation::part& p = r.parts[i];
        const bundle& b = r.wanted[i];
        rank_state& at = ranks_[finder.place_of(i).rank];
        p.rank = finder.place_of(i).rank;
        p.wanted = b;
        p.devices = b.take_from(at.free);
        at.without_tasks.cpus -= b.cpus;
        at.without_tasks.take(p.devices, b.gpu_units, b.resources);
        for (stock* s : {&p.free, &p.without_tasks}) {
          s->cpus = b.cpus;
          s->give(p.devices, b.gpu_units, b.resources);
        }
      }
      r.met = true;
      pending_.remove(&r);
      met_.push_back(&r);
      keep_nothing_free();
      share_executors();
    }
  }

  /// The first reservation has waited too long: where it would fit once all tasks have ended, no others may take
  /// resources until it is met. Not for one that waits for actors or other reservations: it would hold up everybody.
  void keep_free() {
    passed_ = 0;
    reservation& r = *pending_[0];
    place_finder finder(lasting_sites_, r.wanted, r.how);
    if (!finder.find()) return;
    keeping_free_ = true;
    for (std::size_t i = 0; i < r.wanted.size(); ++i) ranks_[finder.place_of(i).rank].kept_free = true;
  }
  void keep_nothing_free() {
    passed_ = 0;
    if (!std::exchange(keeping_free_, false)) return;
    for (const std::uint32_t rank : executing_) ranks_[rank].kept_free = false;
    all_changed();
    ++changes_;
  }

  /// A rank whose cpus are all reserved gets other tasks only if that is so of every rank.
  void share_executors() {
    if (keeper_ != nullptr) stop_keeping();  // it may need other ranks now
    bool any_open = false;
    for (const std::uint32_t rank : executing_) any_open = any_open || ranks_[rank].free.cpus > 0;
    for (const std::uint32_t rank : executing_) {
      ranks_[rank].closed = any_open && ranks_[rank].free.cpus <= 0;
      offer(rank);
    }
    all_changed();
  }

  std::uint32_t place_in_bundle(const request& wanted, std::uint32_t ns) {
    const reservation& r = *find_reservation(wanted.reservation);
    if (!r.met) return no_index;
    std::uint32_t best = no_index;
    for (std::size_t i = 0; i < r.parts.size(); ++i) {
      const reservation::part& p = r.parts[i];
      if (!is_for(wanted, i, p)) continue;
      if (!p.free.fits(wanted.gpu_units, wanted.resources) || !(wanted.actor || has_room(p.rank, ns))) continue;
      if (best != no_index && ranks_[best].sent <= ranks_[p.rank].sent) continue;
      best = p.rank;
      wanted.granted.bundle = static_cast<std::int32_t>(i);
    }
    wanted.granted.reason = placement_reason::bundle;
    return best;
  }

  /// May this bundle, the `i`th of its reservation, ever take the request? Not if its rank has died.
  bool is_for(const request& wanted, std::size_t i, const reservation::part& p) const {
    return ranks_[p.rank].all.executes && wanted.may_come_to(static_cast<int>(p.rank)) && (wanted.bundle < 0 || i == static_cast<std::size_t>(wanted.bundle)) &&
           p.wanted.is_enough_for(wanted);
  }
  /// Of the bundles on this rank the first that a member of a gang fits into.
  std::int32_t bundle_on(std::uint32_t rank, const request& wanted) {
    const reservation& r = *find_reservation(wanted.reservation);
    std::size_t i = 0;
    while (r.parts[i].rank != rank || !is_for(wanted, i, r.parts[i]) ||
           !r.parts[i].free.fits(wanted.gpu_units, wanted.resources)) {
      ++i;
    }
    return static_cast<std::int32_t>(i);
  }

  static const request* request_of(const node& n) {
    return n.form == form::record ? n.record->request.get() : nullptr;
  }

  bool has_room(std::uint32_t rank, std::uint32_t ns) const {
    const rank_state& r = ranks_[rank];
    if (r.kept || r.in_call) return false;
    return active(r) == 0 || (!r.in_gang && r.sent < window_tasks && r.sent_ns + ns <= window_ns);
  }

  /// What was begun beside a member of a gang that waits stands still when that goes on in MPI, where its team may wait for
  /// just this: so tasks go to others, as long as there is a rank without a member.
  bool is_shunned(std::uint32_t rank) const { return in_team(rank) && in_teams_ < executing_.size(); }

  void offer(std::uint32_t rank) {
    rank_state& r = ranks_[rank];
    ++changes_;
    if (!r.all.executes || r.closed) return;
    if (idle(r) && !std::exchange(r.in_idle, true)) idle_.push_back(rank);
    if (!std::exchange(r.in_roomy, true)) roomy_.push_back(rank);
  }

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

  /// For a task that may go anywhere: where its large inputs lie if there is room, else the next one. Looks at the inputs, which
  /// may be many, only if there is room somewhere. If all ranks are in teams it goes back to the member that made it, which waits
  /// for nobody's but its own.
  std::uint32_t next_rank_for(const node& n, std::uint32_t ns) {
    why_bytes_ = 0;
    if (n.form == form::record && in_teams_ >= executing_.size() && in_team(n.record->home_rank)) return n.record->home_rank;
    const std::uint32_t next = next_rank(n.function);
    if (next == no_index) return no_index;
    const std::uint32_t near = nearest(n);
    if (near != no_index && has_room(near, ns) && !is_shunned(near)) return near;
    why_bytes_ = 0;
    return next;
  }

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
      const rank_state& there = ranks_[input.remote.place];
      if (bytes > most && there.all.executes && !there.closed) {
        most = bytes;
        best = input.remote.place;
      }
    }
    why_bytes_ = most;
    return best;
  }

  /// For a request with conditions, of the ranks that fit and have room: the one with the fewest actors, if it is one; else
  /// the one with the least work. Spread: one of those with the fewest tasks (or actors), in turn; none if these have no room:
  /// to go to one that has more would not be even.
  std::uint32_t place_where_best(queue& q, const request& wanted, std::uint32_t ns) {
    read_log(q, wanted);
    while (!q.best.empty()) {
      const best_ranks::entry top = q.best.top();
      if (!may_take(top.rank, q, wanted) || (!wanted.actor && is_full(top.rank, wanted.spread))) {  // not before something changes there
        q.best.pop();
      } else if (const best_ranks::entry now = standing(top.rank, wanted); now != top) {
        q.best.replace_top(now);
      } else if (wanted.actor || has_room(top.rank, ns)) {
        if (wanted.spread) ranks_[top.rank].turn = ++turns_;
        return top.rank;
      } else {
        return no_index;  // it has too much work, and the others have more
      }
    }
    return no_index;
  }
  /// Has it no room for any task, however short? If they are to be spread, one with much work that has the fewest tasks
  /// still counts.
  bool is_full(std::uint32_t rank, bool spread) const {
    const rank_state& r = ranks_[rank];
    return r.kept || r.in_call || (active(r) != 0 && (r.in_gang || r.sent >= window_tasks || (!spread && r.sent_ns >= window_ns)));
  }
  void read_log(queue& q, const request& wanted) {
    const auto add = [&](std::uint32_t rank) {
      if (may_take(rank, q, wanted)) q.best.push(standing(rank, wanted));
    };
    if (q.all_read != all_logged_ || logged_ - q.read > log_.size() || q.best.size() > 2 * executing_.size() + 64) {
      q.best.clear();
      for (const std::uint32_t rank : executing_) add(rank);
    } else {
      for (std::uint64_t i = q.read; i != logged_; ++i) add(log_[i % log_.size()]);
    }
    note_read(q);
  }
  /// Work of which a part may be done while the rest waits counts, but not where all of it waits.
  best_ranks::entry standing(std::uint32_t rank, const request& wanted) const {
    constexpr int bits = 40;  // a quarter of an hour
    constexpr std::uint64_t most = (std::uint64_t{1} << bits) - 1;
    const rank_state& r = ranks_[rank];
    const std::uint64_t work = wanted.actor || active(r) == 0 ? 0 : std::clamp<std::uint64_t>(r.sent_ns, 1, most);
    const std::uint64_t count = wanted.actor ? r.actors : wanted.spread ? r.sent : 0;
    return {count << bits | work, wanted.spread ? r.turn : 0, rank};
  }
  bool may_take(std::uint32_t rank, const queue& q, const request& wanted) const {
    const rank_state& r = ranks_[rank];
    if (!r.all.executes || wanted.cpus > r.all.cpus || !wanted.may_come_to(static_cast<int>(rank)) || (wanted.rank >= 0 && wanted.rank != static_cast<int>(rank)) ||
        (wanted.node >= 0 && wanted.node != r.all.node) || (q.node >= 0 && q.node != r.all.node)) {
      return false;
    }
    if (wanted.cpus > 1 ? wanted.cpus > r.free.cpus : r.closed && wanted.rank < 0) return false;
    if (r.kept && wanted.actor && wanted.holds() && wanted.ranks == 0) return false;  // it might hold them for ever
    if (!wanted.holds()) return !(r.kept_free && wanted.cpus > 1);
    return !r.kept_free && r.free.fits(wanted.gpu_units, wanted.resources);
  }
  bool can_take(std::uint32_t rank, const queue& q, const request& wanted, std::uint32_t ns) const {
    return may_take(rank, q, wanted) && (wanted.actor || has_room(rank, ns));  // an actor takes no time until it is called
  }

  std::uint32_t book(node& n, std::uint32_t rank) {
    --waiting_;
    return book_function(n.function, rank);
  }
  std::uint32_t book_function(std::uint32_t function, std::uint32_t rank) {
    const std::uint32_t charge = estimate(function);
    rank_state& r = ranks_[rank];
    inactive_ranks_ -= r.sent++ == r.blocked;
    r.sent_ns += charge;
    return charge;
  }
  void unbook(std::uint32_t rank, std::uint32_t charge) {
    rank_state& r = ranks_[rank];
    inactive_ranks_ += --r.sent == r.blocked;
    r.sent_ns -= charge;
  }

  /// Of ranks in the order of a request that nobody waits for; where there may be more, that order is made anew.
  static constexpr std::size_t most_kept = std::size_t{1} << 22;
  static constexpr double forever = std::numeric_limits<double>::max();

  node_table& nodes_;
  node_list anywhere_;                 // tasks without conditions
  unsigned in_turn_ = 0;               // of these have overtaken others
  bool plain_waits_ = false;           // some were left behind,
  bool plain_is_next_ = false;         // and since then one with conditions has gone first
  node_list late_;                     // to be told: they would not end in time
  base::list<queue*> queues_;          // one for each distinct request,
  base::index_table queues_by_hash_;   // and by its hash
  base::list<queue*> active_;          // those that are not empty, in the order in which they are tried
  base::index_table reservations_;     // id -> reservation*, owned
  base::list<reservation*> pending_;   // not met, the first first
  base::ring<reservation*> met_;       // to be told
  base::list<site> sites_, lasting_sites_;
  base::array<rank_state> ranks_;
  base::list<std::uint32_t> executing_;
  std::size_t inactive_ranks_ = 0;     // of these: nothing sent there runs
  base::ring<std::uint32_t> idle_, roomy_;
  durations durations_;
  double left_ns_ = forever;
  base::list<gang_candidate> candidates_;
  base::list<std::uint64_t> waiting_gangs_;
  base::list<std::uint32_t> members_;
  base::list<grant> grants_;
  queue* keeper_ = nullptr;            // the old gang's queue for which ranks are kept
  std::uint64_t gangs_ = 0;            // started
  std::size_t in_teams_ = 0;           // ranks, see in_team
  std::uint64_t ended_ = 0;            // tasks
  std::uint64_t changes_ = 1;          // of what decides whether a gang finds its ranks
  std::size_t waiting_ = 0;
  unsigned turn_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t why_bytes_ = 0;
  base::array<std::uint32_t> log_;     // ranks on which something has become possible: the last ones,
  std::uint64_t logged_ = 0, all_logged_ = 1;  // how many there have been, and how often that was so of all ranks,
  std::uint64_t read_ = 0;             // and up to where any queue has read
  std::uint32_t turns_ = 0;            // of tasks that are spread
  unsigned passed_ = 0;                // resources taken while a reservation waits
  bool keeping_free_ = false;
  bool zero_is_lent_ = false;          // rank 0 executes, but joins only the gangs that need it
  bool all_live_ = true;
  bool may_meet_ = false;              // something was given back since pending_ was looked at
};

}  // namespace manta::graph
