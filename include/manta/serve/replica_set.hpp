// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The replicas of a deployment: starts and ends them, replaces those that have died or are not well, and gives them
// settings. Part of a router, whose dispatcher knows them by their numbers.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "manta/actor.hpp"
#include "manta/insist.hpp"
#include "manta/serve/dispatcher.hpp"
#include "manta/serve/replica.hpp"
#include "manta/watcher.hpp"

namespace manta::serve::detail {

/// The arguments of a constructor as values in the object store: sent once to each node, for any number of replicas.
template <class... C>
struct kept_arguments {
  std::tuple<future<C>...> values;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(values);
  }
};

using manta::detail::sentence;

template <class Signature>
class replica_set {
 public:
  using replica_type = replica<Signature>;
  using handle = actor<replica_type>;

  explicit replica_set(dispatcher& d) : dispatcher_(d) {}
  replica_set(const replica_set&) = delete;

  /// Makes the object of a replica, with these settings.
  using maker = std::function<future<void>(const handle&, const settings&)>;
  template <class Target, class... C>
  static maker maker_of(const kept_arguments<C...>& arguments) {
    return [arguments](const handle& r, const settings& s) {
      return std::apply([&](const auto&... c) { return async<&replica_type::template open<Target, C...>>(r, s, c...); },
                        arguments.values);
    };
  }

  /// Starts the first replicas and waits for them. Throws what a constructor threw.
  void open(maker make) {
    current_ = {std::move(make), {}};
    start_all(dispatcher_.told().replicas, current_);
  }
  /// Starts replicas of a new version, beside those that are there already and have these settings, and waits until all
  /// are ready. From then on, others get no more requests: gives their numbers. Throws what a constructor threw;
  /// nothing has changed then.
  std::vector<std::size_t> update(maker make, std::vector<handle> there = {}, const settings& given = {}) {
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

  /// Gives all replicas these settings, also those that are starting. One gets them before the others: if it refuses
  /// them, nothing has changed. Waits. One change at a time: not beside update.
  void reconfigure(const settings& s) {
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

  /// Asks each replica whether it is well, waits, and ends those that are not.
  void check() {
    for (std::size_t r : dispatcher_.all_ready()) {
      const auto* const its = find(r);
      if (its == nullptr || !is_well(async<&replica_type::healthy>(*its))) end(r);
    }
  }
  /// Like check, for replicas without work, to be called from time to time: looks at the answers that have come, and
  /// asks again when it is time. Does not wait.
  void look_after() {
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
      const auto check = checks_.emplace(r, async<&replica_type::healthy>(*its)).first;
      answered_checks_.add(check->second, r);
    }
  }

  /// The handles of those that are ready.
  std::vector<handle> ready() const {
    std::vector<handle> all;
    for (std::size_t r : dispatcher_.all_ready()) {
      if (const handle* const its = find(r)) all.push_back(*its);
    }
    return all;
  }
  /// Null if it has ended, or has died as far as this rank knows. Good until something else is called.
  const handle* find(std::size_t r) const {
    const auto found = replicas_.find(r);
    return found == replicas_.end() || has_died(found->second) ? nullptr : &found->second;
  }
  void end(std::size_t r) {
    dispatcher_.remove(r);
    replicas_.erase(r);  // the last handle
  }

  /// Starts and ends replicas until there are as many as there should be; does not wait. Throws if there is no rank.
  void adapt() {
    const int wanted = dispatcher_.wanted();
    while (dispatcher_.count(true) + dispatcher_.count(false) < wanted) start_beside();
    while (dispatcher_.count(true) > wanted && end_an_idle_one()) {
    }
  }
  bool are_starting() const { return !starting_.empty(); }
  /// What ends when a replica that starts is ready, or cannot be made.
  void append_starts(std::vector<future<void>>& to) const {
    for (const auto& [number, opened] : starting_) to.push_back(opened);
  }
  /// Replicas that have started get requests. Why one could not be made; empty: none was refused. Does not wait, and
  /// runs nothing else meanwhile.
  std::string collect_started() {
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

 private:
  struct start_under_way {
    std::size_t replica;
    future<void> opened;
  };
  /// How replicas are made, and what they have been told since.
  struct version {
    maker make;
    settings given;
  };

  /// Takes the version by value: other calls may replace it while this one waits for room to send.
  start_under_way start(version v) {
    const options& o = dispatcher_.told();
    const std::size_t number = dispatcher_.add_starting();
    try {
      handle a = spawn<replica_type>({.cpus = o.cpus,
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
  void start_beside() {
    const start_under_way s = start(current_);
    starting_.emplace(s.replica, s.opened);
    ended_starts_.add(s.opened, s.replica);
  }
  /// Starts replicas and waits for all: each is ready, or none is left.
  std::vector<std::size_t> start_all(int count, const version& v) {
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
  static bool is_well(const future<bool>& answer) {
    try {
      return answer.get();
    } catch (const error&) {  // it has died
      return false;
    }
  }
  /// Sends settings, once the replica has started; names nothing if it has died or cannot start.
  future<void> send(std::size_t r, const settings& s) {
    if (const auto start = starting_.find(r); start != starting_.end()) {
      const future<void> opened = start->second;
      try {
        opened.get();
      } catch (const error&) {
        return {};
      }
    }
    const handle* const its = find(r);
    return its == nullptr ? future<void>() : async<&replica_type::reconfigure>(*its, s);
  }
  /// Waits. False if the replica has died, which is ended then. Throws what `reconfigure` of the class threw.
  bool has_taken(std::size_t r, const future<void>& sent) {
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
  bool end_an_idle_one() {
    for (std::size_t r : dispatcher_.all_ready()) {
      if (!dispatcher_.is_idle(r)) continue;
      end(r);
      return true;
    }
    return false;
  }

  dispatcher& dispatcher_;
  version current_;
  std::map<std::size_t, handle> replicas_;
  // What has ended is heard from watchers: future::ready would run other calls of the router in between.
  std::map<std::size_t, future<void>> starting_;  ///< by replica
  std::map<std::size_t, future<bool>> checks_;    ///< questions for health under way
  watcher ended_starts_, answered_checks_;
  request::clock::time_point checked_ = request::clock::now();
};

}  // namespace manta::serve::detail
