// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The answers of a deployed generator, which come while it works:
//
//   auto writer = serve::deploy<&llm::write>({.name = "writer", .replicas = 2}, "weights.bin");
//   for (const std::string& word : writer("Once upon a time")) std::cout << word << ' ';
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "manta/async.hpp"
#include "manta/cancel.hpp"
#include "manta/serve/waiting_stream.hpp"

namespace manta::serve {

/// Reads the values, in their order. Two calls are under way ahead of the reader, each for the values of a millisecond
/// or for one that takes longer; the generator works no further ahead. Move-only; destroying it ends the generator.
/// What the generator throws is thrown by next() after the values before it.
template <class T>
class answers {
 public:
  using stream_value = T;

  answers() = default;
  /// For deployment: the request, and where its values will be.
  answers(future<void> request, future<future<detail::stream_place>> place)
      : request_(std::move(request)), asked_(std::move(place)) {}
  answers(answers&&) noexcept = default;
  answers& operator=(answers&& other) noexcept {
    answers(std::move(other)).swap(*this);
    return *this;
  }
  ~answers() {
    try {
      cancel();
    } catch (const error&) {  // the run has ended
    }
  }
  void swap(answers& other) noexcept {
    std::swap(request_, other.request_);
    std::swap(asked_, other.asked_);
    std::swap(place_, other.place_);
    std::swap(at_, other.at_);
    std::swap(parts_, other.parts_);
    std::swap(here_, other.here_);
    std::swap(is_last_, other.is_last_);
  }

  /// The next value; nothing at the end. Waits. Throws what a call of a deployment throws.
  std::optional<T> next() {
    while (here_.empty() && request_.valid()) advance();
    if (here_.empty()) return std::nullopt;
    std::optional<T> value(std::move(here_.front()));
    here_.pop_front();
    return value;
  }
  /// The values that are here already. Does not wait.
  std::deque<T> take() { return std::exchange(here_, {}); }
  /// False when all values have been taken.
  [[nodiscard]] bool has_more() const { return !here_.empty() || request_.valid(); }
  /// What ends when advance() need not wait; names nothing if there are values here, or at the end.
  [[nodiscard]] any_future upcoming() const {
    if (!here_.empty() || !request_.valid()) return {};
    if (asked_.valid()) return asked_;
    if (place_.valid()) return place_;
    if (!parts_.empty()) return parts_.front();
    return request_;
  }
  /// Goes on to the next values, or to the end; waits for `upcoming`. Throws as next does.
  void advance() {
    if (asked_.valid()) {
      place_ = std::exchange(asked_, {}).get();
    } else if (place_.valid()) {
      at_ = std::exchange(place_, {}).get();
      if (at_.at.valid()) ask(1);  // the first value comes at once
      if (at_.at.valid()) ask(many);
    } else if (!parts_.empty()) {
      receive();
    } else {
      const future<void> ended = std::exchange(request_, {});
      ended.get();
    }
  }
  /// The request, which may end before the values have come; see `look`.
  [[nodiscard]] any_future request() const { return request_; }
  /// Throws if a value takes longer than `.timeout`. Does not wait.
  void look() const { detail::throw_if_overdue(request_); }
  /// Nobody wants further values: ends the generator.
  void cancel() {
    if (request_.valid()) manta::cancel(std::exchange(request_, {}));
    parts_.clear();
  }

  class iterator {
   public:
    explicit iterator(answers& from) : from_(&from), value_(from.next()) {}
    T& operator*() { return *value_; }
    iterator& operator++() {
      value_ = from_->next();
      return *this;
    }
    bool operator==(std::nullptr_t) const { return !value_; }

   private:
    answers* from_;
    std::optional<T> value_;
  };
  iterator begin() { return iterator(*this); }
  [[nodiscard]] std::nullptr_t end() const { return nullptr; }

 private:
  static constexpr std::uint64_t many = 256;

  void ask(std::uint64_t most) {
    parts_.push_back(async<&detail::replica::next<T>>(at_.at, detail::type_tag<T>(), at_.number, most));
  }
  void receive() {
    try {
      detail::wait_for_values(parts_.front(), request_);
      future<detail::stream_part<T>> part = std::move(parts_.front());
      parts_.pop_front();
      detail::stream_part<T> came = std::move(part).get();
      for (T& value : came.values) here_.push_back(std::move(value));
      is_last_ = is_last_ || came.is_last;
    } catch (const actor_died&) {  // the request says so too
      is_last_ = true;
    } catch (const rank_lost&) {
      is_last_ = true;
    } catch (...) {
      cancel();
      throw;
    }
    if (is_last_) {
      parts_.clear();
    } else {
      ask(many);
    }
  }

  future<void> request_;  ///< empty at the end
  future<future<detail::stream_place>> asked_;
  future<detail::stream_place> place_;
  detail::stream_place at_;
  std::deque<future<detail::stream_part<T>>> parts_;
  std::deque<T> here_;
  bool is_last_ = false;
};

namespace detail {
/// A name for a stream that this rank reads.
inline stream_key new_stream_key(int rank) {
  static std::atomic<std::uint64_t> next{0};
  return {rank, ++next};
}
}  // namespace detail

}  // namespace manta::serve
