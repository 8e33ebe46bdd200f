// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// queue<T>: a bounded first-in first-out queue between tasks on any ranks.
//
//   manta::queue<batch> q(100);                   // holds at most 100
//   auto source = manta::async<produce>(q);       // q.push(b): waits while the queue is full; at the end q.close()
//   while (auto b = q.next()) train(*b);          // waits while it is empty; ends when it is closed and drained
//
// A hidden actor keeps the values, and a promise for each caller that waits. A value of more than 1 KiB stays on the
// rank that pushed it and goes from there to the rank that pops it, unless its type is move-only.
#pragma once

#include "manta/actor.hpp"
#include "manta/base/text.hpp"
#include "manta/promise.hpp"

namespace manta {

namespace detail {

/// A value on its way through the queue: the value itself, or a future of it if it is large.
template <class T>
class parcel {
 public:
  parcel() = default;
  explicit parcel(T&& value) {
    if constexpr (wire::is_copyable<T>) {  // a move-only value cannot be taken out of a shared object
      if (!is_small(value)) {
        reference_ = put(std::move(value));
        return;
      }
    }
    value_.emplace(std::move(value));
  }
  T open() && { return value_ ? std::move(*value_) : std::move(reference_).get(); }

  template <class Archive>
  void serialize(Archive& archive) {
    bool here = value_.has_value();
    archive(here);
    if (!here) {
      archive(reference_);
    } else {
      if (!value_) value_.emplace();
      archive(*value_);
    }
  }

 private:
  static bool is_small(const T& value) {
    if constexpr (wire::is_plain<T> || is_handle<T>) {
      return true;
    } else {
      wire::buffer bytes;
      wire::sink out(bytes, nullptr, store::inline_bytes, false);
      try {
        wire::encode(value, out);
        return true;
      } catch (const wire::over_limit&) {
        return false;
      }
    }
  }

  std::optional<T> value_;
  future<T> reference_;
};

/// The immediate answer to a caller. `later`: the caller has to wait, and its number in the list of waiting
/// callers is `ticket`.
enum class queue_answer : std::uint8_t { done, not_now, closed, later };

struct push_reply {
  queue_answer answer = queue_answer::done;
  std::uint64_t ticket = 0;
  future<bool> accepted;  ///< false: closed meanwhile
  template <class Archive>
  void serialize(Archive& archive) {
    archive(answer, ticket, accepted);
  }
};
template <class T>
struct delivery {
  bool closed = false;
  parcel<T> item;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(closed, item);
  }
};
template <class T>
struct pop_reply {
  queue_answer answer = queue_answer::done;
  std::uint64_t ticket = 0;
  parcel<T> item;
  future<delivery<T>> later;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(answer, ticket, item, later);
  }
};

/// A first-in first-out queue of move-only objects.
template <class X>
class fifo {
 public:
  bool empty() const { return first_ == all_.size(); }
  std::size_t size() const { return all_.size() - first_; }
  void push_back(X&& x) { all_.push_back(std::move(x)); }
  X pop_front() {
    X x = std::move(all_[first_++]);
    if (2 * first_ >= all_.size()) {
      all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    return x;
  }
  /// Takes out the object with that ticket, if there is one.
  std::optional<X> remove(std::uint64_t ticket) {
    for (std::size_t i = first_; i < all_.size(); ++i) {
      if (all_[i].ticket != ticket) continue;
      std::optional<X> x = std::move(all_[i]);
      all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
      return x;
    }
    return std::nullopt;
  }

 private:
  std::vector<X> all_;
  std::size_t first_ = 0;
};

/// The hidden actor. Callers wait to pop only while the queue is empty, and wait to push only while it is full.
template <class T>
class queue_server {
 public:
  explicit queue_server(std::uint64_t capacity) : capacity_(capacity) {}

  push_reply push(parcel<T> item, bool may_wait) {
    push_reply r;
    if (closed_) {
      r.answer = queue_answer::closed;
    } else if (!poppers_.empty()) {
      poppers_.pop_front().item.set_value(delivery<T>{false, std::move(item)});
    } else if (items_.size() < capacity_) {
      items_.push_back(std::move(item));
    } else if (!may_wait) {
      r.answer = queue_answer::not_now;
    } else {
      r.answer = queue_answer::later;
      r.ticket = ++tickets_;
      pusher waiting{r.ticket, std::move(item), {}};
      r.accepted = waiting.accepted.get_future();
      pushers_.push_back(std::move(waiting));
    }
    return r;
  }

