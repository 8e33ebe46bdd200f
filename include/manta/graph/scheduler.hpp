// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Decides which task goes to which rank, and when. The scheduler is plain data: it takes events (a task may start, a
// task has ended, a rank is blocked) and gives decisions. It has no messages, no clock and no threads. So the same
// events give the same decisions, and a single process can simulate ten thousand ranks. The parts, from below:
//
//   change_log.hpp      the ranks on which something has become possible
//   rank_load.hpp       the tasks that were sent to each rank, and the ranks with room
//   holdings.hpp        the resources that tasks hold, and reservations
//   request_queues.hpp  the waiting tasks with conditions
//   rank_choice.hpp     the rank of a task
//   gang_placement.hpp  the ranks of a gang
//
// When the end of the run is known, the scheduler does not send tasks that would take longer.
#pragma once

#include <limits>
#include <utility>

#include "manta/graph/gang_placement.hpp"

namespace manta::graph {

class scheduler {
 public:
  scheduler(node_table& nodes, const offers& world)
      : nodes_(nodes),
        load_(world),
        held_(load_, world),
        choice_(load_, held_),
        gang_(load_, held_, choice_),
        plain_(nodes),
        late_(nodes) {}
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  const rank_load& load() const { return load_; }
  const holdings& held() const { return held_; }
  /// During the dispatch of a gang: its members, their grants and its number.
  const gang_placement& gang() const { return gang_; }
  /// Number of tasks that have not been dispatched.
  std::size_t waiting() const { return waiting_; }

  // --- events of tasks

  /// Takes a task whose inputs all exist; `n` holds it, compact or as a record. `overtakes`: a task without conditions
  /// goes before other tasks without conditions, up to a limit. Returns false, and does not take the task, if its
  /// reservation has been given up.
  bool ready(node& n, bool overtakes = false) {
    constexpr unsigned most_in_turn = 64;
    request* const wanted = request_of(n);
    if (is_plain(wanted)) {
      ++waiting_;
      if (overtakes && in_turn_ < most_in_turn) {
        ++in_turn_;
        plain_.push_front(n);
      } else {
        in_turn_ = 0;
        plain_.push_back(n);
      }
      return true;
    }
    if (wanted->reservation != 0 && held_.find_reservation(wanted->reservation) == nullptr) return false;
    ++waiting_;
    wanted->granted = {};
    const std::uint32_t home = n.record->home_rank;
    wanted->granted.member = load_.may_block(home, *wanted) ? static_cast<int>(home) : -1;
    bool is_new = false;
    request_queue& q = queues_.of(*wanted, nodes_, is_new);
    if (is_new) choice_.aim(q);
    if (queues_.push(q, n)) {
      q.stuck = false;
      q.first_since = load_.tasks_ended();
    }
    return true;
  }
  /// Notes that a task has ended on `rank` after `ns` of its own time; not_run: it never ran.
  void ended(std::uint32_t rank, std::uint32_t function, std::uint32_t charge, std::uint64_t ns,
             const request* wanted = nullptr) {
    load_.ended(rank, function, charge, ns);
    if (wanted != nullptr && !wanted->actor) give_back(rank, *wanted);
    load_.changed(rank);
  }
  /// Notes that a task came back from `rank` without having started.
  void returned(std::uint32_t rank, std::uint32_t charge) {
    load_.unbook(rank, charge);
    load_.changed(rank);
  }
  /// Notes that an actor that held resources on `rank` has ended.
  void give_back(std::uint32_t rank, const request& wanted) {
    if (wanted.ranks > 0) load_.leaves_gang(rank);
    held_.give_back(rank, wanted);
    load_.changed(rank);
  }
  /// Notes that `count` of the tasks sent to `rank` wait for something, so that the rank can run others.
  void blocked(std::uint32_t rank, std::uint32_t count, bool own_work = false, bool in_call = false) {
    load_.blocked(rank, count, own_work, in_call);
    gang_.note_waits(rank);
    load_.changed(rank);
  }
  /// Removes a task that has not been dispatched.
  void remove(node& n) {
    --waiting_;
    const request* wanted = request_of(n);
    if (is_plain(wanted)) return plain_.remove(n);
    request_queue& q = *queues_.find(*wanted);
    const bool first = &q.tasks.front() == &n;
    q.tasks.remove(n);
    if (!first) return;
    q.first_since = load_.tasks_ended();
    q.stuck = false;
    first_left(q, queues_.place_of(q));
    if (gang_.keeper() == &q && q.tasks.empty()) gang_.stop_keeping();
  }
  /// Takes out every task that has not been dispatched.
  template <class Take>
  void drop_all(Take&& take) {
    while (!plain_.empty()) --waiting_, take(plain_.pop_front());
    if (gang_.keeper() != nullptr) gang_.stop_keeping();
    for (request_queue* q : queues_.active()) {
      while (!q->tasks.empty()) --waiting_, take(q->tasks.pop_front());
    }
    queues_.all_emptied();
  }
  /// Sets the time until the run has to end. A task with a longer expected duration is not dispatched.
  void set_time_left(double ns) { left_ns_ = ns; }
  double expected(const node& n) const { return load_.times().expected(n); }
  /// Takes out the next waiting task that would take longer; null when there is none left.
  node* take_late() { return late_.empty() ? nullptr : &late_.pop_front(); }

