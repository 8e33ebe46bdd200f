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

#include "manta/base/text.hpp"
#include "manta/call/pool_members.hpp"

namespace manta {

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
  unordered_results(detail::pool_members<A>& pool, std::vector<X> elements, const pool_options& options)
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
      const std::size_t idle = pool_.idle();
      if (idle == detail::pool_members<A>::busy) return;
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

  detail::pool_members<A>& pool_;
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
  explicit pool_calls(detail::pool_members<A>& pool, const pool_options& options = {})
      : pool_(pool), redo_(options.redo) {}

  /// Calls the method of the actor with the fewest calls under way. Returns at once.
  template <class... Args>
  void submit(Args&&... args) {
    if (!redo_) return results_.add(pool_.template call<M>(pool_.least_busy(), std::forward<Args>(args)...), 0);
    constexpr bool copyable = (std::is_copy_constructible_v<typename detail::constructor_parameter<Args>::type> && ...);
    detail::require_copies(copyable);
    if constexpr (copyable) {
      auto again = [pool = &pool_, kept = std::tuple<typename detail::constructor_parameter<Args>::type...>(
                                       std::forward<Args>(args)...)] {
        return std::apply([&](const auto&... a) { return pool->template call<M>(pool->least_busy(), a...); }, kept);
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

  detail::pool_members<A>& pool_;
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
  explicit actor_pool(std::size_t count, const actor_options& options, const Args&... args)
      : members_(spawn_all(count, options, args...)) {}
  /// Spawns `count` actors with default options.
  template <class... Args>
    requires(!detail::starts_with_actor_options<Args...>)
  explicit actor_pool(std::size_t count, const Args&... args) : actor_pool(count, actor_options{}, args...) {}
  /// Makes a pool of existing actors.
  explicit actor_pool(std::vector<actor<A>> actors) : members_(std::move(actors)) {}
  actor_pool(const actor_pool&) = delete;
  actor_pool& operator=(const actor_pool&) = delete;

  /// Handles on the actors, which may be sent where the pool cannot.
  const std::vector<actor<A>>& actors() const { return members_.actors(); }
  /// Number of actors.
  std::size_t size() const { return members_.size(); }
  /// Number of actors that are not known to have died.
  std::size_t living() const { return members_.living(); }

  /// Calls M of the actor with the fewest calls under way. Returns at once, like async.
  template <auto M, class... Args>
  auto submit(Args&&... args) {
    return members_.template call<M>(members_.least_busy(), std::forward<Args>(args)...);
  }

  /// Calls M with each element, one at a time on each actor, and returns the futures in the order of the elements.
  /// Waits until an actor has been given the last element; with redo until all calls have ended.
  template <auto M, class Range>
  auto map(const Range& range, const pool_options& options = {}) {
    std::vector<future<detail::method_result<M>>> results;
    for (const auto& x : range) results.push_back(members_.template call<M>(members_.wait_for_idle(), x));
    if (options.redo) redo_lost<M>(range, results);
    return results;
  }

  /// Calls M with each element and gives the futures in the order in which they end, while a loop takes them:
  /// for (auto& f : pool.map_unordered<&A::m>(range)) use(f.get());
  template <auto M, class Range>
  auto map_unordered(const Range& range, const pool_options& options = {}) {
    using X = std::remove_cvref_t<decltype(*std::begin(range))>;
    return unordered_results<M, A, X>(members_, std::vector<X>(std::begin(range), std::end(range)), options);
  }

  /// Gives an object for work that arrives bit by bit:
  /// auto c = pool.calls<&A::m>(); c.submit(x); while (c.has_next()) use(c.next().get());
  template <auto M>
  auto calls(const pool_options& options = {}) {
    return pool_calls<M, A>(members_, options);
  }

 private:
  template <class... Args>
  static std::vector<actor<A>> spawn_all(std::size_t count, const actor_options& options, const Args&... args) {
    std::vector<actor<A>> all;
    for (std::size_t i = 0; i < count; ++i) {
      actor_options each = options;
      if (!each.name.empty()) each.name += base::text("-{}", i);
      all.push_back(spawn<A>(each, args...));
    }
    return all;
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
        const std::size_t idle = members_.wait_for_idle();
        if (idle == members_.nobody) return;
        detail::forget_lost(results[i]);
        results[i] = members_.template call<M>(idle, elements[i]);
        ends.add(results[i], i);
      }
      lost.clear();
    }
  }

  detail::pool_members<A> members_;
};

}  // namespace manta
