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
// yet counts as a whole window, so its first tasks go one to a rank.
//
// A gang starts when enough ranks have nothing to do at the same moment. While
// it waits, other tasks fill the ranks; one that has seen as many tasks end as
// there are ranks is old: ranks are then kept free for it as they fall idle. A
// rank is in one gang at a time, for members block it inside MPI.
#pragma once

#include <algorithm>
#include <utility>

#include "manta/graph/node.hpp"
#include "manta/graph/resources.hpp"
#include "manta/graph/task.hpp"

namespace manta::graph {

class scheduler {
 public:
  static constexpr std::uint32_t window_ns = 100'000;
  static constexpr std::uint32_t window_tasks = 4096;
  static constexpr std::uint32_t least_charge_ns = 20;
  static constexpr std::uint64_t large_bytes = 64 * 1024;  ///< inputs of this size pull their task to where they lie

  scheduler(node_table& nodes, const base::array<capacity>& world)
      : nodes_(nodes), anywhere_(nodes), ranks_(world.size()) {
    for (std::size_t r = 0; r < world.size(); ++r) {
      ranks_[r].all = world[r];
      ranks_[r].free = ranks_[r].all.resources;
      if (ranks_[r].all.executes) {
        executing_.push_back(static_cast<std::uint32_t>(r));
        offer(static_cast<std::uint32_t>(r));
      }
    }
  }

  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;
  ~scheduler() {
    for (queue* q : constrained_) delete q;
  }

  /// Event: all inputs of this task exist. `n` holds a task (compact or record).
  void ready(node& n) {
    ++waiting_;
    const request* wanted = request_of(n);
    if (wanted == nullptr || wanted->anywhere()) {
      anywhere_.push_back(n);
      return;
    }
    // tasks that ask for the same wait in one queue: if its first does not fit, none of the others does
    for (queue* q : constrained_) {
      if (!same(*q->wanted, *wanted)) continue;
      if (q->tasks.empty()) q->first_since = ended_;
      return q->tasks.push_back(n);
    }
    constrained_.push_back(new queue{n.record->request, node_list(nodes_), ended_, 0});
    constrained_.back()->tasks.push_back(n);
  }

  static constexpr std::uint64_t not_run = 0xffffffff;  ///< as `ns`: it ended without having run

  /// Event: a task that was sent to `rank` has ended there, after `ns` of its own time.
  void ended(std::uint32_t rank, std::uint32_t function, std::uint32_t charge, std::uint64_t ns,
             const request* wanted = nullptr) {
    rank_state& r = ranks_[rank];
    --r.sent;
    r.sent_ns -= charge;
    if (ns != not_run) learn(function, ns);
    ++ended_;
    if (wanted != nullptr && wanted->ranks > 0 && !wanted->actor) r.in_gang = false;
    if (wanted != nullptr && !wanted->actor) give_back(rank, *wanted);
    offer(rank);
  }

  /// Event: a task came back from `rank` unstarted.
  void returned(std::uint32_t rank, std::uint32_t charge) {
    rank_state& r = ranks_[rank];
    --r.sent;
    r.sent_ns -= charge;
    offer(rank);
  }

  /// Event: an actor that held resources on `rank` has ended.
  void give_back(std::uint32_t rank, const request& wanted) {
    for (const quantity& q : wanted.resources) ranks_[rank].free[q.name] += q.units;
    if (wanted.actor) --ranks_[rank].actors;
    if (wanted.ranks > 0) ranks_[rank].in_gang = ranks_[rank].in_actor = false;
    ++changes_;
  }

  /// Event: of the tasks sent to `rank`, `count` wait for something and leave it free.
  void blocked(std::uint32_t rank, std::uint32_t count) {
    ranks_[rank].blocked = count;
    offer(rank);
  }

