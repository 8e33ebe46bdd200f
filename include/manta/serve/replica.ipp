// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <exception>

#include "manta/serve/replica.hpp"
#include "manta/this_task.hpp"

namespace manta::serve::detail {

MANTA_DECL future<void> replica::end_of(std::uint64_t number) {
  if (const auto stream = streams_.find(number); stream != streams_.end()) return stream->second->ended.get_future();
  const auto running = running_.find(number);
  if (running != running_.end()) {
    if (!running->second) running->second.emplace();
    return running->second->get_future();
  }
  promise<void> none;
  none.set_value();
  return none.get_future();
}

MANTA_DECL replica::under_way::under_way(replica& r, std::uint64_t number)
    : running_(r.running_), at_(running_.try_emplace(number).first) {
  manta::detail::bound_isolated_call(r.longest_ns_);
}
MANTA_DECL replica::under_way::~under_way() {
  manta::detail::bound_isolated_call(0);
  if (at_->second) at_->second->set_value();
  running_.erase(at_);
}

MANTA_DECL std::int64_t replica::under_way::ns() const {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin_).count();
}

MANTA_DECL replica::stream_turn::stream_turn(replica& r, std::uint64_t number) {
  for (;;) {
    const auto found = r.streams_.find(number);
    if (found == r.streams_.end()) return;  // it has ended
    if (!found->second->is_running) {
      stream_ = found->second;
      stream_->is_running = true;
      return;
    }
    found->second->waiting.emplace_back();
    const future<void> turn = found->second->waiting.back().get_future();
    turn.wait();
  }
}
MANTA_DECL replica::stream_turn::~stream_turn() {
  if (!stream_) return;
  stream_->is_running = false;
  for (promise<void>& each : std::exchange(stream_->waiting, {})) each.set_value();
}

MANTA_DECL void replica::end_stream(std::uint64_t number) {
  const auto found = streams_.find(number);
  if (found == streams_.end()) return;
  const std::shared_ptr<open_stream> stream = found->second;
  streams_.erase(found);
  stream->ended.set_value();
}

/// Called while what the generator has thrown is handled.
MANTA_DECL void replica::fail_stream(std::uint64_t number) {
  const auto found = streams_.find(number);
  if (found == streams_.end()) return;
  const std::shared_ptr<open_stream> stream = found->second;
  streams_.erase(found);
  stream->ended.set_exception(std::current_exception());
}

}  // namespace manta::serve::detail
