// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The replicas of a deployment: starts and ends them, replaces those that have died or are not well, and gives them
// settings and other versions. Part of a router, whose dispatcher knows them by their numbers.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "manta/actor.hpp"
#include "manta/insist.hpp"
#include "manta/promise.hpp"
#include "manta/serve/dispatcher.hpp"
#include "manta/serve/replica.hpp"
#include "manta/serve/replica_places.hpp"
#include "manta/this_task.hpp"
#include "manta/watcher.hpp"

namespace manta::serve::detail {

/// The arguments of a constructor as values in the object store: sent once to each node, for any number of replicas.
template <class... C>
struct kept_arguments {
  std::tuple<future<C>...> values;
  int from = rank();  ///< the rank that gave them
  template <class Archive>
  void serialize(Archive& archive) {
    archive(values, from);
  }
};

/// A copy that this rank keeps; an argument without a value stays as it is, and the constructor's error says why.
template <class T>
future<T> kept_here(const future<T>& argument) {
  if constexpr (wire::is_copyable<T>) {
    try {
      return put(argument.get());
    } catch (const std::exception&) {
      return argument;
    }
  } else {
    return argument;
  }
}
/// The arguments on the router's rank: those of another one are lost when that dies. Rank 0 outlives them all.
template <class... C>
kept_arguments<C...> kept_here(const kept_arguments<C...>& given) {
  if (given.from == 0 || given.from == rank()) return given;
  return {std::apply([](const auto&... each) { return std::make_tuple(kept_here(each)...); }, given.values)};
}

using manta::detail::sentence;

/// How the replicas of a version are made, and what they have been told since.
struct replica_version {
  /// Makes the object of a replica, with these settings; gives its rank.
  using maker = std::function<future<int>(const actor<replica>&, const settings&)>;
  maker make = {};
  target_kind kind = {};
  settings given = {};
  int number = 1;
};

class replica_set {
 public:
  using handle = actor<replica>;
  using maker = replica_version::maker;

  explicit replica_set(dispatcher& d) : dispatcher_(d), places_(d.told()) {}
  replica_set(const replica_set&) = delete;
  MANTA_DECL ~replica_set();

  template <class Target, class... C>
  static maker maker_of(const kept_arguments<C...>& arguments) {
    return [arguments](const handle& r, const settings& s) {
      const auto with = [&](const auto&... c) {
        return async<&replica::open<Target, C...>>(r, type_tag<Target>(), s, c...);
      };
      return std::apply(with, arguments.values);
    };
  }

  /// Starts the first replicas and waits for them. Throws what a constructor threw.
  MANTA_DECL void open(replica_version v);
  /// Replicas that are made from now on have this version.
  MANTA_DECL void set_current(replica_version v);
  [[nodiscard]] const replica_version& current() const { return current_; }
  /// Starts replicas on these ranks, where others of this set may live, and waits for all: each is ready, or none is
  /// left. -1: on any. Throws what a constructor threw, and `cancelled` once `caller` does not want them any more.
  MANTA_DECL std::vector<std::size_t> start_all(const std::vector<int>& at, const replica_version& v,
                                                const this_task::stop_token& caller = {});
  /// Takes a replica of another set, which has this version.
  MANTA_DECL void adopt(placed_replica given, int version);
  /// Ends those that are being made, and adapts the number of replicas no more, or again.
  MANTA_DECL void hold(bool held);
  [[nodiscard]] const replica_places& places() const { return places_; }
  /// The ranks on which the replicas live, as far as they are known.
  [[nodiscard]] MANTA_DECL std::vector<int> ranks() const;

  /// Gives all replicas these settings, also those that are starting. One gets them before the others: if it refuses
  /// them, nothing has changed. Waits. One change at a time: not beside update.
  MANTA_DECL void reconfigure(const settings& s);

  [[nodiscard]] MANTA_DECL std::vector<placed_replica> ready() const;
  /// Null if it has ended, or has died as far as this rank knows. Good until something else is called.
  [[nodiscard]] MANTA_DECL const handle* find(std::size_t r) const;
  MANTA_DECL void end(std::size_t r);
  /// A call of this replica does not return: it gets no more requests, and its rank none of the next replicas until the
  /// call does return; others on that rank end too. If the replica is isolated, its process is ended.
  MANTA_DECL void give_up(std::size_t r, const std::string& why);
  /// Ends when the replica is given up; fails if it ends in another way. Names nothing if there is no such replica.
  [[nodiscard]] MANTA_DECL future<bool> given_up(std::size_t r) const;
  /// Whether the replica has a process of its own.
  [[nodiscard]] MANTA_DECL bool is_isolated(std::size_t r) const;

  /// Starts and ends replicas until there are as many as there should be; does not wait. After a start that has failed
  /// it pauses, each time longer. Throws if there is no rank.
  MANTA_DECL void adapt();
  [[nodiscard]] bool are_starting() const { return !starting_.empty(); }
  /// Adds what ends when a replica that starts is ready, or cannot be made.
  MANTA_DECL void add_starts_to(watcher& events, std::uint64_t id) const;
  /// Replicas that have started get requests. Why one could not be made; empty: none was refused. Does not wait, and
  /// runs nothing else meanwhile.
  MANTA_DECL std::string collect_started();
  /// Why the last start has failed; empty: it has not.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Whether no replica is made before some time has passed.
  [[nodiscard]] bool is_pausing() const { return clock::now() < next_start_; }
  /// Ranks that are lost to calls that do not return, in words; empty: there is none.
  [[nodiscard]] MANTA_DECL std::string stuck_in_words();
  /// Whether a replica lives where it should not, because a server has come there.
  [[nodiscard]] MANTA_DECL std::vector<std::size_t> misplaced() const;
  /// A server or a router has this rank.
  MANTA_DECL void keep_away(int rank, bool in_any_case);

 private:
  using clock = queued_request::clock;
  /// Calls that a replica may have: batches, values of streams, questions. The dispatcher counts the former.
  static constexpr int most_calls = 1 << 20;
  struct start_under_way {
    std::size_t replica;
    future<int> opened;
  };

  start_under_way start(replica_version v, int rank);
  [[nodiscard]] actor_options terms_on(int rank, const target_kind& kind) const;
  [[nodiscard]] bool has_to_be_isolated(int rank) const;
  void refuse_beside_others(int rank, const target_kind& kind) const;
  void wait_for_constructor(const start_under_way& s, const this_task::stop_token& caller);
  void note_start(std::size_t r, int rank);
  void tell_calls(std::size_t r, bool are_overdue);
  void end_all_on(int rank);
  void note_failed_start(const std::string& why);
  future<void> send(std::size_t r, const settings& s);
  bool has_taken(std::size_t r, const future<void>& sent);
  bool end_an_idle_one();

  dispatcher& dispatcher_;
  replica_places places_;
  replica_version current_;
  bool is_held_ = false;
  std::map<std::size_t, handle> replicas_;
  std::map<std::size_t, promise<bool>> given_up_;  ///< promises for calls of these replicas
  // What has ended is heard from watchers: future::ready would run other calls of the router in between.
  std::map<std::size_t, future<int>> starting_;  ///< starts by replica
  watcher ended_starts_;
  /// Replicas whose calls do not return, and their ranks; by the questions whether they have returned.
  std::map<std::uint64_t, std::pair<int, handle>> stuck_;
  watcher returned_;
  std::uint64_t next_question_ = 0;
  std::string problem_;
  std::chrono::milliseconds pause_{0};
  clock::time_point next_start_ = {};
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/replica_set.ipp"
#endif