  pop_reply<T> pop(bool may_wait) {
    pop_reply<T> r;
    if (!items_.empty()) {
      r.item = items_.pop_front();
      if (!pushers_.empty()) {
        pusher next = pushers_.pop_front();
        items_.push_back(std::move(next.item));
        next.accepted.set_value(true);
      }
    } else if (closed_) {
      r.answer = queue_answer::closed;
    } else if (!may_wait) {
      r.answer = queue_answer::not_now;
    } else {
      r.answer = queue_answer::later;
      r.ticket = ++tickets_;
      popper waiting{r.ticket, {}};
      r.later = waiting.item.get_future();
      poppers_.push_back(std::move(waiting));
    }
    return r;
  }

  /// Takes a caller off the list; false if the caller has been served. Completes the caller's promise, because a broken
  /// promise would be reported.
  bool withdraw(std::uint64_t ticket) {
    if (std::optional<pusher> p = pushers_.remove(ticket)) {
      p->accepted.set_value(false);
      return true;
    }
    if (std::optional<popper> p = poppers_.remove(ticket)) {
      p->item.set_value(delivery<T>{true, {}});
      return true;
    }
    return false;
  }

  void close() {
    closed_ = true;
    while (!poppers_.empty()) poppers_.pop_front().item.set_value(delivery<T>{true, {}});
    while (!pushers_.empty()) pushers_.pop_front().accepted.set_value(false);
  }
  bool closed() const { return closed_; }
  std::uint64_t size() const { return items_.size(); }

 private:
  struct pusher {
    std::uint64_t ticket;
    parcel<T> item;
    promise<bool> accepted;
  };
  struct popper {
    std::uint64_t ticket;
    promise<delivery<T>> item;
  };

  std::uint64_t capacity_;
  std::uint64_t tickets_ = 0;
  bool closed_ = false;
  fifo<parcel<T>> items_;
  fifo<pusher> pushers_;
  fifo<popper> poppers_;
};

/// The error of a call whose queue has died with its rank.
[[noreturn]] inline void throw_queue_died(const error& why) {
  constexpr std::string_view begin = "manta: ";
  throw actor_died("manta: the queue is gone, with the values in it: " +
                   std::string(std::string_view(why.what()).substr(begin.size())));
}

[[noreturn]] inline void refuse_empty_queue() {
  throw error(
      "manta: queue: a call on an empty handle, which has no queue; make one with its capacity, as in "
      "manta::queue<int> q(100), and give copies of it to the tasks");
}

}  // namespace detail

/// A handle on a queue, which may be copied and sent to any task; the queue ends with its last handle. Values that one
/// task pushes are popped in the same order, and callers are served in the order in which they began to wait. Every
/// call asks the rank on which the queue lives and waits for its answer, which that rank gives between its tasks.
/// Meanwhile the caller's rank runs other tasks. A wait that nothing can end any more throws `deadlock`.
template <class T>
class queue {
 public:
  /// The type of the values.
  using value_type = T;

  /// An empty handle.
  queue() = default;
  /// Makes a queue that holds at most `capacity` values, on a rank that fits the options.
  explicit queue(std::size_t capacity, const actor_options& options = {}) {
    using Mistake = decltype(wire::mistake_in_value<T>());
    (void)typename Mistake::sentence();
    if (capacity == 0) throw error("manta: queue: the capacity must be at least 1");
    if constexpr (!Mistake::found) server_ = spawn<server>(options, std::uint64_t{capacity});
  }

  /// Waits while the queue is full. Throws queue_closed if the queue is closed, or becomes closed meanwhile.
  void push(T value) {
    detail::push_reply r = ask_push(std::move(value), true);
    if (r.answer != detail::queue_answer::later) return;
    const bool accepted = settle(r.accepted, r.ticket, "its push to a full queue");
    if (!accepted) throw_closed();
  }
  /// Returns false, and drops the value, if the queue is full. Does not wait for room. Throws queue_closed.
  bool try_push(T value) { return ask_push(std::move(value), false).answer == detail::queue_answer::done; }
  /// Waits at most that long while the queue is full, then throws queue_full. Throws queue_closed as push does.
  template <class Rep, class Period>
  void push_for(T value, std::chrono::duration<Rep, Period> d) {
    detail::push_reply r = ask_push(std::move(value), true);
    if (r.answer != detail::queue_answer::later) return;
    if (!r.accepted.wait_for(d) && withdraw(r.ticket)) {
      (void)detail::registered_exception<typename wire::only_with<queue_full, T>::type>::index;
      throw queue_full("manta: queue::push_for: the queue was still full after " + seconds(d) +
                       "; wait longer, pop faster, or make it larger");
    }
    if (!r.accepted.get()) throw_closed();
  }

