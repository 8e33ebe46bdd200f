// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"
#include "manta/serve/waiting_rows.hpp"

namespace manta::serve::detail {

MANTA_DECL slice_sizes::slice_sizes(const dispatcher& d)
    : rows_(d.is_batched() ? static_cast<std::size_t>(d.told().max_batch) : 16),
      at_once_(2 * static_cast<std::size_t>(std::max(1, d.replicas().count(true)))),
      is_fixed_(d.is_batched()) {}

MANTA_DECL void slice_sizes::took(std::size_t rows, std::chrono::nanoseconds time) {
  using namespace std::chrono_literals;
  constexpr std::size_t most = 4096;
  if (is_fixed_ || rows < rows_) return;
  if (time < 5ms) rows_ = std::min(4 * rows_, most);
  if (time > 20ms) rows_ = std::max<std::size_t>(1, rows_ / 2);
}

MANTA_DECL rows_under_way::rows_under_way(dispatcher& d, queued_request whole)
    : dispatcher_(d), whole_(std::move(whole)), sizes_(d) {
  dispatcher_.begin_whole();
}
MANTA_DECL rows_under_way::~rows_under_way() {
  is_cancelled_ ? dispatcher_.drop_whole() : dispatcher_.end_whole(whole_, is_good_);
}

MANTA_DECL std::size_t rows_under_way::next(std::size_t left) {
  sent_.push_back(queued_request::clock::now());
  return std::min(left, sizes_.next());
}

MANTA_DECL void rows_under_way::answered(std::size_t rows) {
  sizes_.took(rows, queued_request::clock::now() - sent_.front());
  sent_.pop_front();
}

MANTA_DECL void rows_under_way::give_up() {
  is_cancelled_ = true;
  throw cancelled(base::text("manta: serve: a request to '{}' was cancelled", dispatcher_.told().name));
}

}  // namespace manta::serve::detail
