// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// actor_pool<A>: equal actors that share work. A call goes to the actor with the fewest calls under way, and map gives
// each actor its next element when it has finished the one before, so that uneven work balances. An actor that has died
// gets no further calls. Its unfinished calls fail, or with pool_options::redo the other actors repeat them.
//
//   manta::actor_pool<simulator> pool(8, {.cpus = 2}, seed);
//   for (auto& f : pool.map_unordered<&simulator::episode>(policies, {.redo = true})) learn(f.get());
#pragma once

#include <functional>
#include <optional>
#include <tuple>

#include "manta/call/results_as_they_end.hpp"

namespace manta {

namespace detail {

template <auto M>
using method_result = std::remove_cvref_t<typename signature<decltype(M)>::result>;

}  // namespace detail

template <class A>
class actor_pool;

/// How a pool treats the calls that it gives out.
struct pool_options {
  /// When an actor dies, another one repeats its unfinished calls, as long as one is left. A method may thus run twice,
  /// the first time in part. Arguments must be copyable.
  bool redo = false;
};

namespace detail {
inline void require_copies(bool copyable) {
  if (!copyable)
    throw error(
        "manta: pool_options::redo keeps the arguments of each call, and these can only be moved; leave redo out");
}
}  // namespace detail

/// What map_unordered gives: a range of futures in the order in which they end. The loop over it gives the elements to
/// the actors, and can run once. The pool must outlive the range.
template <auto M, class A, class X>
class unordered_results {
 public:
  /// What the method returns.
  using R = detail::method_result<M>;

  /// Gives the first elements to the actors; actor_pool::map_unordered makes the range.
  unordered_results(actor_pool<A>& pool, std::vector<X> elements, const pool_options& options)
      : pool_(pool), elements_(std::move(elements)), redo_(options.redo) {
    if (redo_) detail::require_copies(std::is_copy_constructible_v<X>);
    feed();
  }
  unordered_results(const unordered_results&) = delete;
  unordered_results& operator=(const unordered_results&) = delete;

  struct end_marker {};
  class iterator {
   public:
    explicit iterator(unordered_results& range) : range_(&range) { ++*this; }
    future<R>& operator*() const { return *range_->current_; }
    iterator& operator++() {
      range_->advance();
      return *this;
    }
    bool operator==(end_marker) const { return !range_->current_; }

   private:
    unordered_results* range_;
  };
  /// Waits for the first result. May be called once.
  iterator begin() { return iterator(*this); }
  /// Reached when all results have been taken.
  end_marker end() const { return {}; }

 private:
  void feed() {
    while (!lost_.empty() || next_ < elements_.size()) {
      const std::size_t idle = pool_.idle_actor();
      if (idle == actor_pool<A>::busy) return;
      const std::size_t i = lost_.empty() ? next_++ : lost_.pop_front();
      results_.add(give(idle, elements_[i]), i);
    }
  }
  future<R> give(std::size_t idle, X& x) {
    if constexpr (std::is_copy_constructible_v<X>) {
      if (redo_) return pool_.template call<M>(idle, std::as_const(x));
    }
    return pool_.template call<M>(idle, std::move(x));
  }
  void advance() {
    current_.reset();
    while (results_.size() != 0 || !lost_.empty() || next_ < elements_.size()) {
      results_.collect(!results_.has_ended() && results_.has_pending(), [&](std::size_t i) {
        if (redo_ && pool_.living() != 0) {
          lost_.push_back(i);
          return true;
        }
        return false;
      });
      feed();
      if (results_.has_ended()) {
        std::size_t number = 0;
        current_ = results_.pop(number);
        return;
      }
      if (!results_.has_pending()) pool_.wait_for_end();  // all actors do something else
    }
  }

  actor_pool<A>& pool_;
  std::vector<X> elements_;
  bool redo_;
  std::size_t next_ = 0;
  base::ring<std::size_t> lost_;  // elements to be given again
  detail::results_as_they_end<R> results_;
  std::optional<future<R>> current_;
};

/// What actor_pool::calls gives: calls of one method, whose results the program takes in the order in which they end.
/// The pool must outlive it.
template <auto M, class A>
class pool_calls {
 public:
  /// What the method returns.
  using R = detail::method_result<M>;

  /// Begins without calls; actor_pool::calls makes the object.
  explicit pool_calls(actor_pool<A>& pool, const pool_options& options = {}) : pool_(pool), redo_(options.redo) {}