  /// Waits while the queue is empty. Throws queue_closed if the queue is empty and closed, or becomes closed meanwhile.
  T pop() {
    std::optional<T> value = next();
    if (!value) throw_closed();
    return std::move(*value);
  }
  /// Waits as pop() does; returns nothing when the queue is closed and empty: while (auto b = q.next()) use(*b);
  std::optional<T> next() {
    detail::pop_reply<T> r = ask_pop(true);
    if (r.answer == detail::queue_answer::later) {
      return received(
          settle(std::move(r.later), r.ticket,
                 "its pop from an empty queue, which nobody has closed (call close() after the last push)"));
    }
    return received(std::move(r));
  }
  /// Returns nothing if the queue is empty. Does not wait for a value. Throws queue_closed if the queue is
  /// empty and closed.
  std::optional<T> try_pop() {
    detail::pop_reply<T> r = ask_pop(false);
    if (r.answer == detail::queue_answer::not_now) return std::nullopt;
    if (r.answer == detail::queue_answer::closed) throw_closed();
    return received(std::move(r));
  }
  /// Waits at most that long while the queue is empty, then throws queue_empty. Throws queue_closed as pop does.
  template <class Rep, class Period>
  T pop_for(std::chrono::duration<Rep, Period> d) {
    detail::pop_reply<T> r = ask_pop(true);
    std::optional<T> value;
    if (r.answer != detail::queue_answer::later) {
      value = received(std::move(r));
    } else if (r.later.wait_for(d) || !withdraw(r.ticket)) {
      value = received(std::move(r.later).get());
    } else {
      (void)detail::registered_exception<typename wire::only_with<queue_empty, T>::type>::index;
      throw queue_empty("manta: queue::pop_for: the queue was still empty after " + seconds(d) +
                        "; wait longer, or close the queue when nothing more will come");
    }
    if (!value) throw_closed();
    return std::move(*value);
  }

  /// Closes the queue. From now on every push throws, also one that waits; pops take the remaining values, then throw.
  /// May be called again.
  void close() { ask<&server::close>(); }
  /// Whether close() has been called. Waits for the answer of the queue's rank.
  bool closed() const { return ask<&server::closed>(); }
  /// Number of values in the queue at the time of its answer, for which the caller waits. Waiting pushes do not count.
  std::size_t size() const { return ask<&server::size>(); }

  /// False for an empty handle. Does not communicate.
  bool valid() const { return server_.valid(); }
  friend bool operator==(const queue& a, const queue& b) { return a.server_ == b.server_; }

  /// For sending, by cereal.
  template <class Archive>
  void serialize(Archive& archive) {
    archive(server_);
  }

 private:
  using server = detail::queue_server<T>;

  [[noreturn]] static void throw_closed() {
    (void)detail::registered_exception<typename wire::only_with<queue_closed, T>::type>::index;
    throw queue_closed("manta: the queue is closed: it takes no values any more, and those it had have been popped");
  }
  static std::string seconds(std::chrono::duration<double> d) { return base::text("{} s", d.count()); }

  detail::push_reply ask_push(T&& value, bool may_wait) {
    detail::push_reply r = ask<&server::push>(detail::parcel<T>(std::move(value)), may_wait);
    if (r.answer == detail::queue_answer::closed) throw_closed();
    return r;
  }
  detail::pop_reply<T> ask_pop(bool may_wait) { return ask<&server::pop>(may_wait); }
  bool withdraw(std::uint64_t ticket) { return ask<&server::withdraw>(ticket); }
  /// Calls the queue's actor, and waits for the answer.
  template <auto Method, class... Args>
  auto ask(Args&&... args) const {
    if (!valid()) detail::refuse_empty_queue();
    try {
      return async<Method>(server_, std::forward<Args>(args)...).get();
    } catch (const actor_died& e) {
      detail::throw_queue_died(e);
    }
  }

  /// Waits for a promise of the queue. A caller that gives up withdraws, since a value that it got later would be lost.
  template <class R>
  R settle(future<R> answer, std::uint64_t ticket, const char* what) {
    try {
      exec::engine& e = exec::engine::here("queue");
      const exec::engine::guard g(e);
      e.waits().wait_for_end(detail::access::of(answer).node("queue"), false, what);
    } catch (const deadlock&) {
      if (withdraw(ticket)) throw;
    }
    try {
      return std::move(answer).get();
    } catch (const object_lost& e) {
      detail::throw_queue_died(e);
    }
  }

  static std::optional<T> received(detail::pop_reply<T>&& r) {
    if (r.answer == detail::queue_answer::closed) return std::nullopt;
    return std::move(r.item).open();
  }
  static std::optional<T> received(detail::delivery<T>&& d) {
    if (d.closed) return std::nullopt;
    return std::move(d.item).open();
  }

  actor<server> server_;
};

}  // namespace manta
