// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Rows of tensors at a router. They are one request of the deployment's, and go to replicas in slices: of a batched
// method, slices of the largest batch; of others, slices that take some milliseconds of a replica, or single rows if
// each has a time limit. Few slices wait at a time, so other requests get their turns between them.
#pragma once

#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "manta/async.hpp"
#include "manta/serve/dispatcher.hpp"
#include "manta/serve/waiting_request.hpp"

namespace manta::serve::detail {

/// How large the slices are.
class slice_sizes {
 public:
  MANTA_DECL explicit slice_sizes(const dispatcher& d);
  /// Rows of the next slice.
  [[nodiscard]] std::size_t next() const { return rows_; }
  /// Slices that may be on their way at a time.
  [[nodiscard]] std::size_t at_once() const { return at_once_; }
  /// A replica has taken this time for this number of rows.
  MANTA_DECL void took(std::size_t rows, std::chrono::nanoseconds time);

 private:
  std::size_t rows_ = 1, at_once_;
  bool is_fixed_;
  double ns_of_row_ = 0;  ///< in a slice that had a processor to itself, as far as is known; 0: none has come
};

/// A request with many rows, from its admission to its end.
class rows_under_way {
 public:
  /// Throws overloaded and unavailable.
  MANTA_DECL rows_under_way(dispatcher& d, queued_request whole);
  MANTA_DECL ~rows_under_way();
  rows_under_way(const rows_under_way&) = delete;

  [[nodiscard]] const slice_sizes& sizes() const { return sizes_; }
  /// A slice has been answered.
  void answered(std::size_t rows, std::chrono::nanoseconds time) { sizes_.took(rows, time); }
  void end() { is_good_ = true; }
  /// Nobody wants the answers: throws cancelled.
  [[noreturn]] MANTA_DECL void give_up();

 private:
  dispatcher& dispatcher_;
  queued_request whole_;
  slice_sizes sizes_;
  bool is_good_ = false, is_cancelled_ = false;
};

/// A slice.
template <class Signature>
struct waiting_rows;
template <class R, class... A>
struct waiting_rows<R(A...)> final : waiting_entry {
  waiting_rows(queued_request r, std::vector<std::tuple<A...>>&& its)
      : waiting_entry(std::move(r)), rows(std::move(its)) {}

  std::vector<std::tuple<A...>> rows;
  answered_rows<R> answers = {};

  call_end run_batch(const dispatcher::batch& b, const actor<replica>& its, const batch_terms& terms) override {
    auto call = async<&replica::run<R, A...>>(its, type_tag<R>(), terms.number, given_to_replica(terms.may_repeat));
    const call_end end = finish_call(call, b, terms);
    if (end != call_end::answered) return end;
    answers = std::move(call).get();
    is_answered = true;
    return end;
  }

 private:
  std::vector<std::tuple<A...>> given_to_replica(bool may_repeat) {
    if constexpr ((std::is_copy_constructible_v<A> && ...)) {
      if (may_repeat) return rows;
    }
    return std::move(rows);
  }
};

/// Rows, whatever their types are: they are taken in slices, and answered in the same order.
class many_rows {
 public:
  explicit many_rows(std::size_t rows) : left_(rows) {}
  virtual ~many_rows() = default;
  many_rows(const many_rows&) = delete;
  [[nodiscard]] std::size_t left() const { return left_; }
  [[nodiscard]] virtual std::shared_ptr<waiting_entry> take_slice(queued_request asked, std::size_t size) = 0;
  /// `slice` is the oldest one that has not been answered, and has its answers now. Gives the time that it took.
  virtual std::chrono::nanoseconds add_answers(waiting_entry& slice) = 0;

 protected:
  std::size_t left_;
};

template <class Signature>
struct typed_rows;
template <class R, class... A>
struct typed_rows<R(A...)> final : many_rows {
  typed_rows(std::vector<std::tuple<A...>>&& its, int version)
      : many_rows(its.size()), rows(std::move(its)), answers{{}, version} {
    answers.rows.reserve(rows.size());
  }

  std::vector<std::tuple<A...>> rows;
  answered_rows<R> answers;

  std::shared_ptr<waiting_entry> take_slice(queued_request asked, std::size_t size) override {
    const auto begin = std::make_move_iterator(rows.end() - static_cast<std::ptrdiff_t>(left_));
    left_ -= size;
    return std::make_shared<waiting_rows<R(A...)>>(
        std::move(asked), std::vector<std::tuple<A...>>(begin, begin + static_cast<std::ptrdiff_t>(size)));
  }
  std::chrono::nanoseconds add_answers(waiting_entry& slice) override {
    auto& given = static_cast<waiting_rows<R(A...)>&>(slice).answers;
    for (auto& each : given.rows) answers.rows.push_back(std::move(each));
    return std::chrono::nanoseconds(given.ns);
  }
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/waiting_rows.ipp"
#endif
