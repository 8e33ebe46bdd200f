// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// actor_pool<A>: equal actors that share work. A call goes to the actor that has
// the fewest calls under way, and map gives each actor its next element when it
// has done the one before, so that uneven work balances.
//
//   manta::actor_pool<simulator> pool(8, {.cpus = 2}, seed);
//   for (auto& f : pool.map_unordered<&simulator::episode>(policies)) learn(f.get());
#pragma once

#include <optional>

#include "manta/actor.hpp"
#include "manta/wait.hpp"

namespace manta {

namespace detail {

/// Notes the ends of calls made here, without holding their results. It must not move while calls are under way.
class end_watcher {
 public:
  end_watcher() = default;
  end_watcher(const end_watcher&) = delete;
  end_watcher& operator=(const end_watcher&) = delete;
  ~end_watcher() {
    if (!exec::engine::inside()) return;
    exec::engine& e = *exec::engine::current();
    const exec::engine::guard g(e);
    take_ended(e, [](std::uint32_t) {});
    for (const entry& each : entries_) {
      if (each.node != nullptr) e.unwatch(*each.node, record_);
    }
  }

  std::size_t under_way() const { return under_way_; }

  /// `mark` comes back when the future has ended.
  template <class R>
  void add(const future<R>& f, std::uint32_t mark) {
    exec::engine& e = exec::engine::here("actor_pool");
    const exec::engine::guard g(e);
    graph::node& n = access::of(f).node("actor_pool");
    std::uint32_t at = 0;
    if (free_.empty()) {
      at = static_cast<std::uint32_t>(entries_.size());
      entries_.push_back({nullptr, 0});
    } else {
      at = free_.back();
      free_.pop_back();
    }
    entries_[at] = {&n, mark};
    ++under_way_;
    if (n.state == graph::state::pending) {
      e.watch(n, record_, at);
    } else {
      record_.ended.push_back(at);
    }
  }

  /// Calls tell(mark) for each that has ended since, oldest end first. With `wait`, waits for one if there is none.
  template <class Tell>
  void take(bool wait, Tell&& tell) {
    exec::engine& e = exec::engine::here("actor_pool");
    const exec::engine::guard g(e);
    if (wait && record_.ended.empty() && under_way_ != 0) {
      record_.remaining = 1;
      record_.failed = false;
      for (const entry& each : entries_) {
        if (each.node != nullptr) record_.first = each.node;
      }
      e.wait(record_);
      e.throw_if_deadlocked(record_);
    }
    take_ended(e, tell);
  }

 private:
  /// A pending call's node lives at least until it has ended: the engine holds it.
  struct entry {
    graph::node* node;
    std::uint32_t mark;
  };
  template <class Tell>
  void take_ended(exec::engine&, Tell&& tell) {
    for (const std::uint32_t at : record_.ended) {
      tell(entries_[at].mark);
      entries_[at].node = nullptr;
      free_.push_back(at);
      --under_way_;
    }
    record_.ended.clear();
  }

  exec::wait_record record_;
  base::list<entry> entries_;
  base::list<std::uint32_t> free_;
  std::size_t under_way_ = 0;
};

/// Futures that are handed out in the order in which they end.
template <class R>
class results_as_they_end {
 public:
  std::size_t size() const { return watcher_.under_way() + ended_.size(); }
  bool has_ended() const { return !ended_.empty(); }
  bool has_pending() const { return watcher_.under_way() != 0; }

  void add(const future<R>& f) {
    std::uint32_t at = 0;
    if (free_.empty()) {
      at = static_cast<std::uint32_t>(futures_.size());
      futures_.push_back(f);
    } else {
      at = free_.back();
      free_.pop_back();
      futures_[at] = f;
    }
    watcher_.add(f, at);
  }
  void collect(bool wait) {
    watcher_.take(wait, [&](std::uint32_t at) { ended_.push_back(at); });
  }
  /// Of those that have been collected.
  future<R> pop() {
    const std::uint32_t at = ended_.pop_front();
    free_.push_back(at);
    return std::move(futures_[at]);
  }

 private:
  end_watcher watcher_;
  std::vector<future<R>> futures_;
  base::list<std::uint32_t> free_;
  base::ring<std::uint32_t> ended_;
};

template <auto M>
using method_result = std::remove_cvref_t<typename signature<decltype(M)>::result>;

}  // namespace detail

template <class A>
class actor_pool;

/// What map_unordered gives: a range of futures in the order in which they end. Elements are given to actors while the
/// loop runs. Once only; the pool must outlive it.
template <auto M, class A, class X>
class unordered_results {
 public:
  /// What the method returns.
  using R = detail::method_result<M>;

  /// Made by actor_pool::map_unordered; gives the first elements out.
  unordered_results(actor_pool<A>& pool, std::vector<X> elements) : pool_(pool), elements_(std::move(elements)) { feed(); }
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
  /// Waits for the first result. To be called once.
  iterator begin() { return iterator(*this); }
  /// Reached when all results have been taken.
  end_marker end() const { return {}; }

 private:
  void feed() {
    while (next_ < elements_.size()) {
      const std::size_t idle = pool_.idle_actor();
      if (idle == actor_pool<A>::none) return;
      results_.add(pool_.template call<M>(idle, std::move(elements_[next_++])));
    }
  }
  void advance() {
    current_.reset();
    while (results_.size() != 0 || next_ < elements_.size()) {
      results_.collect(!results_.has_ended() && results_.has_pending());
      feed();
      if (results_.has_ended()) {
        current_ = results_.pop();
        return;
      }
      if (!results_.has_pending()) pool_.wait_for_end();  // all actors do something else
    }
  }

