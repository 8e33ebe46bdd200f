// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Calls a function of a router again and again while nobody calls the router. An actor on the router's rank does so; it
// holds no handle of the router, or that would never end.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "manta/serve/source.hpp"

namespace manta::serve::detail {

class heartbeat {
 public:
  /// `beat` must not wait. It is called on this rank between other tasks, and no more once this object is gone.
  MANTA_DECL heartbeat(std::function<void()> beat, std::chrono::milliseconds period);
  heartbeat(const heartbeat&) = delete;
  heartbeat& operator=(const heartbeat&) = delete;
  MANTA_DECL ~heartbeat();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/heartbeat.ipp"
#endif
