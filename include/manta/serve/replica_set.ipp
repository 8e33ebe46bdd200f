// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdio>
#include <exception>

#include "manta/base/text.hpp"
#include "manta/serve/replica_set.hpp"
#include "manta/serve/waiting_calls.hpp"

namespace manta::serve::detail {

MANTA_DECL replica_set::~replica_set() {
  for (const auto& [number, its] : replicas_) {
    places_in_use::remove(dispatcher_.replicas().rank_of(number));
    tell_calls(number, false);
  }
}

// --- versions

MANTA_DECL void replica_set::open(replica_version v) {
  set_current(std::move(v));
  start_all(std::vector<int>(static_cast<std::size_t>(dispatcher_.told().replicas), -1), current_);
}

MANTA_DECL void replica_set::set_current(replica_version v) {
  current_ = std::move(v);
  dispatcher_.set_version(current_.number);
  dispatcher_.set_batched(current_.kind.is_batched);
}

MANTA_DECL void replica_set::adopt(placed_replica given, int version) {
  const std::size_t number = dispatcher_.replicas().add_starting(version);
  replicas_.emplace(number, std::move(given.its));
  given_up_.emplace(number, promise<bool>());
  places_in_use::add(given.rank);
  dispatcher_.replicas().set_rank(number, given.rank);
  dispatcher_.replicas().find(number)->is_isolated = given.is_isolated;
  dispatcher_.replicas().ready(number);
}

MANTA_DECL void replica_set::hold(bool held) {
  is_held_ = held;
  if (!held) return;
  for (const auto& [number, opened] : std::exchange(starting_, {})) end(number);
}

MANTA_DECL void replica_set::reconfigure(const settings& s) {
  std::vector<std::size_t> there;
  while (!(there = dispatcher_.replicas().all()).empty() && !has_taken(there.front(), send(there.front(), s))) {
  }
  const std::size_t first = there.empty() ? 0 : there.front();
  current_.given = s;  // of those that are started from now on
  std::vector<std::pair<std::size_t, future<void>>> others;
  for (std::size_t r : dispatcher_.replicas().all()) {
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
    const future<int> opened = start->second;
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

// --- which there are

MANTA_DECL std::vector<placed_replica> replica_set::ready() const {
  std::vector<placed_replica> all;
  for (std::size_t r : dispatcher_.replicas().all_ready()) {
    if (const handle* const its = find(r)) all.push_back({*its, dispatcher_.replicas().rank_of(r), is_isolated(r)});
  }
  return all;
}

MANTA_DECL const replica_set::handle* replica_set::find(std::size_t r) const {
  const auto found = replicas_.find(r);
  return found == replicas_.end() || has_died(found->second) ? nullptr : &found->second;
}

MANTA_DECL std::vector<int> replica_set::ranks() const {
  std::vector<int> all;
  for (const auto& [number, its] : replicas_) all.push_back(dispatcher_.replicas().rank_of(number));
  return all;
}

MANTA_DECL void replica_set::end(std::size_t r) {
  if (replicas_.count(r) != 0) places_in_use::remove(dispatcher_.replicas().rank_of(r));
  dispatcher_.replicas().remove(r);
  tell_calls(r, false);
  replicas_.erase(r);  // the last handle
}

/// Whether they have to count as overdue. They wait for no other news of that kind.
inline void replica_set::tell_calls(std::size_t r, bool are_overdue) {
  auto calls = given_up_.extract(r);
  if (!calls.empty()) calls.mapped().set_value(are_overdue);
}

MANTA_DECL future<bool> replica_set::given_up(std::size_t r) const {
  const auto found = given_up_.find(r);
  return found == given_up_.end() ? future<bool>() : found->second.get_future();
}

/// Their calls count as overdue.
inline void replica_set::end_all_on(int rank) {
  std::vector<std::size_t> ended;
  for (const auto& [number, its] : replicas_) {
    if (dispatcher_.replicas().rank_of(number) == rank) ended.push_back(number);
  }
  for (const std::size_t r : ended) {
    starting_.erase(r);
    tell_calls(r, true);
    end(r);
  }
}

MANTA_DECL void replica_set::give_up(std::size_t r, const std::string& why) {
  const handle* const its = find(r);
  if (its != nullptr && !is_isolated(r)) {
    const int rank = dispatcher_.replicas().rank_of(r);
    const std::uint64_t question = next_question_++;
    stuck_.emplace(question, std::pair(rank, *its));
    places_.add_stuck(rank);
    returned_.add(async<&replica::is_there>(*its), question);
    std::fprintf(stderr, "manta: serve: the deployment '%s': %s; rank %d takes no replica until that call returns\n",
                 dispatcher_.told().name.c_str(), why.c_str(), rank);
    if (rank >= 0) end_all_on(rank);
  } else if (its != nullptr) {
    std::fprintf(stderr, "manta: serve: the deployment '%s': %s; its process is ended\n",
                 dispatcher_.told().name.c_str(), why.c_str());
    kill(handle(*its));
  }
  tell_calls(r, true);
  end(r);
}

MANTA_DECL std::string replica_set::stuck_in_words() {
  while (returned_.ready()) {
    const auto returned = stuck_.extract(*returned_.next());
    if (!returned.empty()) places_.remove_stuck(returned.mapped().first);
  }
  std::string words;
  for (const auto& [question, its] : stuck_) words += base::text("{}rank {}", words.empty() ? "" : ", ", its.first);
  return words.empty() ? words : base::text("a call does not return on {}", words);
}

MANTA_DECL void replica_set::keep_away(int rank, bool in_any_case) { places_.add_busy(rank, in_any_case); }

MANTA_DECL std::vector<std::size_t> replica_set::misplaced() const {
  std::vector<std::size_t> all;
  for (const std::size_t r : dispatcher_.replicas().all_ready()) {
    if (places_.is_busy(dispatcher_.replicas().rank_of(r))) all.push_back(r);
  }
  return all;
}

// --- how many there are

MANTA_DECL void replica_set::adapt() {
  if (is_held_) return;
  const int wanted = dispatcher_.wanted();
  while (dispatcher_.replicas().count(true) + dispatcher_.replicas().count(false) < wanted && !is_pausing()) {
    try {
      const start_under_way s = start(current_, -1);
      starting_.emplace(s.replica, s.opened);
      ended_starts_.add(s.opened, s.replica);
    } catch (const error& e) {
      note_failed_start(e.what());
      throw;
    }
  }
  while (dispatcher_.replicas().count(true) > wanted && end_an_idle_one()) {
  }
}

inline bool replica_set::end_an_idle_one() {
  for (std::size_t r : dispatcher_.replicas().all_ready()) {
    if (!dispatcher_.replicas().is_idle(r)) continue;
    end(r);
    return true;
  }
  return false;
}

// --- starts

inline void replica_set::note_failed_start(const std::string& why) {
  using namespace std::chrono_literals;
  problem_ = why;
  pause_ = std::clamp<std::chrono::milliseconds>(2 * pause_, 100ms, 30s);
  next_start_ = clock::now() + pause_;
}

inline void replica_set::note_start(std::size_t r, int rank) {
  if (replicas_.count(r) == 0) return;  // it has been ended meanwhile
  places_in_use::remove(dispatcher_.replicas().rank_of(r));
  places_in_use::add(rank);
  dispatcher_.replicas().set_rank(r, rank);
  dispatcher_.replicas().ready(r);
  problem_.clear();
  pause_ = pause_.zero();
}

/// Whether a replica on this rank, or on any (-1), gets a process of its own: a call that does not return would stop
/// the router, a server or the driver.
inline bool replica_set::has_to_be_isolated(int rank) const {
  if (dispatcher_.told().timeout.count() == 0) return false;
  return rank < 0 ? manta::size() == 1 : rank == 0 || places_.is_busy(rank);
}

MANTA_DECL bool replica_set::is_isolated(std::size_t r) const {
  const replica_table::state* const its = dispatcher_.replicas().find(r);
  return its != nullptr && its->is_isolated;
}

inline void replica_set::refuse_beside_others(int rank, const target_kind& kind) const {
  const bool has_processes = manta::detail::can_isolate();
  if (has_processes && !kind.is_stream) return;
  throw unschedulable(base::text(
      "a replica would share rank {} with its queue, a server or the driver, where .timeout can only end calls of a "
      "process of its own, {}; start more ranks, or leave .timeout out",
      std::max(rank, 0),
      kind.is_stream ? "which cannot give values as they come"
                     : "for which the text of the program has to have .isolate = true or .timeout"));
}

inline actor_options replica_set::terms_on(int rank, const target_kind& kind) const {
  const options& o = dispatcher_.told();
  actor_options its{.cpus = o.cpus,
                    .gpus = o.gpus,
                    .resources = o.resources,
                    .rank = rank,
                    .node = rank < 0 ? o.node : -1,
                    .spread = rank < 0,
                    .concurrency = most_calls,
                    .isolate = o.isolate};
  if (has_to_be_isolated(rank)) {
    if (!o.isolate) refuse_beside_others(rank, kind);
    set_isolated(its.isolate, true);
  } else if (o.timeout.count() > 0 && rank < 0 && !o.isolate) {
    its.except = {{0, manta::rank()}};
  }
  return its;
}

/// Takes the version by value: other calls may replace it while this one waits for room to send. `rank`: -1
/// for the best.
inline replica_set::start_under_way replica_set::start(replica_version v, int rank) {
  (void)stuck_in_words();  // ranks whose calls have returned count again
  if (rank < 0) rank = places_.next(ranks());
  const std::size_t number = dispatcher_.replicas().add_starting(v.number);
  dispatcher_.replicas().set_rank(number, rank);
  try {
    const actor_options its = terms_on(rank, v.kind);
    dispatcher_.replicas().find(number)->is_isolated = its.isolate;
    const auto longest = std::chrono::nanoseconds(std::chrono::milliseconds(dispatcher_.told().timeout));
    handle a = spawn<replica>(its, longest.count());
    const future<int> opened = v.make(a, v.given);
    replicas_.emplace(number, std::move(a));
    given_up_.emplace(number, promise<bool>());
    places_in_use::add(rank);
    return {number, opened};
  } catch (...) {
    dispatcher_.replicas().remove(number);
    throw;
  }
}

/// Waits for a constructor. Throws what it threw.
inline void replica_set::wait_for_constructor(const start_under_way& s, const this_task::stop_token& caller) {
  if (wait_while_wanted(s.opened, caller)) return sentence(s.opened), void();
  give_up(s.replica, "nobody waits any more for a constructor that has not returned");
  throw cancelled("manta: serve: a constructor had not returned when the update was taken back");
}

MANTA_DECL std::vector<std::size_t> replica_set::start_all(const std::vector<int>& at, const replica_version& v,
                                                           const this_task::stop_token& caller) {
  std::vector<start_under_way> mine;
  std::vector<std::size_t> numbers;
  std::exception_ptr problem;
  try {
    for (const int rank : at) mine.push_back(start(v, rank));
  } catch (...) {
    problem = std::current_exception();
  }
  for (const start_under_way& s : mine) {
    numbers.push_back(s.replica);
    try {
      wait_for_constructor(s, caller);
    } catch (const error& e) {
      problem = is_isolated(s.replica) && !dispatcher_.told().isolate
                    ? std::make_exception_ptr(error(base::text(
                          "{} (beside its queue, .timeout gives a replica a process of its own; more ranks need none)",
                          e.what())))
                    : std::current_exception();
    } catch (...) {
      problem = std::current_exception();
    }
  }
  if (problem) {
    for (const std::size_t r : numbers) end(r);
    std::rethrow_exception(problem);
  }
  for (const start_under_way& s : mine) note_start(s.replica, s.opened.get());
  return numbers;
}

MANTA_DECL void replica_set::add_starts_to(watcher& events, std::uint64_t id) const {
  for (const auto& [number, opened] : starting_) events.add(opened, id);
}

MANTA_DECL std::string replica_set::collect_started() {
  std::string failed;
  while (ended_starts_.ready()) {
    const auto start = starting_.find(*ended_starts_.next());
    if (start == starting_.end()) continue;  // its version has been replaced meanwhile
    const auto [number, opened] = *start;
    starting_.erase(start);
    try {
      note_start(number, sentence(opened));
    } catch (const std::exception& e) {
      failed = e.what();
      note_failed_start(failed);
      end(number);
    }
  }
  return failed;
}

}  // namespace manta::serve::detail
