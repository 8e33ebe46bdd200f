// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Threads that look after something beside the program: no signal is delivered
// to them, for signals are for the program's own.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace manta::base {

/// False if there can be no more threads. To be joined.
inline bool start_thread(pthread_t& thread, void* (*body)(void*), void* argument) {
  sigset_t every, before;
  ::sigfillset(&every);
  ::pthread_sigmask(SIG_SETMASK, &every, &before);
  const bool started = ::pthread_create(&thread, nullptr, body, argument) == 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace manta::base