  actor_pool<A>& pool_;
  std::vector<X> elements_;
  std::size_t next_ = 0;
  detail::results_as_they_end<R> results_;
  std::optional<future<R>> current_;
};

/// What actor_pool::calls gives: calls of one method whose results are taken as they end.
template <auto M, class A>
class pool_calls {
 public:
  /// What the method returns.
  using R = detail::method_result<M>;

  /// Made by actor_pool::calls; the pool must outlive it.
  explicit pool_calls(actor_pool<A>& pool) : pool_(pool) {}

  /// Calls the method of the actor with the fewest calls under way. Returns at once.
  template <class... Args>
  void submit(Args&&... args) {
    results_.add(pool_.template submit<M>(std::forward<Args>(args)...));
  }
  /// Are there calls whose results have not been taken?
  bool has_next() const { return results_.size() != 0; }
  /// The result of the call that ended first; waits for one. Throws if there is none.
  future<R> next() {
    if (!has_next()) throw error("manta: pool_calls::next: the results of all calls have been taken; ask has_next() first");
    results_.collect(!results_.has_ended());
    return results_.pop();
  }

 private:
  actor_pool<A>& pool_;
  detail::results_as_they_end<R> results_;
};

/// Actors of one class that share work. It knows of the calls made through it only, and belongs to the task that made it:
/// it cannot be copied or sent, but its actors can. They end with their last handles. Calls on an actor that has died
/// fail with actor_died, the others go on.
template <class A>
class actor_pool {
 public:
  /// `count` new actors, each made from these arguments. A name gets "-0", "-1", ... behind it.
  template <class... Args>
  explicit actor_pool(std::size_t count, const actor_options& options, const Args&... args) {
    for (std::size_t i = 0; i < count; ++i) {
      actor_options each = options;
      if (!each.name.empty()) each.name += "-" + std::to_string(i);
      actors_.push_back(spawn<A>(each, args...));
    }
    begin();
  }
  /// The same without options.
  template <class... Args>
    requires(!detail::starts_with_actor_options<Args...>)
  explicit actor_pool(std::size_t count, const Args&... args) : actor_pool(count, actor_options{}, args...) {}
  /// Of actors that are there.
  explicit actor_pool(std::vector<actor<A>> actors) : actors_(std::move(actors)) { begin(); }
  actor_pool(const actor_pool&) = delete;
  actor_pool& operator=(const actor_pool&) = delete;

  /// Handles on the actors, which may be sent where the pool cannot.
  const std::vector<actor<A>>& actors() const { return actors_; }
  /// Number of actors.
  std::size_t size() const { return actors_.size(); }

  /// Calls M of the actor with the fewest calls under way. Returns at once, like async.
  template <auto M, class... Args>
  auto submit(Args&&... args) {
    receive();
    std::size_t best = 0;
    for (std::size_t k = 0; k < size(); ++k) {  // equals in turn
      const std::size_t i = (turn_ + k) % size();
      if (k == 0 || loads_[i] < loads_[best]) best = i;
    }
    return call<M>(best, std::forward<Args>(args)...);
  }

  /// Calls M with each element, one at a time on each actor, and gives the futures in the order of the elements. Waits
  /// until the last element has been given to an actor.
  template <auto M, class Range>
  auto map(const Range& range) {
    std::vector<future<detail::method_result<M>>> results;
    for (const auto& x : range) {
      std::size_t idle = idle_actor();
      for (; idle == none; idle = idle_actor()) wait_for_end();
      results.push_back(call<M>(idle, x));
    }
    return results;
  }

  /// The same for a loop that takes results as they end: for (auto& f : pool.map_unordered<&A::m>(range)) use(f.get());
  template <auto M, class Range>
  auto map_unordered(const Range& range) {
    using X = std::remove_cvref_t<decltype(*std::begin(range))>;
    return unordered_results<M, A, X>(*this, std::vector<X>(std::begin(range), std::end(range)));
  }

  /// For work that comes bit by bit: auto c = pool.calls<&A::m>(); c.submit(x); while (c.has_next()) use(c.next().get());
  template <auto M>
  auto calls() {
    return pool_calls<M, A>(*this);
  }

 private:
  template <auto M, class B, class X>
  friend class unordered_results;
  static constexpr std::size_t none = ~std::size_t{0};

  void begin() {
    if (actors_.empty()) throw error("manta: actor_pool: a pool needs at least one actor");
    loads_.resize(actors_.size(), 0);
  }
  template <auto M, class... Args>
  auto call(std::size_t i, Args&&... args) {
    auto f = async<M>(actors_[i], std::forward<Args>(args)...);
    watcher_.add(f, static_cast<std::uint32_t>(i));
    ++loads_[i];
    turn_ = i + 1;
    return f;
  }
  void note(bool wait) {
    watcher_.take(wait, [&](std::uint32_t i) { --loads_[i]; });
  }
  void receive() {
    exec::engine& e = exec::engine::here("actor_pool");
    const exec::engine::guard g(e);
    e.relieve();
    note(false);
  }
  void wait_for_end() { note(true); }
  std::size_t idle_actor() {
    note(false);
    for (std::size_t k = 0; k < size(); ++k) {
      if (loads_[(turn_ + k) % size()] == 0) return (turn_ + k) % size();
    }
    return none;
  }

  std::vector<actor<A>> actors_;
  base::list<std::size_t> loads_;  // calls under way
  std::size_t turn_ = 0;
  detail::end_watcher watcher_;
};

}  // namespace manta
