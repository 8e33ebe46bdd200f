// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/watcher.hpp"

namespace manta {

MANTA_DECL void watcher::add(const any_future& what, std::uint64_t id) {
  exec::engine& e = exec::engine::here("watcher::add");
  const exec::engine::guard g(e);
  auto& n = detail::access::of(what).node("watcher::add");
  std::uint32_t at = static_cast<std::uint32_t>(entries_.size());
  if (free_.empty()) {
    entries_.emplace_back();
  } else {
    at = free_.back();
    free_.pop_back();
  }
  entries_[at] = {what, id};
  ++size_;
  if (n.is_pending()) {
    e.waits().watch(n, record_, at);
  } else {
    record_.ended.push_back(at);
  }
}

MANTA_DECL void watcher::watch_stops() {
  exec::engine& e = exec::engine::here("watcher::watch_stops");
  const exec::engine::guard g(e);
  record_.looks_for_stops = true;
  seen_stops_ = e.waiters().stops();
}

MANTA_DECL std::optional<std::uint64_t> watcher::take() {
  if (taken_ == record_.ended.size()) return std::nullopt;
  const std::uint32_t at = record_.ended[taken_++];
  if (taken_ == record_.ended.size()) {
    record_.ended.clear();
    taken_ = 0;
  }
  record_.lost.clear();
  record_.gone.clear();
  const std::uint64_t id = entries_[at].id;
  entries_[at] = {};
  free_.push_back(at);
  --size_;
  return id;
}

MANTA_DECL std::optional<std::uint64_t> watcher::next_until(std::int64_t deadline) {
  exec::engine& e = exec::engine::here("watcher::next");
  const exec::engine::guard g(e);
  if (auto id = take()) return id;
  if (record_.looks_for_stops && seen_stops_ != e.waiters().stops()) {
    seen_stops_ = e.waiters().stops();
    return std::nullopt;
  }
  record_.remaining = 1;
  record_.deadline = deadline;
  record_.interrupted = false;
  e.waits().wait(record_);
  record_.remaining = 0;
  seen_stops_ = e.waiters().stops();
  e.waiters().throw_if_deadlocked(record_);
  return take();
}

}  // namespace manta
