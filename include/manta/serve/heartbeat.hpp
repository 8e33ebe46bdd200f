// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Calls a function of a router again and again while nobody calls the router. An actor on the router's rank does so; it
// holds no handle of the router, or that would never end.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "manta/actor.hpp"
#include "manta/promise.hpp"
#include "manta/run.hpp"
#include "manta/this_task.hpp"

namespace manta::serve::detail {

class heartbeat {
 public:
  /// `beat` must not wait. It is called on this rank between other tasks, and no more once this object is gone.
  heartbeat(std::function<void()> beat, std::chrono::milliseconds period)
      : shared_(std::make_shared<shared>(std::move(beat))), key_(next_key()++) {
    all()[key_] = shared_;
    beater_ = spawn<beater>({.rank = manta::rank()});
    running_ = async<&beater::run>(beater_, key_, period.count());
  }
  heartbeat(const heartbeat&) = delete;
  heartbeat& operator=(const heartbeat&) = delete;
  ~heartbeat() {
    all().erase(key_);
    shared_->beat = nullptr;
    shared_->end.set_value();
  }

 private:
  struct shared {
    explicit shared(std::function<void()> b) : beat(std::move(b)) {}
    std::function<void()> beat;
    promise<void> end;
  };
  struct beater {
    void run(std::uint64_t key, std::int64_t period_ms) {
      const auto found = all().find(key);
      if (found == all().end()) return;
      const std::shared_ptr<shared> mine = found->second;
      const future<void> end = mine->end.get_future();
      while (!end.wait_for(std::chrono::milliseconds(period_ms)) && !this_task::stop_requested()) mine->beat();
    }
  };
  static std::map<std::uint64_t, std::shared_ptr<shared>>& all() {
    static std::map<std::uint64_t, std::shared_ptr<shared>> of_this_rank;
    return of_this_rank;
  }
  static std::uint64_t& next_key() {
    static std::uint64_t key = 0;
    return key;
  }

  std::shared_ptr<shared> shared_;
  std::uint64_t key_;
  actor<beater> beater_;
  future<void> running_;
};

}  // namespace manta::serve::detail
