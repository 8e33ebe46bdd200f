// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The replicas of a deployment: starts and ends them, replaces those that have died or are not well, and gives them
// settings. Part of a router, whose dispatcher knows them by their numbers.
#pragma once

#include <cstddef>
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

class replica_set {
 public:
  using handle = actor<replica>;

  explicit replica_set(dispatcher& d) : dispatcher_(d) {}
  replica_set(const replica_set&) = delete;

  /// Makes the object of a replica, with these settings.
  using maker = std::function<future<void>(const handle&, const settings&)>;
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
  MANTA_DECL void open(maker make);
  /// Starts replicas of a new version, beside those that are there already and have these settings, and waits until all
  /// are ready. From then on, others get no more requests: gives their numbers. Throws what a constructor threw;
  /// nothing has changed then.
  MANTA_DECL std::vector<std::size_t> update(maker make, std::vector<handle> there = {}, const settings& given = {});

  /// Gives all replicas these settings, also those that are starting. One gets them before the others: if it refuses
  /// them, nothing has changed. Waits. One change at a time: not beside update.
  MANTA_DECL void reconfigure(const settings& s);

  /// Asks each replica whether it is well, waits, and ends those that are not.
  MANTA_DECL void check();
  /// Like check, for replicas without work, to be called from time to time: looks at the answers that have come, and
  /// asks again when it is time. Does not wait.
  MANTA_DECL void look_after();

  /// The handles of those that are ready.
  MANTA_DECL std::vector<handle> ready() const;
  /// Null if it has ended, or has died as far as this rank knows. Good until something else is called.
  MANTA_DECL const handle* find(std::size_t r) const;
  MANTA_DECL void end(std::size_t r);

  /// Starts and ends replicas until there are as many as there should be; does not wait. Throws if there is no rank.
  MANTA_DECL void adapt();
  bool are_starting() const { return !starting_.empty(); }
  /// What ends when a replica that starts is ready, or cannot be made.
  MANTA_DECL void append_starts(std::vector<future<void>>& to) const;
  /// Replicas that have started get requests. Why one could not be made; empty: none was refused. Does not wait, and
  /// runs nothing else meanwhile.
  MANTA_DECL std::string collect_started();

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

  start_under_way start(version v);
  void start_beside();
  std::vector<std::size_t> start_all(int count, const version& v);
  future<void> send(std::size_t r, const settings& s);
  bool has_taken(std::size_t r, const future<void>& sent);
  bool end_an_idle_one();

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

#ifndef MANTA_COMPILED
#include "manta/serve/replica_set.ipp"
#endif