  /// Takes decisions while there are any: dispatch(node&, rank, charge_ns) for each.
  template <class Dispatch>
  void decide(Dispatch&& dispatch) {
    for (queue* each : constrained_) {
      const request& wanted = *each->wanted;
      if (wanted.ranks > 0) {
        while (!each->tasks.empty() && place_gang(*each)) {
          each->first_since = ended_;
          start_gang(each->tasks.pop_front(), wanted, dispatch);
        }
        continue;
      }
      while (!each->tasks.empty()) {
        const std::uint32_t rank = place(wanted, estimate(each->tasks.front().function));
        if (rank == no_index) break;
        node& n = each->tasks.pop_front();
        for (const quantity& q : wanted.resources) ranks_[rank].free[q.name] -= q.units;
        if (wanted.actor) ++ranks_[rank].actors;
        dispatch(n, rank, book(n, rank));
      }
    }
    while (!anywhere_.empty()) {
      node& n = anywhere_.front();
      std::uint32_t rank = nearest(n);
      if (rank == no_index || !has_room(rank, estimate(n.function))) rank = next_rank(n.function);
      if (rank == no_index) return;
      anywhere_.remove(n);
      dispatch(n, rank, book(n, rank));
    }
  }

  /// While a gang is dispatched: its ranks and its number.
  const base::list<std::uint32_t>& members() const { return members_; }
  std::uint64_t gang_id() const { return gangs_; }

  /// Can one more plain task of this function leave at once? The rank, or no_index; books it if so.
  std::uint32_t take_room(std::uint32_t function, std::uint32_t& charge) {
    if (!anywhere_.empty()) return no_index;
    const std::uint32_t rank = next_rank(function);
    if (rank != no_index) charge = book_function(function, rank);
    return rank;
  }

  /// Event: a task that is ready and not dispatched will not be run.
  void remove(node& n) {
    --waiting_;
    const request* wanted = request_of(n);
    if (wanted == nullptr || wanted->anywhere()) return anywhere_.remove(n);
    for (queue* q : constrained_) {
      if (!same(*q->wanted, *wanted)) continue;
      q->tasks.remove(n);
      q->first_since = ended_;
      if (keeper_ == q && q->tasks.empty()) stop_keeping();
      return;
    }
  }

  /// Takes out every task that has not been dispatched.
  template <class Take>
  void drop_all(Take&& take) {
    while (!anywhere_.empty()) --waiting_, take(anywhere_.pop_front());
    if (keeper_ != nullptr) stop_keeping();
    for (queue* q : constrained_) {
      while (!q->tasks.empty()) --waiting_, take(q->tasks.pop_front());
    }
  }

  std::size_t waiting() const { return waiting_; }
  std::uint32_t sent(std::uint32_t rank) const { return ranks_[rank].sent; }
  bool idle(std::uint32_t rank) const { return active(ranks_[rank]) == 0; }
  const base::list<std::uint32_t>& executing() const { return executing_; }
  const capacity& capacity_of(std::uint32_t rank) const { return ranks_[rank].all; }

  /// Estimated nanoseconds of a task of this function: a smoothed mean of those that ended.
  std::uint32_t estimate(std::uint32_t function) const {
    if (function >= estimates_.size() || estimates_[function] < 0) return window_ns;
    return std::max(least_charge_ns, static_cast<std::uint32_t>(std::min(estimates_[function], 4e9F)));
  }

 private:
  struct rank_state {
    capacity all;
    quantities free;
    std::uint32_t sent = 0;     ///< tasks sent and not ended
    std::uint32_t blocked = 0;  ///< of these, waiting inside
    std::uint32_t actors = 0;
    std::uint64_t sent_ns = 0;
    bool in_idle = false;       ///< stands in idle_
    bool in_roomy = false;      ///< stands in roomy_
    bool in_gang = false;       ///< a member has been sent and has not ended
    bool in_actor = false;      ///< it is part of an actor, and may be for ever
    bool kept = false;          ///< kept free for an old gang
  };
  struct queue {
    request_ptr wanted;
    node_list tasks;
    std::uint64_t first_since = 0;  ///< gangs: tasks that had ended when the first came to wait
    std::uint64_t looked_at = 0;    ///< gangs: the state of the world in which there was no place
  };