  /// Calls the method of the actor with the fewest calls under way. Returns at once.
  template <class... Args>
  void submit(Args&&... args) {
    if (!redo_) return results_.add(pool_.template submit<M>(std::forward<Args>(args)...), 0);
    constexpr bool copyable = (std::is_copy_constructible_v<typename detail::constructor_parameter<Args>::type> && ...);
    detail::require_copies(copyable);
    if constexpr (copyable) {
      auto again = [pool = &pool_, kept = std::tuple<typename detail::constructor_parameter<Args>::type...>(
                                       std::forward<Args>(args)...)] {
        return std::apply([&](const auto&... a) { return pool->template submit<M>(a...); }, kept);
      };
      const future<R> first = again();
      results_.add(first, keep(std::move(again)));
    }
  }
  /// Whether there are calls whose results have not been taken.
  bool has_next() const { return results_.size() != 0; }
  /// The result of the call that ended first; waits for one. Throws if there is none.
  future<R> next() {
    if (!has_next())
      throw error("manta: pool_calls::next: the results of all calls have been taken; ask has_next() first");
    base::list<std::size_t> lost;
    do {
      lost.clear();
      results_.collect(!results_.has_ended(), [&](std::size_t i) {
        if (!redo_ || pool_.living() == 0) return false;
        lost.push_back(i);
        return true;
      });
      for (const std::size_t i : lost) results_.add(kept_[i](), i);
    } while (!results_.has_ended());
    std::size_t number = 0;
    future<R> f = results_.pop(number);
    if (redo_) forget(number);
    return f;
  }

 private:
  std::size_t keep(std::function<future<R>()> again) {
    if (free_.empty()) {
      kept_.push_back(std::move(again));
      return kept_.size() - 1;
    }
    const std::size_t i = free_.back();
    free_.pop_back();
    kept_[i] = std::move(again);
    return i;
  }
  void forget(std::size_t i) {
    kept_[i] = nullptr;
    free_.push_back(i);
  }

  actor_pool<A>& pool_;
  bool redo_;
  std::vector<std::function<future<R>()>> kept_;  // of calls whose results have not been taken
  base::list<std::size_t> free_;
  detail::results_as_they_end<R> results_;
};

/// Actors of one class that share work. A pool counts only the calls made through it. It belongs to the task that made
/// it and cannot be copied or sent, but handles of its actors can. The actors end with their last handles.
///
/// When an actor dies, its unfinished calls fail with actor_died, and it gets no further calls, unless it restarts
/// (actor_options::restarts). With pool_options::redo the remaining actors repeat such calls of map, map_unordered and
/// calls(). When no actor remains, all further calls fail with actor_died, which says so.
template <class A>
class actor_pool {
 public:
  /// Spawns `count` actors, each constructed from these arguments. A name in the options gets "-0", "-1", ... appended.
  template <class... Args>
  explicit actor_pool(std::size_t count, const actor_options& options, const Args&... args) {
    for (std::size_t i = 0; i < count; ++i) {
      actor_options each = options;
      if (!each.name.empty()) each.name += "-" + std::to_string(i);
      actors_.push_back(spawn<A>(each, args...));
    }
    begin();
  }
  /// Spawns `count` actors with default options.
  template <class... Args>
  requires(!detail::starts_with_actor_options<Args...>) explicit actor_pool(std::size_t count, const Args&... args)
      : actor_pool(count, actor_options{}, args...) {}
  /// Makes a pool of existing actors.
  explicit actor_pool(std::vector<actor<A>> actors) : actors_(std::move(actors)) { begin(); }
  actor_pool(const actor_pool&) = delete;
  actor_pool& operator=(const actor_pool&) = delete;

