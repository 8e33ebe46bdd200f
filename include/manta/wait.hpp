// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Waiting for some of many futures: wait splits a range into futures that have ended and futures that have not, and
// as_completed gives the futures in the order in which they end.
#pragma once

#include <span>
#include <utility>

#include "manta/future.hpp"

namespace manta {

/// When wait returns.
struct wait_options {
  std::size_t count = 1;  ///< return when that many futures have ended (all, if there are fewer)
  std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max();  ///< return after that long at the latest
};

/// The two halves of a range, each in the order of the input. A failed task counts as ready.
template <class T>
struct wait_result {
  std::vector<future<T>> ready;    ///< futures that have ended, with a value or an error
  std::vector<future<T>> pending;  ///< the other futures
};

namespace detail {
template <class T>
wait_result<T> split(std::vector<future<T>> futures, const wait_options& options) {
  exec::engine& e = exec::engine::here("wait");
  const exec::engine::guard g(e);
  const auto is_pending = [](const future<T>& f) { return access::of(f).node("wait").is_pending(); };
  std::size_t ended = 0;
  for (const future<T>& f : futures) ended += !is_pending(f);
  const std::size_t wanted = options.count < futures.size() ? options.count : futures.size();
  if (ended < wanted) {
    exec::wait_record record;
    record.remaining = static_cast<std::uint32_t>(wanted - ended);
    record.deadline = deadline_after(options.timeout);
    std::uint32_t position = 0;
    for (const future<T>& f : futures) {
      if (is_pending(f)) e.waits().watch(access::of(f).node("wait"), record, position);
      ++position;
    }
    e.waits().wait(record);
    for (const future<T>& f : futures) {
      if (is_pending(f)) e.waits().unwatch(access::of(f).node("wait"), record);
    }
    e.waiters().throw_if_deadlocked(record);
  }
  const std::size_t most = wanted > ended ? wanted : ended;
  wait_result<T> result;
  auto left = futures.begin();
  for (auto f = futures.begin(); f != futures.end(); ++f) {
    if (result.ready.size() < most && !is_pending(*f)) {
      result.ready.push_back(std::move(*f));
    } else {
      if (left != f) *left = std::move(*f);
      ++left;
    }
  }
  futures.erase(left, futures.end());
  result.pending = std::move(futures);
  return result;
}
}  // namespace detail

/// Returns as soon as `count` of the futures have ended or the time is up. Moves no data. A future that stands in the
/// range twice counts twice. Copies the handles, or moves them out of a vector that is an rvalue, which is five times
/// as fast: wait(std::move(pending)).
///
///   auto [ready, pending] = manta::wait(futures, {.count = 2, .timeout = 50ms});
template <class Range>
auto wait(Range&& futures, wait_options options = {}) {
  using Mistake = detail::mistake_in_futures<Range>;
  (void)typename Mistake::sentence();
  if constexpr (Mistake::found) {
    return wait_result<detail::supposed_value<Range>>();
  } else {
    return detail::split(detail::listed<Range>(futures), options);
  }
}

/// Refuses at compile time options that are not given by name.
template <class Range, class Option>
  requires(!std::is_convertible_v<Option, wait_options>)
auto wait(Range&& futures, Option) {
  static_assert(base::never<Option>,
                "manta: wait takes its options by name: wait(futures, {.count = 2, .timeout = 50ms})");
  return wait(std::forward<Range>(futures));
}

/// A range of futures in the order in which they end; see as_completed.
template <class T>
class completion_range {
 public:
  /// Watches these futures until the range is destroyed; as_completed makes it.
  explicit completion_range(std::vector<future<T>> futures) : futures_(std::move(futures)) {
    exec::engine& e = exec::engine::here("as_completed");
    const exec::engine::guard g(e);
    for (std::uint32_t i = 0; i < futures_.size(); ++i) {
      auto& n = detail::access::of(futures_[i]).node("as_completed");
      if (n.is_pending()) {
        e.waits().watch(n, record_, i);
      } else {
        record_.ended.push_back(i);
      }
    }
  }
  completion_range(const completion_range&) = delete;
  completion_range& operator=(const completion_range&) = delete;
  /// Takes over the futures of a range whose begin() has not been called, as a wrapper of a temporary range needs.
  completion_range(completion_range&& other) : completion_range(other.release()) {}
  ~completion_range() { unwatch(); }

  /// Number of all futures, also of those that the loop has taken.
  [[nodiscard]] std::size_t size() const { return futures_.size(); }

  struct end_marker {};
  class iterator {
   public:
    explicit iterator(completion_range& range) : range_(&range) { range_->next(); }
    future<T>& operator*() const { return range_->futures_[range_->current_]; }
    iterator& operator++() {
      range_->next();
      return *this;
    }
    bool operator==(end_marker) const { return range_->taken_ > range_->futures_.size(); }

   private:
    completion_range* range_;
  };
  /// Waits for the first future that ends. May be called once.
  iterator begin() { return iterator(*this); }
  /// Reached when the loop has taken all futures.
  end_marker end() const { return {}; }

 private:
  std::vector<future<T>> release() {
    unwatch();
    return std::exchange(futures_, {});
  }
  void unwatch() {
    exec::engine* e = exec::engine::current();
    if (e == nullptr) return;
    const exec::engine::guard g(*e);
    for (const future<T>& f : futures_) {
      auto* n = detail::access::of(f).get();
      if (n != nullptr && n->is_pending()) e->waits().unwatch(*n, record_);
    }
  }
  void next() {
    if (++taken_ > futures_.size()) return;
    exec::engine& e = exec::engine::here("as_completed");
    const exec::engine::guard g(e);
    if (record_.ended.size() < taken_) {
      record_.remaining = 1;
      e.waits().wait(record_);
      e.waiters().throw_if_deadlocked(record_);
    }
    current_ = record_.ended[taken_ - 1];
  }

  std::vector<future<T>> futures_;
  exec::wait_record record_;
  std::size_t taken_ = 0;
  std::uint32_t current_ = 0;
};

/// Gives the futures of a range in the order in which they end, failed ones too:
///
///   for (auto& f : manta::as_completed(futures)) use(f.get());
template <class Range>
auto as_completed(Range&& futures) {
  using Mistake = detail::mistake_in_futures<Range>;
  (void)typename Mistake::sentence();
  if constexpr (Mistake::found) {
    return completion_range<detail::supposed_value<Range>>({});
  } else {
    return completion_range<detail::range_value<Range>>(detail::listed<Range>(futures));
  }
}

}  // namespace manta
