// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of replica_set.hpp.
#pragma once

#include <algorithm>
#include <exception>

#include "manta/serve/replica_set.hpp"

namespace manta::serve::detail {

// --- versions

MANTA_DECL void replica_set::open(maker make) {
  current_ = {std::move(make), {}};
  start_all(dispatcher_.told().replicas, current_);
}

MANTA_DECL std::vector<std::size_t> replica_set::update(maker make, std::vector<handle> there, const settings& given) {
  version next{std::move(make), given};
  const std::size_t count = std::max<std::size_t>(1, dispatcher_.all_ready().size());
  std::vector<std::size_t> started = start_all(static_cast<int>(count - std::min(count, there.size())), next);
  for (handle& each : there) {
    started.push_back(dispatcher_.add_starting());
    dispatcher_.ready(started.back());
    replicas_.emplace(started.back(), std::move(each));
  }
  current_ = std::move(next);
  dispatcher_.count_version();
  for (const auto& [number, opened] : std::exchange(starting_, {})) end(number);  // of the old version
  std::vector<std::size_t> old;
  for (std::size_t r : dispatcher_.all_ready()) {
    if (std::find(started.begin(), started.end(), r) != started.end()) continue;
    dispatcher_.retire(r);
    old.push_back(r);
  }
  return old;
}

MANTA_DECL void replica_set::reconfigure(const settings& s) {
  std::vector<std::size_t> there;
  while (!(there = dispatcher_.all()).empty() && !has_taken(there.front(), send(there.front(), s))) {
  }
  const std::size_t first = there.empty() ? 0 : there.front();
  current_.given = s;  // of those that are started from now on
  std::vector<std::pair<std::size_t, future<void>>> others;
  for (std::size_t r : dispatcher_.all()) {
    if (there.empty() || r != first) others.emplace_back(r, send(r, s));
  }
  std::exception_ptr problem;
  for (const auto& [r, done] : others) {
    try {
      has_taken(r, done);
    } catch (const error&) {
      problem = std::current_exception();
    }
  }
  if (problem) std::rethrow_exception(problem);
}

/// Sends settings, once the replica has started; names nothing if it has died or cannot start.
inline future<void> replica_set::send(std::size_t r, const settings& s) {
  if (const auto start = starting_.find(r); start != starting_.end()) {
    const future<void> opened = start->second;
    try {
      opened.get();
    } catch (const error&) {
      return {};
    }
  }
  const handle* const its = find(r);
  return its == nullptr ? future<void>() : async<&replica::reconfigure>(*its, s);
}

/// Waits. False if the replica has died, which is ended then. Throws what `reconfigure` of the class threw.
inline bool replica_set::has_taken(std::size_t r, const future<void>& sent) {
  try {
    if (sent.valid()) {
      sentence(sent);
      return true;
    }
  } catch (const actor_died&) {
  } catch (const rank_lost&) {
  }
  end(r);
  return false;
}

// --- health

inline bool is_well(const future<bool>& answer) {
  try {
    return answer.get();
  } catch (const error&) {  // it has died
    return false;
  }
}

MANTA_DECL void replica_set::check() {
  for (std::size_t r : dispatcher_.all_ready()) {
    const auto* const its = find(r);
    if (its == nullptr || !is_well(async<&replica::healthy>(*its))) end(r);
  }
}

MANTA_DECL void replica_set::look_after() {
  for (std::size_t r : dispatcher_.all_ready()) {
    if (dispatcher_.is_idle(r) && find(r) == nullptr) end(r);
  }
  const auto period = dispatcher_.told().health_every;
  if (period.count() == 0) return;
  while (answered_checks_.ready()) {
    const auto check = checks_.extract(*answered_checks_.next());
    if (!is_well(check.mapped())) end(check.key());
  }
  const auto now = request::clock::now();
  if (now - checked_ < period) return;
  checked_ = now;
  for (std::size_t r : dispatcher_.all_ready()) {
    const handle* const its = find(r);
    if (its == nullptr || !dispatcher_.is_idle(r) || checks_.count(r) != 0) continue;
    const auto check = checks_.emplace(r, async<&replica::healthy>(*its)).first;
    answered_checks_.add(check->second, r);
  }
}

// --- which there are

MANTA_DECL std::vector<replica_set::handle> replica_set::ready() const {
  std::vector<handle> all;
  for (std::size_t r : dispatcher_.all_ready()) {
    if (const handle* const its = find(r)) all.push_back(*its);
  }
  return all;
}

MANTA_DECL const replica_set::handle* replica_set::find(std::size_t r) const {
  const auto found = replicas_.find(r);
  return found == replicas_.end() || has_died(found->second) ? nullptr : &found->second;
}

MANTA_DECL void replica_set::end(std::size_t r) {
  dispatcher_.remove(r);
  replicas_.erase(r);  // the last handle
}

MANTA_DECL void replica_set::adapt() {
  const int wanted = dispatcher_.wanted();
  while (dispatcher_.count(true) + dispatcher_.count(false) < wanted) start_beside();
  while (dispatcher_.count(true) > wanted && end_an_idle_one()) {
  }
}

inline bool replica_set::end_an_idle_one() {
  for (std::size_t r : dispatcher_.all_ready()) {
    if (!dispatcher_.is_idle(r)) continue;
    end(r);
    return true;
  }
  return false;
}

// --- starts

/// Takes the version by value: other calls may replace it while this one waits for room to send.
inline replica_set::start_under_way replica_set::start(version v) {
  const options& o = dispatcher_.told();
  const std::size_t number = dispatcher_.add_starting();
  try {
    handle a = spawn<replica>({.cpus = o.cpus,
                               .gpus = o.gpus,
                               .resources = o.resources,
                               .node = o.node,
                               .spread = true,
                               .concurrency = dispatcher_.most_ongoing()});
    const future<void> opened = v.make(a, v.given);
    replicas_.emplace(number, std::move(a));
    return {number, opened};
  } catch (...) {
    dispatcher_.remove(number);
    throw;
  }
}

inline void replica_set::start_beside() {
  const start_under_way s = start(current_);
  starting_.emplace(s.replica, s.opened);
  ended_starts_.add(s.opened, s.replica);
}

/// Starts replicas and waits for all: each is ready, or none is left.
inline std::vector<std::size_t> replica_set::start_all(int count, const version& v) {
  std::vector<start_under_way> mine;
  std::exception_ptr problem;
  try {
    for (int i = 0; i < count; ++i) mine.push_back(start(v));
  } catch (...) {
    problem = std::current_exception();
  }
  for (const start_under_way& s : mine) {
    try {
      sentence(s.opened);
    } catch (...) {
      problem = std::current_exception();
    }
  }
  if (problem) {
    for (const start_under_way& s : mine) end(s.replica);
    std::rethrow_exception(problem);
  }
  std::vector<std::size_t> numbers;
  for (const start_under_way& s : mine) {
    dispatcher_.ready(s.replica);
    numbers.push_back(s.replica);
  }
  return numbers;
}

MANTA_DECL void replica_set::append_starts(std::vector<future<void>>& to) const {
  for (const auto& [number, opened] : starting_) to.push_back(opened);
}

MANTA_DECL std::string replica_set::collect_started() {
  std::string problem;
  while (ended_starts_.ready()) {
    const auto start = starting_.find(*ended_starts_.next());
    if (start == starting_.end()) continue;  // its version has been replaced meanwhile
    const auto [number, opened] = *start;
    starting_.erase(start);
    try {
      opened.get();
      dispatcher_.ready(number);
    } catch (const std::exception& e) {
      problem = e.what();
      end(number);
    }
  }
  return problem;
}

}  // namespace manta::serve::detail