  /// Handles on the actors, which may be sent where the pool cannot.
  const std::vector<actor<A>>& actors() const { return actors_; }
  /// Number of actors.
  std::size_t size() const { return actors_.size(); }
  /// Number of actors that are not known to have died.
  std::size_t living() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size(); ++i) count += lives(i);
    return count;
  }

  /// Calls M of the actor with the fewest calls under way. Returns at once, like async.
  template <auto M, class... Args>
  auto submit(Args&&... args) {
    receive();
    std::size_t best = nobody;
    for (std::size_t k = 0; k < size(); ++k) {  // equals in turn
      const std::size_t i = (turn_ + k) % size();
      if (lives(i) && (best == nobody || loads_[i] < loads_[best])) best = i;
    }
    return call<M>(best, std::forward<Args>(args)...);
  }

  /// Calls M with each element, one at a time on each actor, and returns the futures in the order of the elements.
  /// Waits until an actor has been given the last element; with redo until all calls have ended.
  template <auto M, class Range>
  auto map(const Range& range, const pool_options& options = {}) {
    std::vector<future<detail::method_result<M>>> results;
    for (const auto& x : range) results.push_back(call<M>(wait_for_idle(), x));
    if (options.redo) redo_lost<M>(range, results);
    return results;
  }

  /// Calls M with each element and gives the futures in the order in which they end, while a loop takes them:
  /// for (auto& f : pool.map_unordered<&A::m>(range)) use(f.get());
  template <auto M, class Range>
  auto map_unordered(const Range& range, const pool_options& options = {}) {
    using X = std::remove_cvref_t<decltype(*std::begin(range))>;
    return unordered_results<M, A, X>(*this, std::vector<X>(std::begin(range), std::end(range)), options);
  }

  /// Gives an object for work that arrives bit by bit:
  /// auto c = pool.calls<&A::m>(); c.submit(x); while (c.has_next()) use(c.next().get());
  template <auto M>
  auto calls(const pool_options& options = {}) {
    return pool_calls<M, A>(*this, options);
  }

 private:
  template <auto M, class B, class X>
  friend class unordered_results;
  static constexpr std::size_t busy = ~std::size_t{0};  ///< no actor: all that live have calls under way
  static constexpr std::size_t nobody = busy - 1;       ///< no actor: none is left

  void begin() {
    if (actors_.empty()) throw error("manta: actor_pool: a pool needs at least one actor");
    loads_.resize(actors_.size(), 0);
    dead_.resize(actors_.size(), false);
  }
  bool lives(std::size_t i) const {
    const exec::engine::guard g(exec::engine::here("actor_pool"));
    return !dead_[i] && !detail::access::of(actors_[i]).node("actor_pool").has_failed();
  }
  template <auto M, class... Args>
  future<detail::method_result<M>> call(std::size_t i, Args&&... args) {
    if (i == nobody) return nobody_left<M>();
    auto f = async<M>(actors_[i], std::forward<Args>(args)...);
    watcher_.add(f, static_cast<std::uint32_t>(i));
    ++loads_[i];
    turn_ = i + 1;
    return f;
  }
  template <auto M>
  future<detail::method_result<M>> nobody_left() const {
    using R = detail::method_result<M>;
    exec::engine& e = exec::engine::here("actor_pool");
    const exec::engine::guard g(e);
    auto& n = e.refs().make_node(graph::no_index, detail::result_type<R>());
    store::failure f;
    f.kind = store::failure::kind::actor;
    f.message =
        "none of the pool's " + std::to_string(size()) +
        " actors is left to do this call: the calls that they had been given when they died say why. Make a new "
        "pool, or let its actors be built anew (actor_options::restarts)";
    e.completions().fail(n, store::share(std::move(f)));
    return detail::access::make_future<R>(n);
  }
  template <auto M, class Range>
  void redo_lost(const Range& range, std::vector<future<detail::method_result<M>>>& results) {
    using X = std::remove_cvref_t<decltype(*std::begin(range))>;
    const std::vector<X> elements(std::begin(range), std::end(range));
    detail::end_watcher ends;
    for (std::size_t i = 0; i < results.size(); ++i) ends.add(results[i], static_cast<std::uint32_t>(i));
    base::list<std::uint32_t> lost;
    while (ends.under_way() != 0) {
      ends.take(true, [&](std::uint32_t i, bool is_lost, bool) {
        if (is_lost) lost.push_back(i);
      });
      for (const std::uint32_t i : lost) {
        const std::size_t idle = wait_for_idle();
        if (idle == nobody) return;
        detail::forget_lost(results[i]);
        results[i] = call<M>(idle, elements[i]);
        ends.add(results[i], i);
      }
      lost.clear();
    }
  }
  void note(bool wait) {
    watcher_.take(wait, [&](std::uint32_t i, bool, bool gone) {
      --loads_[i];
      if (gone) dead_[i] = true;
    });
  }
  void receive() {
    exec::engine& e = exec::engine::here("actor_pool");
    const exec::engine::guard g(e);
    e.waits().relieve();
    note(false);
  }
  void wait_for_end() { note(true); }
  std::size_t idle_actor() {
    note(false);
    std::size_t found = nobody;
    for (std::size_t k = 0; k < size(); ++k) {
      const std::size_t i = (turn_ + k) % size();
      if (!lives(i)) continue;
      if (loads_[i] == 0) return i;
      found = busy;
    }
    return found;
  }
  std::size_t wait_for_idle() {
    std::size_t idle = idle_actor();
    for (; idle == busy; idle = idle_actor()) wait_for_end();
    return idle;
  }

  std::vector<actor<A>> actors_;
  base::list<std::size_t> loads_;  // calls under way
  base::list<bool> dead_;          // a call has told so
  std::size_t turn_ = 0;
  detail::end_watcher watcher_;
};

}  // namespace manta
