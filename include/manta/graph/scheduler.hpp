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
      if (same(*q->wanted, *wanted)) return q->tasks.push_back(n);
    }
    constrained_.push_back(new queue{n.record->request, node_list(nodes_)});
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
      if (same(*q->wanted, *wanted)) return q->tasks.remove(n);
    }
  }

  /// Takes out every task that has not been dispatched.
  template <class Take>
  void drop_all(Take&& take) {
    while (!anywhere_.empty()) --waiting_, take(anywhere_.pop_front());
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
  };
  struct queue {
    request_ptr wanted;
    node_list tasks;
  };

  static std::uint32_t active(const rank_state& r) { return r.sent > r.blocked ? r.sent - r.blocked : 0; }

  static bool same(const request& a, const request& b) {
    return a.cpus == b.cpus && a.rank == b.rank && a.node == b.node && a.actor == b.actor &&
           a.resources == b.resources;
  }

  static const request* request_of(const node& n) {
    return n.form == form::record ? n.record->request.get() : nullptr;
  }

  bool has_room(std::uint32_t rank, std::uint32_t ns) const {
    const rank_state& r = ranks_[rank];
    return active(r) == 0 || (r.sent < window_tasks && r.sent_ns + ns <= window_ns);
  }

  void offer(std::uint32_t rank) {
    rank_state& r = ranks_[rank];
    if (!r.all.executes) return;
    if (active(r) == 0 && !std::exchange(r.in_idle, true)) idle_.push_back(rank);
    if (!std::exchange(r.in_roomy, true)) roomy_.push_back(rank);
  }

  /// Idle ranks first, then those with room in turn. A rank without room leaves the list until something ends there.
  std::uint32_t next_rank(std::uint32_t function) {
    const std::uint32_t ns = estimate(function);
    while (!idle_.empty()) {
      const std::uint32_t rank = idle_.front();
      if (active(ranks_[rank]) == 0) return rank;
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
  std::size_t waiting_ = 0;
  unsigned turn_ = 0;
};

}  // namespace manta::graph