  static std::uint32_t active(const rank_state& r) { return r.sent > r.blocked ? r.sent - r.blocked : 0; }

  static bool same(const request& a, const request& b) {
    return a.cpus == b.cpus && a.rank == b.rank && a.node == b.node && a.actor == b.actor &&
           a.ranks == b.ranks && a.nodes == b.nodes && a.resources == b.resources;
  }

  static const request* request_of(const node& n) {
    return n.form == form::record ? n.record->request.get() : nullptr;
  }

  bool has_room(std::uint32_t rank, std::uint32_t ns) const {
    const rank_state& r = ranks_[rank];
    if (r.kept) return false;
    return active(r) == 0 || (!r.in_gang && r.sent < window_tasks && r.sent_ns + ns <= window_ns);
  }

  void offer(std::uint32_t rank) {
    rank_state& r = ranks_[rank];
    ++changes_;
    if (!r.all.executes) return;
    if (active(r) == 0 && !std::exchange(r.in_idle, true)) idle_.push_back(rank);
    if (!std::exchange(r.in_roomy, true)) roomy_.push_back(rank);
  }

  /// Idle ranks first, then those with room in turn. A rank without room leaves the list until something ends there.
  std::uint32_t next_rank(std::uint32_t function) {
    const std::uint32_t ns = estimate(function);
    while (!idle_.empty()) {
      const std::uint32_t rank = idle_.front();
      if (active(ranks_[rank]) == 0 && !ranks_[rank].kept) return rank;
      idle_.pop_front();
      ranks_[rank].in_idle = false;
    }
    while (!roomy_.empty()) {
      const std::uint32_t rank = roomy_.front();
      if (has_room(rank, ns)) {
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

  /// The rank on which most bytes of large inputs lie, or no_index.
  std::uint32_t nearest(const node& n) const {
    if (n.form != form::record) return no_index;
    std::uint32_t best = no_index;
    std::uint64_t most = 0;
    task& t = *n.record;
    for (std::uint32_t i = 0; i < t.input_count; ++i) {
      const node& input = *t.inputs()[i];
      if (input.form != form::remote || input.remote.bytes < large_bytes) continue;
      std::uint64_t bytes = 0;
      for (std::uint32_t k = 0; k < t.input_count && t.input_count <= 16; ++k) {
        const node& other = *t.inputs()[k];
        if (other.form == form::remote && other.remote.place == input.remote.place) bytes += other.remote.bytes;
      }
      bytes = std::max(bytes, input.remote.bytes);
      if (bytes > most && ranks_[input.remote.place].all.executes) {
        most = bytes;
        best = input.remote.place;
      }
    }
    return best;
  }

  /// For a request with conditions: the fitting rank with room that has the fewest actors, then the least work.
  std::uint32_t place(const request& wanted, std::uint32_t ns) const {
    if (wanted.rank >= 0) {
      const auto rank = static_cast<std::uint32_t>(wanted.rank);
      return can_take(rank, wanted, ns) ? rank : no_index;
    }
    std::uint32_t best = no_index;
    for (const std::uint32_t rank : executing_) {
      if (!can_take(rank, wanted, ns)) continue;
      const rank_state& r = ranks_[rank];
      if (best == no_index || (wanted.actor ? r.actors < ranks_[best].actors : r.sent_ns < ranks_[best].sent_ns)) {
        best = rank;
      }
    }
    return best;
  }
  bool can_take(std::uint32_t rank, const request& wanted, std::uint32_t ns) const {
    const rank_state& r = ranks_[rank];
    if (!wanted.possible(static_cast<int>(rank), r.all) || !fits(wanted.resources, r.free)) return false;
    return wanted.actor || has_room(rank, ns);  // an actor takes no executor time until it is called
  }

  /// Finds ranks for the first gang of a queue: those without work, of which some may have been kept for it. If it is
  /// old and there are too few, keeps those that come free.
  bool place_gang(queue& q) {
    const request& wanted = *q.wanted;
    const auto count = static_cast<std::size_t>(wanted.ranks);
    if (q.looked_at == changes_) return false;
    candidates(q, true);
    if (choose_gang(candidates_, count, wanted.nodes, members_)) return true;
    q.looked_at = changes_;
    if (keeper_ == nullptr && ended_ - q.first_since >= executing_.size()) {
      candidates(q, false);
      if (choose_gang(candidates_, count, wanted.nodes, members_)) {
        keeper_ = &q;
        for (const std::uint32_t rank : members_) ranks_[rank].kept = true;
      }
    }
    return false;
  }
  void candidates(const queue& q, bool only_idle) {
    candidates_.clear();
    for (const std::uint32_t rank : executing_) {
      const rank_state& r = ranks_[rank];
      if (!q.wanted->possible(static_cast<int>(rank), r.all)) continue;
      if (only_idle && (active(r) != 0 || r.in_gang || (r.kept && keeper_ != &q) || !fits(q.wanted->resources, r.free))) {
        continue;
      }
      if (only_idle ? keeper_ == &q && !r.kept : r.in_actor) continue;
      candidates_.push_back({rank, r.all.node});
    }
    // rank 0 comes last: the scheduler would sit in a rank that is busy with MPI
    if (candidates_.size() > 1 && candidates_[0].rank == 0) {
      const gang_candidate first = candidates_[0];
      candidates_.remove(first);
      candidates_.push_back(first);
    }
  }
  template <class Dispatch>
  void start_gang(node& n, const request& wanted, Dispatch&& dispatch) {
    if (keeper_ != nullptr && ranks_[members_[0]].kept) stop_keeping();
    ++gangs_;
    ++changes_;
    std::uint32_t charge = 0;
    for (const std::uint32_t rank : members_) {
      ranks_[rank].in_gang = true;
      ranks_[rank].in_actor = wanted.actor;
      if (wanted.actor) ++ranks_[rank].actors;
      for (const quantity& q : wanted.resources) ranks_[rank].free[q.name] -= q.units;
      charge = book_function(n.function, rank);
    }
    --waiting_;
    dispatch(n, members_[0], charge);
  }
  void stop_keeping() {
    keeper_ = nullptr;
    for (const std::uint32_t rank : executing_) {
      if (std::exchange(ranks_[rank].kept, false)) offer(rank);
    }
  }

  std::uint32_t book(node& n, std::uint32_t rank) {
    --waiting_;
    return book_function(n.function, rank);
  }
  std::uint32_t book_function(std::uint32_t function, std::uint32_t rank) {
    const std::uint32_t charge = estimate(function);
    ++ranks_[rank].sent;
    ranks_[rank].sent_ns += charge;
    return charge;
  }

  void learn(std::uint32_t function, std::uint64_t ns) {
    if (function >= estimates_.size()) estimates_.resize(function + 1, -1.0F);
    float& mean = estimates_[function];
    const auto sample = static_cast<float>(ns);
    mean = mean < 0 ? sample : mean + (sample - mean) / 8;
  }

  node_table& nodes_;
  node_list anywhere_;                 // tasks without conditions
  base::list<queue*> constrained_;     // one queue for each distinct request
  base::array<rank_state> ranks_;
  base::list<std::uint32_t> executing_;
  base::ring<std::uint32_t> idle_, roomy_;
  base::list<float> estimates_;        // by function; negative: not known yet
  base::list<gang_candidate> candidates_;
  base::list<std::uint32_t> members_;
  queue* keeper_ = nullptr;            // the old gang's queue for which ranks are kept
  std::uint64_t gangs_ = 0;            // started
  std::uint64_t ended_ = 0;            // tasks
  std::uint64_t changes_ = 1;          // of what decides whether a gang finds its ranks
  std::size_t waiting_ = 0;
  unsigned turn_ = 0;
};

}  // namespace manta::graph
