// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The helper: a thread that answers for a rank whose own thread is in user
// code. Every 200 to 800 us it looks whether the rank's thread, the owner of the
// lock, has entered the library since. If not, the helper takes the lock and does
// the rank's duties. It sleeps where the owner stays away and nothing comes, and
// as long as the owner is idle itself.
//
// A look takes up to 20 us from the thread that computes on the same core, so
// the looks become rare while no other rank needs them: after each look at which
// nothing was sent, the next one comes later.
//
// Where there is no other rank, the helper only watches: it sleeps until the state of
// the run is asked for, or for as long as its duties say.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/rank/lock.hpp"

namespace manta::exec {

class helper {
 public:
  /// What the helper does for its rank, which is the first argument of each function.
  struct duties {
    void* rank;
    void (*sleep)(void* rank, std::int64_t most_ns);  ///< without the lock, until something comes or `rouse` is called
    void (*rouse)(void* rank);                        ///< wakes the rank's thread, from another thread
    void (*owner_is_here)(void* rank);                ///< without the lock: the owner is here, or was here just now
    bool (*do_duties)(void* rank, bool owner_was_here);  ///< called with the lock; true if other ranks got something
    std::int64_t (*patience_ns)(void* rank, unsigned in_vain);  ///< called with the lock, after `in_vain` vain looks
    /// For a rank that is alone, without the lock: the time until the next look; below 0: until it is roused.
    std::int64_t (*pause_ns)(void* rank) = nullptr;
  };

  helper(biased_lock& lock, const duties& of_rank) : lock_(lock), duties_(of_rank) {}
  helper(const helper&) = delete;
  helper& operator=(const helper&) = delete;

  /// Lets `start` start the thread. `is_alone`: there is no other rank.
  void enable(bool is_alone = false) {
    enabled_ = true;
    is_alone_ = is_alone;
  }
  bool is_enabled() const { return enabled_; }
  /// Called by the owner. False if the system gives no thread.
  MANTA_DECL bool start();
  /// Called by the owner, which has the lock: waits until the thread has ended.
  MANTA_DECL void stop();
  bool is_running() const { return running_; }
  /// Does the thread receive messages and look at clocks for its rank? It does not where there is no other rank.
  bool does_duties() const { return running_ && !is_alone_; }

  /// The rank's own thread, and the number that the kernel has given it.
  pthread_t owner() const { return owner_; }
  int owner_number() const { return owner_number_; }

 private:
  static void* entry(void* self);  ///< The main function of the new thread.
  void run();                      ///< The loop of the thread.
  void watch();                    ///< The loop of the thread where there is no other rank.

  biased_lock& lock_;
  const duties duties_;
  bool enabled_ = false, is_alone_ = false, running_ = false;
  std::atomic<bool> stop_{false};
  pthread_t thread_{}, owner_{};
  int owner_number_ = 0;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/loop/helper.ipp"
#endif
