// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of heartbeat.hpp: an actor on this rank has one method, which waits and beats until the
// heartbeat has gone.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "manta/actor.hpp"
#include "manta/promise.hpp"
#include "manta/run.hpp"
#include "manta/serve/heartbeat.hpp"
#include "manta/this_task.hpp"

namespace manta::serve::detail {

/// What a heartbeat and its actor share.
struct pulse {
  std::function<void()> beat;
  promise<void> end;

  /// The pulses of this rank, by key: an actor finds its own there.
  static std::map<std::uint64_t, std::shared_ptr<pulse>>& all() {
    static std::map<std::uint64_t, std::shared_ptr<pulse>> of_this_rank;
    return of_this_rank;
  }
};
struct beater {
  void run(std::uint64_t key, std::int64_t period_ms) {
    const auto found = pulse::all().find(key);
    if (found == pulse::all().end()) return;
    const std::shared_ptr<pulse> mine = found->second;
    const future<void> end = mine->end.get_future();
    while (!end.wait_for(std::chrono::milliseconds(period_ms)) && !this_task::stop_requested()) mine->beat();
  }
};

struct heartbeat::state {
  std::shared_ptr<pulse> shared;
  std::uint64_t key = 0;
  actor<beater> runner;
  future<void> running;
};

MANTA_DECL heartbeat::heartbeat(std::function<void()> beat, std::chrono::milliseconds period)
    : state_(std::make_unique<state>()) {
  static std::uint64_t next_key = 0;
  state_->shared = std::make_shared<pulse>();
  state_->shared->beat = std::move(beat);
  state_->key = next_key++;
  pulse::all()[state_->key] = state_->shared;
  state_->runner = spawn<beater>({.rank = manta::rank()});
  state_->running = async<&beater::run>(state_->runner, state_->key, period.count());
}
MANTA_DECL heartbeat::~heartbeat() {
  pulse::all().erase(state_->key);
  state_->shared->beat = nullptr;
  state_->shared->end.set_value();
}

}  // namespace manta::serve::detail
