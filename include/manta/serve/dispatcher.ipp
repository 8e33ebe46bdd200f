// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of dispatcher.hpp.
#pragma once

#include <algorithm>

#include "manta/serve/dispatcher.hpp"

namespace manta::serve {

MANTA_DECL dispatcher::dispatcher(const options& o) : options_(o) {
  const auto refuse = [&](const std::string& what) {
    throw error("manta: serve: the deployment '" + o.name + "': " + what);
  };
  if (o.replicas < 1) refuse(".replicas is " + std::to_string(o.replicas) + "; at least one is needed");
  if (o.max_batch < 1) refuse(".max_batch is " + std::to_string(o.max_batch) + "; at least one request is needed");
  if (o.max_queue < 1) refuse(".max_queue is " + std::to_string(o.max_queue) + "; at least one place is needed");
  if (o.max_ongoing < 0) refuse(".max_ongoing is " + std::to_string(o.max_ongoing) + "; give 0 for the usual number");
  if (o.max > 0 && (o.min < 1 || o.min > o.max))
    refuse(".min is " + std::to_string(o.min) + " and .max is " + std::to_string(o.max) +
           "; wanted is 1 <= .min <= .max");
  if (o.max == 0 && o.min > 0) refuse(".min without .max; give both for a number of replicas that follows the queue");
  if (o.down_after.count() < 0 || o.health_every.count() < 0 || o.wait.count() < 0) refuse("a time is less than 0");
  if (o.max > 0) options_.replicas = std::clamp(o.replicas, o.min, o.max);
}

MANTA_DECL dispatcher::~dispatcher() = default;

MANTA_DECL void dispatcher::admit(request& r) {
  if (is_draining_)
    throw unavailable("manta: serve: the deployment '" + options_.name + "' drains and takes no more requests");
  if (is_full()) {
    ++refused_;
    throw overloaded("manta: serve: the queue of the deployment '" + options_.name + "' is full: " +
                     std::to_string(queued_) + " requests wait; try again later, or raise .max_queue or .replicas");
  }
  if (queued_ == 0) queue_since_ = clock::now();
  std::list<request*>& line = queue_[r.options.priority];
  r.place = line.insert(line.end(), &r);
  r.is_queued = true;
  ++queued_;
  ++since_look_;
  drop_if_unwanted(r);  // its time may have been over before
}

MANTA_DECL void dispatcher::again(request& r) {
  if (queued_ == 0) queue_since_ = clock::now();
  std::list<request*>& line = queue_[r.options.priority];
  r.place = line.insert(line.begin(), &r);
  r.is_queued = true;
  ++queued_;
}

inline void dispatcher::leave_queue(request& r) {
  const auto line = queue_.find(r.options.priority);
  line->second.erase(r.place);
  if (line->second.empty()) queue_.erase(line);
  r.is_queued = false;
  --queued_;
}

MANTA_DECL void dispatcher::forget(request& r) {
  if (r.is_queued) leave_queue(r);
}

MANTA_DECL request* dispatcher::front() const { return queue_.empty() ? nullptr : queue_.begin()->second.front(); }

inline bool dispatcher::is_unwanted(const request& r) const {
  if (r.caller.stop_requested()) return true;
  return r.options.deadline.count() != 0 && clock::now() - r.arrived > r.options.deadline;
}

/// It is in the queue.
inline void dispatcher::count_unwanted(request& r) {
  leave_queue(r);
  ++(r.caller.stop_requested() ? cancelled_ : expired_);
  unwanted_.push_back(&r);
}

MANTA_DECL void dispatcher::drop_if_unwanted(request& r) {
  if (r.is_queued && is_unwanted(r)) count_unwanted(r);
}

MANTA_DECL void dispatcher::drop_all_unwanted() {
  since_look_ = 0;
  std::vector<request*> found;
  for (const auto& [priority, line] : queue_) {
    for (request* const r : line) {
      if (is_unwanted(*r)) found.push_back(r);
    }
  }
  for (request* const r : found) count_unwanted(*r);
}

MANTA_DECL void dispatcher::make_room() {
  if (is_full() && ++since_look_ >= queued_) drop_all_unwanted();
}

/// A busy replica gets a second batch ahead of time only if that is no smaller than the first. Else the queue may grow
/// until the replica is idle.
inline bool dispatcher::has_room(const replica_state& r) const {
  if (!r.is_ready || r.is_retired || r.ongoing >= most_ongoing()) return false;
  return r.ongoing == 0 || options_.max_ongoing > 0 || queued_ >= r.last_size;
}

MANTA_DECL dispatcher::batch dispatcher::next() {
  batch b;
  if (queued_ == 0) return b;
  auto best = replicas_.end();
  for (auto r = replicas_.begin(); r != replicas_.end(); ++r) {
    if (!has_room(r->second)) continue;
    if (best == replicas_.end() || r->second.ongoing < best->second.ongoing) best = r;
  }
  if (best == replicas_.end()) return b;
  b.replica = best->first;
  fill(b);
  if (b.requests.empty()) return b;  // nobody wants what was in the queue
  ++best->second.ongoing;
  ++batches_;
  return b;
}

MANTA_DECL bool dispatcher::fill(batch& b) {
  const auto most = static_cast<std::size_t>(options_.max_batch);
  const auto its = replicas_.find(b.replica);
  while (b.requests.size() < most) {
    if (!b.requests.empty() && b.requests.front()->alone) return true;
    request* const r = front();
    if (r == nullptr) return false;
    if (is_unwanted(*r)) {
      count_unwanted(*r);
      continue;
    }
    if (!b.requests.empty() && r->alone) return true;
    leave_queue(*r);
    ++running_;
    b.requests.push_back(r);
    if (its != replicas_.end()) its->second.last_size = b.requests.size();
  }
  return true;
}

MANTA_DECL void dispatcher::finished(const batch& b) {
  running_ -= b.requests.size();
  const auto found = replicas_.find(b.replica);
  if (found != replicas_.end()) --found->second.ongoing;
}

MANTA_DECL void dispatcher::answered(const request& r, bool good) {
  ++(good ? served_ : failed_);
  constexpr std::size_t most = 1024;
  const float ms = std::chrono::duration<float, std::milli>(clock::now() - r.arrived).count();
  if (latencies_.size() < most) {
    latencies_.push_back(ms);
  } else {
    latencies_[(served_ + failed_) % most] = ms;
  }
}

MANTA_DECL std::size_t dispatcher::add_starting() {
  replicas_[next_replica_] = {};
  return next_replica_++;
}
MANTA_DECL void dispatcher::ready(std::size_t replica) {
  const auto found = replicas_.find(replica);
  if (found != replicas_.end()) found->second.is_ready = true;  // else it has ended meanwhile
}
MANTA_DECL void dispatcher::remove(std::size_t replica) { replicas_.erase(replica); }
MANTA_DECL void dispatcher::retire(std::size_t replica) { replicas_.at(replica).is_retired = true; }
MANTA_DECL bool dispatcher::is_idle(std::size_t replica) const {
  const auto found = replicas_.find(replica);
  return found == replicas_.end() || found->second.ongoing == 0;
}
MANTA_DECL std::vector<std::size_t> dispatcher::all_ready() const {
  std::vector<std::size_t> all;
  for (const auto& [number, r] : replicas_) {
    if (r.is_ready && !r.is_retired) all.push_back(number);
  }
  return all;
}
MANTA_DECL std::vector<std::size_t> dispatcher::all() const {
  std::vector<std::size_t> all;
  for (const auto& [number, r] : replicas_) {
    if (!r.is_retired) all.push_back(number);
  }
  return all;
}
MANTA_DECL int dispatcher::count(bool is_ready) const {
  return static_cast<int>(std::count_if(replicas_.begin(), replicas_.end(), [&](const auto& r) {
    return r.second.is_ready == is_ready && !r.second.is_retired;
  }));
}

MANTA_DECL int dispatcher::wanted() {
  using namespace std::chrono_literals;
  const int now = count(true) + count(false);
  if (options_.max == 0) return options_.replicas;
  const auto time = clock::now();
  // One replica less would do if all work fitted into the others.
  if (outstanding() > static_cast<std::uint64_t>((now - 1) * options_.max_batch)) busy_since_ = time;
  if (queued_ > 0 && time - queue_since_ > 100ms && count(false) == 0) {
    queue_since_ = time;  // the next one after another tenth of a second
    return std::clamp(now + 1, options_.min, options_.max);
  }
  if (time - busy_since_ > options_.down_after) {
    busy_since_ = time;
    return std::clamp(now - 1, options_.min, options_.max);
  }
  return std::clamp(now, options_.min, options_.max);
}

MANTA_DECL status dispatcher::report() const {
  status s;
  s.name = options_.name;
  s.version = version_;
  s.replicas = count(true);
  s.starting = count(false);
  s.queued = queued_;
  s.running = running_;
  s.served = served_;
  s.failed = failed_;
  s.retried = retried_;
  s.refused = refused_;
  s.expired = expired_;
  s.cancelled = cancelled_;
  s.batches = batches_;
  if (!latencies_.empty()) {
    std::vector<float> sorted = latencies_;
    std::sort(sorted.begin(), sorted.end());
    s.p50_ms = static_cast<double>(sorted[sorted.size() / 2]);
    s.p99_ms = static_cast<double>(sorted[sorted.size() * 99 / 100]);
  }
  s.versions = {{s.version, 1, s.replicas, served_ - earlier_served_, failed_ - earlier_failed_, s.p50_ms, s.p99_ms}};
  return s;
}

MANTA_DECL void dispatcher::add_counts(const status& s) {
  served_ += s.served;
  failed_ += s.failed;
  earlier_served_ += s.served;
  earlier_failed_ += s.failed;
  retried_ += s.retried;
  refused_ += s.refused;
  expired_ += s.expired;
  cancelled_ += s.cancelled;
  batches_ += s.batches;
}

MANTA_DECL std::vector<request*> dispatcher::give_up() {
  std::vector<request*> all;
  for (const auto& [priority, line] : queue_) all.insert(all.end(), line.begin(), line.end());
  for (request* const r : all) r->is_queued = false;
  queue_.clear();
  queued_ = 0;
  return all;
}

}  // namespace manta::serve
