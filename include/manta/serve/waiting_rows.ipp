// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "manta/base/text.hpp"
#include "manta/serve/waiting_rows.hpp"

namespace manta::serve::detail {

MANTA_DECL slice_sizes::slice_sizes(const dispatcher& d)
    : at_once_(2 * static_cast<std::size_t>(std::max(1, d.replicas().count(true)))),
      is_fixed_(d.is_batched() || d.told().timeout.count() > 0) {
  if (d.is_batched()) rows_ = static_cast<std::size_t>(d.told().max_batch);
}

MANTA_DECL void slice_sizes::took(std::size_t rows, std::chrono::nanoseconds time) {
  constexpr double goal = 10e6, most = 4096;
  if (is_fixed_ || rows == 0) return;
  const double its = static_cast<double>(std::max<std::int64_t>(time.count(), 1)) / static_cast<double>(rows);
  ns_of_row_ = ns_of_row_ > 0 ? std::min(its, 1.25 * ns_of_row_) : its;
  const double largest = std::min(most, 4. * static_cast<double>(rows_));
  rows_ = static_cast<std::size_t>(std::clamp(goal / ns_of_row_, 1., largest));
}

MANTA_DECL rows_under_way::rows_under_way(dispatcher& d, queued_request whole)
    : dispatcher_(d), whole_(std::move(whole)), sizes_(d) {
  dispatcher_.begin_whole();
}
MANTA_DECL rows_under_way::~rows_under_way() {
  is_cancelled_ ? dispatcher_.drop_whole() : dispatcher_.end_whole(whole_, is_good_);
}

MANTA_DECL void rows_under_way::give_up() {
  is_cancelled_ = true;
  throw cancelled(base::text("manta: serve: a request to '{}' was cancelled", dispatcher_.told().name));
}

}  // namespace manta::serve::detail
