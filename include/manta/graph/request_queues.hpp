// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Tasks with conditions wait in one queue for each distinct request. The scheduler tries the queues that are not empty
// in the order of their priorities, and queues of one priority in the order of the arrival of their first tasks.
#pragma once

#include <utility>

#include "manta/base/hash.hpp"
#include "manta/base/pointer_table.hpp"
#include "manta/graph/best_ranks.hpp"
#include "manta/graph/change_log.hpp"
#include "manta/graph/node.hpp"
#include "manta/graph/task.hpp"

namespace manta::graph {

/// The request of a task that has not been dispatched; null if it has no conditions.
inline request* request_of(const node& n) { return n.form == form::record ? n.record->request.get() : nullptr; }

/// Tasks with equal requests: if the first one does not fit anywhere, none of the others does.
struct request_queue {
  base::shared<const request> wanted;
  node_list tasks;
  std::uint64_t hash;
  request_queue* next = nullptr;  // the next queue with the same hash
  int rank = -1, node = -1;       // the rank or node to which `wanted`, with its `near`, limits the tasks; -1: any
  best_ranks best = {};           // the ranks that fit, as far as the queue has read the log
  change_log::position read = {};
  bool stuck = false;                // no rank could take the first task at the last attempt
  std::uint32_t stuck_ns = 0;        // the estimate of the first task at that attempt
  std::uint64_t first_since = 0;     // gangs: the number of tasks that had ended when the first gang began to wait
  std::uint32_t awaited = no_index;  // gangs: a rank of a node for which a gang that is spread has waited
  std::uint64_t looked_at = 0;       // gangs: change_log::state_for_gangs() at the last attempt, which found no place
};

class request_queues {
 public:
  request_queues() = default;
  request_queues(const request_queues&) = delete;
  request_queues& operator=(const request_queues&) = delete;
  ~request_queues() {
    for (request_queue* q : all_) delete q;
  }

  /// All queues, also empty ones.
  base::list<request_queue*>& all() { return all_; }
  /// The queues that have tasks, in the order in which they are tried.
  const base::list<request_queue*>& active() const { return active_; }

  /// The queue of this request, or null.
  request_queue* find(const request& wanted) const { return find(wanted, hash(wanted)); }
  /// The queue of this request; makes one if there is none, and then sets `is_new`.
  request_queue& of(const request& wanted, node_table& nodes, bool& is_new) {
    const std::uint64_t h = hash(wanted);
    request_queue* q = find(wanted, h);
    is_new = q == nullptr;
    if (is_new) {
      const base::shared<const request> copy(new request(wanted));  // the task's own request changes when it runs again
      q = new request_queue{copy, node_list(nodes), h};
      q->next = by_hash_.find(h);
      by_hash_.set(h, q);
      all_.push_back(q);
    }
    return *q;
  }

  /// Appends a task; true if it is the first of its queue.
  bool push(request_queue& q, node& n) {
    n.record->sequence = ++sequence_;
    q.tasks.push_back(n);
    if (q.tasks.size() > 1) return false;
    active_.push_back(&q);
    for (std::size_t i = active_.size() - 1; i > 0 && before(q, *active_[i - 1]); --i)
      std::swap(active_[i], active_[i - 1]);
    return true;
  }
  /// Notes that the first task of the active queue at this place was taken out.
  void first_left(request_queue& q, std::size_t at, std::size_t ranks) {
    if (q.tasks.empty()) {
      active_.remove(&q);
      if (all_.size() * ranks > most_kept) q.best.free(), q.read = {};
    } else {
      for (; at + 1 < active_.size() && before(*active_[at + 1], q); ++at) std::swap(active_[at], active_[at + 1]);
    }
  }
  std::size_t place_of(const request_queue& q) const {
    std::size_t at = 0;
    while (active_[at] != &q) ++at;
    return at;
  }
  /// Removes an empty queue.
  void forget(request_queue* q) {
    active_.remove(q);
    request_queue* const first = by_hash_.find(q->hash);
    if (first != q) {
      request_queue* each = first;
      while (each->next != q) each = each->next;
      each->next = q->next;
    } else if (q->next != nullptr) {
      by_hash_.set(q->hash, q->next);
    } else {
      by_hash_.erase(q->hash);
    }
    all_.remove(q);
    delete q;
  }
  /// Notes that no queue has tasks any more.
  void all_emptied() { active_.clear(); }

 private:
  static std::uint64_t hash(const request& r) {
    auto h = static_cast<std::uint64_t>(r.granted.member);
    const auto add = [&h](std::int64_t number) { h = h * 0x9fb21c651e98df25ULL + static_cast<std::uint64_t>(number); };
    const auto add_field = [&add]<class Field>(const Field& field) {
      if constexpr (std::is_same_v<Field, quantities>) {
        for (const quantity& q : field) add(static_cast<std::int64_t>(base::hash_text(q.name)) + q.units);
      } else if constexpr (std::is_same_v<Field, exceptions>) {
        if (field.empty()) return;
        for (const int each : field.all().ranks) add(each);
        for (const int each : field.all().nodes) add(-1 - each);
      } else {
        add(static_cast<std::int64_t>(field));
      }
    };
    const auto add_all = [&add_field](const auto&... field) { (add_field(field), ...); };
    needs::each_field(static_cast<const needs&>(r), add_all);
    place_terms::each_field(static_cast<const place_terms&>(r), add_all);
    return base::mix(h) >> 1;
  }
  request_queue* find(const request& wanted, std::uint64_t h) const {
    request_queue* q = by_hash_.find(h);
    while (q != nullptr && !q->wanted->waits_as(wanted)) q = q->next;
    return q;
  }
  /// Whether the scheduler tries the first task of `a` before the first task of `b`.
  static bool before(request_queue& a, request_queue& b) {
    if (a.wanted->priority != b.wanted->priority) return a.wanted->priority > b.wanted->priority;
    return a.tasks.front().record->sequence < b.tasks.front().record->sequence;
  }

  /// Most entries that the orders (best_ranks) of empty queues may have together; above it, the queues make them again.
  static constexpr std::size_t most_kept = std::size_t{1} << 22;

  base::list<request_queue*> all_;              // owned
  base::pointer_table<request_queue> by_hash_;  // the first of each hash
  base::list<request_queue*> active_;
  std::uint64_t sequence_ = 0;  // number of tasks that have arrived
};

}  // namespace manta::graph