  // --- events of ranks

  /// Notes that a rank has died, with all tasks that were sent there. Calls refuse(node&) for waiting tasks that no
  /// other rank can run, and takes them out. False if no rank is left that executes tasks.
  template <class Refuse>
  bool died(std::uint32_t rank, Refuse&& refuse) {
    load_.died(rank);
    held_.died(rank);
    gang_.somebody_died();
    for (request_queue* q : queues_.all()) choice_.aim(*q);
    if (load_.executing().empty() || (load_[0].lent && load_.executing().size() == 1)) return false;
    refuse_impossible(refuse);
    share_executors();
    return true;
  }
  /// Notes that a spare rank executes tasks from now on, and what it offers.
  void joins(std::uint32_t rank, const capacity& its) {
    load_.joins(rank, its);
    held_.joins(rank, its);
    for (request_queue* q : queues_.all()) choice_.aim(*q);
    share_executors();
  }
  /// Notes that rank 0 executes tasks from now on. `lent`: only those that need it, unless it executes others already.
  void rank_0_executes(bool lent) {
    const bool was_lent = load_[0].lent;
    if (load_.rank_0_executes(lent) || was_lent != load_[0].lent) share_executors();
    if (was_lent && !lent) load_.changed(0);
  }
  /// Whether the living ranks could meet this request if nothing were taken. True for a reservation that is
  /// not met yet.
  bool is_possible(const request& wanted) { return gang_.is_possible(wanted); }
  /// Calls refuse(node&) for the tasks, of this reservation or of all, that no rank can run, and takes them out.
  template <class Refuse>
  void refuse_impossible(Refuse&& refuse, std::uint64_t reservation = 0) {
    base::list<node*> refused;
    for (request_queue* q : queues_.active()) {
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

  // --- events of reservations

  /// Adds a request for bundles, and owns the record from now on. A later decide() meets it.
  void reserve(reservation* r) { held_.reserve(r); }
  /// Gives a reservation up. What its tasks do not hold is free at once, the rest when they end. Calls
  /// refuse(node&) for its tasks that have not been dispatched, and takes them out. Returns the record, which the
  /// caller deletes, or null.
  template <class Refuse>
  reservation* release(std::uint64_t id, Refuse&& refuse) {
    reservation* const r = held_.find_reservation(id);
    if (r == nullptr) return nullptr;
    held_.release(*r);
    for (std::size_t i = queues_.all().size(); i-- > 0;) {
      request_queue* const q = queues_.all()[i];
      if (q->wanted->reservation != id) continue;
      while (!q->tasks.empty()) --waiting_, refuse(q->tasks.pop_front());
      queues_.forget(q);
    }
    share_executors();
    return r;
  }
  /// The next reservation that has been met and not reported yet; null: none.
  reservation* take_met() { return held_.take_met(); }
  /// Called when nothing proceeds any more: stops keeping ranks free for a reservation or a gang. True if it did so.
  bool stop_keeping_free() {
    const bool any = held_.is_keeping_free() || gang_.keeper() != nullptr;
    held_.keep_nothing_free();
    if (gang_.keeper() != nullptr) {
      gang_.keeper()->first_since = load_.tasks_ended();  // else the gang would be old, and keep them again at once
      gang_.stop_keeping();
    }
    return any;
  }

  // --- decisions

  /// Takes all decisions that are possible now; calls dispatch(node&, rank, charge_ns) for each.
  template <class Dispatch>
  void decide(Dispatch&& dispatch) {
    while (held_.meet_next()) share_executors();
    std::size_t at = 0;
    decide_queues(at, false, dispatch);
    while (place_plain(dispatch)) {
    }
    plain_waits_ = !plain_.empty();
    if (at < queues_.active().size()) decide_queues(at, true, dispatch);
  }
  /// During the dispatch of a task without a request: bytes of its inputs on its rank, if they are the reason; else 0.
  std::uint64_t bytes_there() const { return choice_.bytes_there(); }

  /// Books one more task without conditions on a rank with room, and returns the rank; no_index: it has to wait.
  std::uint32_t take_room(std::uint32_t function, std::uint32_t& charge) {
    if (others_come_first(function)) return no_index;
    const std::uint32_t rank = load_.all_in_teams() && load_.in_team(0) ? 0 : load_.next_rank(function);
    if (rank != no_index) charge = load_.book(function, rank);
    return rank;
  }
  /// Whether a task can go to that rank, behind others. False if all tasks there wait.
  bool has_room_on(std::uint32_t rank, std::uint32_t function) const {
    if (others_come_first(function)) return false;
    const rank_load::rank_state& r = load_[rank];
    return rank_load::takes_any(r) && rank_load::active(r) != 0 && load_.has_room(rank, load_.estimate(function));
  }
  bool take_room_on(std::uint32_t rank, std::uint32_t function, std::uint32_t& charge) {
    const bool room = has_room_on(rank, function);
    if (room) charge = load_.book(function, rank);
    return room;
  }

  // --- what waits

  /// The waiting task for which found(node&) is true, or null.
  template <class Found>
  node* find_waiting(Found&& found) {
    node* n = plain_.find(found);
    for (std::size_t i = 0; n == nullptr && i < queues_.active().size(); ++i)
      n = queues_.active()[i]->tasks.find(found);
    return n;
  }
  /// A task that waits for ranks while a member of a gang waits inside, perhaps for this task; null: none.
  node* task_behind_member() {
    if (queues_.active().empty()) return nullptr;
    bool waits_inside = false;
    for (const std::uint32_t rank : load_.executing()) waits_inside = waits_inside || load_.waits_in_gang(rank);
    for (request_queue* q : queues_.active()) {
      const request& wanted = *q->wanted;
      if (wanted.ranks > 0 ? waits_inside || wanted.for_member : is_behind_members(wanted)) return &q->tasks.front();
    }
    return nullptr;
  }

 private:
  /// Whether a task waits in `plain_`; other tasks wait in the queue of their request.
  static bool is_plain(const request* wanted) {
    return wanted == nullptr || (wanted->anywhere() && !wanted->for_member);
  }
  /// Whether a waiting member made the task, and another member holds up each rank that could run it.
  bool is_behind_members(const request& wanted) const {
    const int member = wanted.granted.member;
    if (member < 0 || wanted.reservation != 0) return false;
    if (!wanted.for_member && !load_.waits_in_gang(static_cast<std::uint32_t>(member))) return false;
    bool any = false;
    for (const std::uint32_t rank : load_.executing()) {
      if (!load_.could_run(rank, wanted)) continue;
      if (!load_.is_held_up(rank)) return false;
      any = true;
    }
    return any;
  }
  /// Places the first task without conditions, if a rank has room for it.
  template <class Dispatch>
  bool place_plain(Dispatch&& dispatch) {
    while (!plain_.empty() && set_aside_if_late(plain_.front())) {
    }
    if (plain_.empty()) return false;
    node& n = plain_.front();
    const std::uint32_t rank = choice_.place_anywhere(n, load_.estimate(n.function));
    if (rank == no_index) return false;
    plain_.remove(n);
    --waiting_;
    dispatch(n, rank, load_.book(n.function, rank));
    return true;
  }

  /// Places tasks from the queues of priority 0 and more, or from the queues below. `at` is the first queue that was
  /// not tried. Tasks of priority 0 with conditions have fewer places and go before plain tasks; where plain tasks had
  /// to wait before, both kinds take turns.
  template <class Dispatch>
  void decide_queues(std::size_t& at, bool below, Dispatch&& dispatch) {
    while (at < queues_.active().size() && (below || queues_.active()[at]->wanted->priority >= 0)) {
      request_queue& q = *queues_.active()[at];
      if (set_aside_if_late(q.tasks.front())) continue;
      if (!(q.wanted->ranks > 0 ? start_gang(q, at, dispatch) : start_first(q, at, dispatch))) ++at;
    }
  }
  /// Places the queue's first gang; false if there is no place for it.
  template <class Dispatch>
  bool start_gang(request_queue& q, std::size_t at, Dispatch&& dispatch) {
    if (!gang_.place(q)) return false;
    node& first = q.tasks.pop_front();
    q.first_since = load_.tasks_ended();
    first_left(q, at);
    const std::uint32_t charge = gang_.start(first);
    --waiting_;
    dispatch(first, gang_.members()[0], charge);
    return true;
  }
  /// Places the queue's first task; false if there is no place for it.
  template <class Dispatch>
  bool start_first(request_queue& q, std::size_t at, Dispatch&& dispatch) {
    const std::uint32_t ns = load_.estimate(q.tasks.front().function);
    // Nothing has happened since the last attempt. Tasks with `spread` are tried all the same: the ranks with the
    // fewest tasks may be others by now.
    if (q.stuck && load_.log().has_read_all(q.read) && ns >= q.stuck_ns && !q.wanted->spread) return false;
    if (plain_is_next_ && q.wanted->priority == 0) plain_is_next_ = !place_plain(dispatch);
    node& n = q.tasks.front();
    request& wanted = *n.record->request;
    const std::uint32_t rank = choice_.place(q, n, ns);
    q.stuck = rank == no_index;
    if (q.stuck) {
      q.stuck_ns = ns;
      load_.log().move_to_end(q.read);
      return false;
    }
    if (wanted.priority == 0) plain_is_next_ = plain_waits_;
    q.tasks.remove(n);
    first_left(q, at);
    held_.take(wanted, rank);
    --waiting_;
    dispatch(n, rank, load_.book(n.function, rank));
    return true;
  }
  void first_left(request_queue& q, std::size_t at) { queues_.first_left(q, at, load_.executing().size()); }

  bool set_aside_if_late(node& n) {
    if (left_ns_ == forever || expected(n) <= left_ns_) return false;
    remove(n);
    late_.push_back(n);
    return true;
  }
  /// Whether a plain task of this function must wait: because others go first, or because it would not end in time.
  bool others_come_first(std::uint32_t function) const {
    return !plain_.empty() || (!queues_.active().empty() && queues_.active()[0]->wanted->priority > 0) ||
           static_cast<double>(load_.times().mean(function)) > left_ns_;
  }

  /// Closes each rank whose cpus are all reserved, so that it gets no other tasks, unless this holds for every rank.
  void share_executors() {
    if (gang_.keeper() != nullptr) gang_.stop_keeping();  // the old gang may need other ranks now
    bool any_open = false;
    for (const std::uint32_t rank : load_.executing())
      any_open = any_open || (!load_[rank].lent && held_.free_on(rank).cpus > 0);
    for (const std::uint32_t rank : load_.executing()) {
      load_.close(rank, any_open && held_.free_on(rank).cpus <= 0);
      load_.offer(rank);
    }
    load_.log().note_everywhere();
  }

  static constexpr double forever = std::numeric_limits<double>::max();

  node_table& nodes_;
  rank_load load_;
  holdings held_;
  rank_choice choice_;
  gang_placement gang_;
  request_queues queues_;
  node_list plain_;  // tasks without conditions
  node_list late_;   // tasks that would not end in time, for take_late()
  std::size_t waiting_ = 0;
  unsigned in_turn_ = 0;  // number of plain tasks in a row that have overtaken others
  double left_ns_ = forever;
  // Plain tasks and tasks of priority 0 with conditions take turns where there is not room for all.
  bool plain_waits_ = false;    // plain tasks had to wait in the last decide()
  bool plain_is_next_ = false;  // a task with conditions has gone first since then
};

}  // namespace manta::graph
