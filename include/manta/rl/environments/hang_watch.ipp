// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cstdio>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/manta.hpp"
#include "manta/rl/environments/hang_watch.hpp"

namespace manta::rl::detail {

/// All workplaces of this rank, and the thread that looks at them. It lives as long as the process: nobody
/// waits for it.
class hang_watch {
 public:
  static hang_watch& here() {
    static hang_watch* const it = new hang_watch;
    return *it;
  }

  void add(workplace* p) {
    const std::lock_guard lock(mutex_);
    places_.insert(p);
    if (!std::exchange(is_looking_, true)) start();
  }
  void remove(workplace* p) {
    const std::lock_guard lock(mutex_);
    places_.erase(p);
  }
  std::vector<std::string> look(std::chrono::steady_clock::time_point now) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> sentences;
    for (workplace* p : places_) {
      if (auto sentence = p->look(now)) sentences.push_back(std::move(*sentence));
    }
    return sentences;
  }

 private:
  /// No signal is delivered to the thread, for signals are for the program's own.
  void start() {
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    std::thread([this] {
      for (;;) {
        std::this_thread::sleep_for(std::chrono::seconds(5));
        for (const std::string& s : look(std::chrono::steady_clock::now())) std::fprintf(stderr, "%s\n", s.c_str());
      }
    }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  std::mutex mutex_;
  std::set<workplace*> places_;
  bool is_looking_ = false;
};

MANTA_DECL workplace::workplace(std::string name) : name_(std::move(name)) {
  try {
    rank_ = manta::rank();
  } catch (const error&) {  // outside of a run
  }
  hang_watch::here().add(this);
}
MANTA_DECL workplace::~workplace() { hang_watch::here().remove(this); }

MANTA_DECL std::optional<std::string> workplace::look(std::chrono::steady_clock::time_point now) {
  const std::uint64_t count = count_.load(std::memory_order_acquire);
  if (count % 2 == 0 || count != seen_) {
    seen_ = count;
    since_ = now;
    next_ = patience;
    return {};
  }
  if (now - since_ < next_) return {};
  next_ *= 2;
  const auto number = [](const std::atomic<std::uint64_t>& x) { return std::to_string(x.load()); };
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - since_).count();
  return base::text(
      "manta: rl: environment {} ({}) has been in {} of episode {}, step {}, for {} s{}; whoever trains or evaluates "
      "waits for it (MANTA_WATCHDOG=seconds ends a rank that hangs)",
      number(environment_), name_, call_.load(), number(episode_), number(step_), seconds,
      rank_ < 0 ? "" : base::text(" on rank {}", rank_));
}

MANTA_DECL std::vector<std::string> look_at_environments(std::chrono::steady_clock::time_point now) {
  return hang_watch::here().look(now);
}

}  // namespace manta::rl::detail
