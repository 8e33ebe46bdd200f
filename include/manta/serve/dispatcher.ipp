// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <tuple>

#include "manta/base/text.hpp"
#include "manta/serve/dispatcher.hpp"

namespace manta::serve {

MANTA_DECL dispatcher::dispatcher(const options& o) : options_(o) {
  const auto refuse = [&](const std::string& what) {
    throw error(base::text("manta: serve: the deployment '{}': {}", o.name, what));
  };
  const auto least = [&](const char* name, int value, int wanted, const char* what) {
    if (value < wanted) refuse(base::text("{} is {}; {}", name, value, what));
  };
  least(".replicas", o.replicas, 1, "at least one is needed");
  least(".max_batch", o.max_batch, 1, "at least one request is needed");
  least(".max_queue", o.max_queue, 1, "at least one place is needed");
  least(".max_ongoing", o.max_ongoing, 0, "give 0 for the usual number");
  const int fewest = o.from_zero ? 0 : 1;
  if (o.max > 0 && (o.min < fewest || o.min > o.max))
    refuse(base::text(".min is {} and .max is {}; wanted is {} <= .min <= .max", o.min, o.max, fewest));
  if (o.max <= 0 && (o.min != 0 || o.max < 0))
    refuse(".min without .max; give both for a number of replicas that follows the queue");
  for (const std::int64_t time : {o.down_after.count(), o.health_every.count(), o.timeout.count(),
                                  o.health_timeout.count(), o.drain_time.count(), o.wait.count()})
    if (time < 0) refuse("a time is less than 0");
  if (!(o.wave > 0 && o.wave <= 1)) refuse(base::text(".wave is {}; wanted is a part, above 0 and at most 1", o.wave));
  if (o.max > 0) options_.replicas = std::clamp(o.replicas, std::max(1, o.min), o.max);
}

MANTA_DECL dispatcher::~dispatcher() = default;

inline void dispatcher::enter_queue(queued_request& r, bool at_head) {
  if (queued_ == 0) queue_since_ = clock::now();
  std::list<queued_request*>& line = queue_[r.options.priority];
  r.place = line.insert(at_head ? line.begin() : line.end(), &r);
  r.is_queued = true;
  ++queued_;
  parts_queued_ += r.is_part;
}

MANTA_DECL void dispatcher::begin_whole() {
  if (is_draining_) {
    throw unavailable(base::text("manta: serve: the deployment '{}' drains and takes no more requests", options_.name));
  }
  if (is_full()) {
    ++refused_;
    throw overloaded(
        base::text("manta: serve: the queue of the deployment '{}' is full: {} requests wait; try again "
                   "later, or raise .max_queue or .replicas",
                   options_.name, queued_));
  }
  ++wholes_;
}

MANTA_DECL void dispatcher::end_whole(const queued_request& whole, bool good) {
  --wholes_;
  answered(whole, good);
}

MANTA_DECL void dispatcher::admit(queued_request& r) {
  if (!r.is_part) {
    begin_whole();
    --wholes_;  // it is in the queue instead
  }
  enter_queue(r, false);
  ++since_look_;
  drop_if_unwanted(r);  // its time may have been over before
}

MANTA_DECL void dispatcher::again(queued_request& r) { enter_queue(r, true); }

inline void dispatcher::leave_queue(queued_request& r) {
  const auto line = queue_.find(r.options.priority);
  line->second.erase(r.place);
  if (line->second.empty()) queue_.erase(line);
  r.is_queued = false;
  --queued_;
  parts_queued_ -= r.is_part;
}

MANTA_DECL void dispatcher::forget(queued_request& r) {
  if (r.is_queued) leave_queue(r);
}

MANTA_DECL queued_request* dispatcher::front() const {
  return queue_.empty() ? nullptr : queue_.begin()->second.front();
}

inline bool dispatcher::is_unwanted(const queued_request& r) const {
  if (r.caller.stop_requested()) return true;
  return r.options.deadline.count() != 0 && clock::now() - r.arrived > r.options.deadline;
}

/// It is in the queue.
inline void dispatcher::count_unwanted(queued_request& r) {
  leave_queue(r);
  if (!r.is_part) ++(r.caller.stop_requested() ? cancelled_ : expired_);
  unwanted_.push_back(&r);
}

MANTA_DECL void dispatcher::drop_if_unwanted(queued_request& r) {
  if (r.is_queued && is_unwanted(r)) count_unwanted(r);
}

MANTA_DECL void dispatcher::drop_all_unwanted() {
  since_look_ = 0;
  std::vector<queued_request*> found;
  for (const auto& [priority, line] : queue_) {
    for (queued_request* const r : line) {
      if (is_unwanted(*r)) found.push_back(r);
    }
  }
  for (queued_request* const r : found) count_unwanted(*r);
}

MANTA_DECL void dispatcher::make_room() {
  if (is_full() && ++since_look_ >= queued_) drop_all_unwanted();
}

/// A busy replica gets a second batch ahead of time only if that is no smaller than the first. Else the queue may grow
/// until the replica is idle.
inline bool dispatcher::has_room(const replica_table::state& r) const {
  if (!r.is_ready || r.is_retired || r.ongoing >= most_ongoing()) return false;
  return r.ongoing == 0 || options_.max_ongoing > 0 || queued_ >= r.last_size;
}

MANTA_DECL dispatcher::batch dispatcher::next() {
  batch b;
  if (queued_ == 0) return b;
  replica_table::state* best = nullptr;
  for (auto& [number, r] : replicas_.states()) {
    if (!has_room(r) || (best != nullptr && r.ongoing >= best->ongoing)) continue;
    best = &r;
    b.replica = number;
  }
  if (best == nullptr) return b;
  fill(b);
  if (b.requests.empty()) return b;  // nobody wants what was in the queue
  ++best->ongoing;
  ++batches_;
  return b;
}

MANTA_DECL bool dispatcher::fill(batch& b) {
  const auto most = static_cast<std::size_t>(options_.max_batch);
  replica_table::state* const its = replicas_.find(b.replica);
  while (b.requests.size() < most) {
    if (!b.requests.empty() && b.requests.front()->alone) return true;
    queued_request* const r = front();
    if (r == nullptr) return false;
    if (is_unwanted(*r)) {
      count_unwanted(*r);
      continue;
    }
    if (!b.requests.empty() && r->alone) return true;
    leave_queue(*r);
    ++running_;
    parts_running_ += r->is_part;
    b.requests.push_back(r);
    if (its == nullptr) continue;
    its->last_size = b.requests.size();
    r->version = its->version;
  }
  return true;
}

MANTA_DECL void dispatcher::finished(const batch& b) {
  running_ -= b.requests.size();
  for (const queued_request* const r : b.requests) parts_running_ -= r->is_part;
  if (replica_table::state* const its = replicas_.find(b.replica)) --its->ongoing;
}

/// Notes a latency among the last ones.
inline void note_latency(std::vector<float>& ring, float ms, std::uint64_t count) {
  constexpr std::size_t most = 1024;
  if (ring.size() < most) {
    ring.push_back(ms);
  } else {
    ring[count % most] = ms;
  }
}

MANTA_DECL void dispatcher::answered(const queued_request& r, bool good) {
  if (r.is_part) return;
  const float ms = std::chrono::duration<float, std::milli>(clock::now() - r.arrived).count();
  const auto note = [&](version_figures& its) {
    ++(good ? its.served : its.failed);
    note_latency(its.latencies, ms, its.served + its.failed);
  };
  note(all_);
  note(of_versions_[r.version != 0 ? r.version : version_]);
}

MANTA_DECL int dispatcher::wanted() {
  using namespace std::chrono_literals;
  const int now = replicas_.count(true) + replicas_.count(false);
  if (options_.max == 0) return options_.replicas;
  const auto time = clock::now();
  // One replica less would do if all work fitted into the others.
  if (outstanding() > static_cast<std::uint64_t>(std::max(0, now - 1) * options_.max_batch)) busy_since_ = time;
  if (now == 0 && outstanding() > 0) return 1;
  if (queued_ > 0 && time - queue_since_ > 100ms && replicas_.count(false) == 0) {
    queue_since_ = time;  // the next one after another tenth of a second
    return std::clamp(now + 1, options_.min, options_.max);
  }
  if (time - busy_since_ > options_.down_after) {
    busy_since_ = time;
    return std::clamp(now - 1, options_.min, options_.max);
  }
  return std::clamp(now, options_.min, options_.max);
}

inline std::pair<double, double> quantiles(std::vector<float> latencies) {
  if (latencies.empty()) return {0, 0};
  std::sort(latencies.begin(), latencies.end());
  return {static_cast<double>(latencies[latencies.size() / 2]),
          static_cast<double>(latencies[latencies.size() * 99 / 100])};
}

MANTA_DECL status dispatcher::report() const {
  status s;
  s.name = options_.name;
  s.version = version_;
  s.replicas = replicas_.count(true);
  s.starting = replicas_.count(false);
  s.queued = queued_ - parts_queued_;
  s.running = running_ - parts_running_ + wholes_;
  s.served = all_.served;
  s.failed = all_.failed;
  s.retried = retried_;
  s.refused = refused_;
  s.expired = expired_;
  s.cancelled = cancelled_;
  s.overdue = overdue_;
  s.batches = batches_;
  std::tie(s.p50_ms, s.p99_ms) = quantiles(all_.latencies);
  s.ready = (s.replicas > 0 || options_.from_zero) && !is_draining_ && !is_full();
  if (is_draining_) s.problem = "it drains and takes no more requests";
  else if (is_full()) s.problem = "its queue is full";
  add_versions_to(s);
  return s;
}

/// The present version, and those that other replicas have. Each has the part of the requests that its replicas take.
inline void dispatcher::add_versions_to(status& s) const {
  std::map<int, int> replicas{{version_, 0}};
  int ready = 0;
  for (const auto& [number, r] : replicas_.states()) {
    const bool serves = r.is_ready && !r.is_retired;
    replicas[r.version] += serves;
    ready += serves;
    const char* const state = r.is_retired ? "ending" : !r.is_ready ? "starting" : r.ongoing > 0 ? "busy" : "ready";
    s.each.push_back({r.rank, r.version, state, r.ongoing});
  }
  for (const auto& [version, count] : replicas) {
    version_status v{version, ready > 0 ? static_cast<double>(count) / ready : version == version_ ? 1. : 0., count};
    if (const auto its = of_versions_.find(version); its != of_versions_.end()) {
      v.served = its->second.served;
      v.failed = its->second.failed;
      std::tie(v.p50_ms, v.p99_ms) = quantiles(its->second.latencies);
    }
    version == version_ ? void(s.versions.insert(s.versions.begin(), v)) : s.versions.push_back(v);
  }
}

MANTA_DECL void dispatcher::add_counts(const status& s) {
  all_.served += s.served;
  all_.failed += s.failed;
  retried_ += s.retried;
  refused_ += s.refused;
  expired_ += s.expired;
  cancelled_ += s.cancelled;
  overdue_ += s.overdue;
  batches_ += s.batches;
}

MANTA_DECL std::vector<queued_request*> dispatcher::give_up() {
  std::vector<queued_request*> all;
  for (const auto& [priority, line] : queue_) all.insert(all.end(), line.begin(), line.end());
  for (queued_request* const r : all) r->is_queued = false;
  queue_.clear();
  queued_ = parts_queued_ = 0;
  return all;
}

}  // namespace manta::serve
