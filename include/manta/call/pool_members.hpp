// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The actors of an actor_pool: which of them live, how many calls each has under way, and which gets the next one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "manta/call/results_as_they_end.hpp"

namespace manta::detail {

template <auto M>
using method_result = std::remove_cvref_t<typename signature<decltype(M)>::result>;

/// A call of a pool none of whose `size` actors is left: it has failed, and says why. Its result has this type.
MANTA_DECL handle call_of_nobody(std::uint32_t type, std::size_t size);

/// Counts only the calls made through it.
template <class A>
class pool_members {
 public:
  static constexpr std::size_t busy = ~std::size_t{0};  ///< no actor: all that live have calls under way
  static constexpr std::size_t nobody = busy - 1;       ///< no actor: none is left

  explicit pool_members(std::vector<actor<A>> actors) : actors_(std::move(actors)) {
    if (actors_.empty()) throw error("manta: actor_pool: a pool needs at least one actor");
    loads_.resize(actors_.size(), 0);
    dead_.resize(actors_.size(), false);
  }

  const std::vector<actor<A>>& actors() const { return actors_; }
  std::size_t size() const { return actors_.size(); }
  /// Number of actors that are not known to have died.
  std::size_t living() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size(); ++i) count += lives(i);
    return count;
  }

  /// Calls M of actor i. If i is `nobody`, gives a future that fails.
  template <auto M, class... Args>
  future<method_result<M>> call(std::size_t i, Args&&... args) {
    if (i == nobody) return nobody_left<M>();
    auto f = async<M>(actors_[i], std::forward<Args>(args)...);
    watcher_.add(f, static_cast<std::uint32_t>(i));
    ++loads_[i];
    turn_ = i + 1;
    return f;
  }

  /// The actor with the fewest calls under way, equals in turn, or `nobody`.
  std::size_t least_busy() {
    receive();
    std::size_t best = nobody;
    for (std::size_t k = 0; k < size(); ++k) {
      const std::size_t i = (turn_ + k) % size();
      if (lives(i) && (best == nobody || loads_[i] < loads_[best])) best = i;
    }
    return best;
  }
  /// An actor without calls under way, `busy` or `nobody`.
  std::size_t idle() {
    note_ends(false);
    std::size_t found = nobody;
    for (std::size_t k = 0; k < size(); ++k) {
      const std::size_t i = (turn_ + k) % size();
      if (!lives(i)) continue;
      if (loads_[i] == 0) return i;
      found = busy;
    }
    return found;
  }
  /// Waits for an actor without calls under way; `nobody` if none is left.
  std::size_t wait_for_idle() {
    std::size_t found = idle();
    for (; found == busy; found = idle()) wait_for_end();
    return found;
  }
  /// Waits until a call has ended.
  void wait_for_end() { note_ends(true); }

 private:
  bool lives(std::size_t i) const {
    const exec::engine::guard g(exec::engine::here("actor_pool"));
    return !dead_[i] && !access::of(actors_[i]).node("actor_pool").has_failed();
  }
  template <auto M>
  future<method_result<M>> nobody_left() const {
    using R = method_result<M>;
    return access::make_future<R>(call_of_nobody(result_type<R>(), size()));
  }
  /// Receives messages, so that the counts are of this moment.
  void receive() {
    exec::engine& e = exec::engine::here("actor_pool");
    const exec::engine::guard g(e);
    e.waits().relieve();
    note_ends(false);
  }
  void note_ends(bool wait) {
    watcher_.take(wait, [&](std::uint32_t i, bool, bool gone) {
      --loads_[i];
      if (gone) dead_[i] = true;
    });
  }

  std::vector<actor<A>> actors_;
  base::list<std::size_t> loads_;  // calls under way
  base::list<bool> dead_;          // a call has told so
  std::size_t turn_ = 0;
  end_watcher watcher_;
};

}  // namespace manta::detail

#ifndef MANTA_COMPILED
#include "manta/call/pool_members.ipp"
#endif
