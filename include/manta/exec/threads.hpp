// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A task that asked for several cpus runs with the thread number of OpenMP and
// of Eigen set to as many, and with what was set before restored around it.
// Numbers are set by function calls on the thread that runs tasks; the
// environment is never touched. Tasks with one cpu are left alone.
#pragma once

#include "manta/base/containers.hpp"

// Weak: null unless OpenMP's runtime is in the program, be it that only a library was compiled with it. Under names of
// our own, because omp.h declares them differently from compiler to compiler.
extern "C" {
[[gnu::weak]] void manta_omp_set_num_threads(int) __asm__("omp_set_num_threads");
[[gnu::weak]] int manta_omp_get_max_threads() __asm__("omp_get_max_threads");
}

namespace manta::exec {

/// A library with a number of threads.
struct thread_setting {
  int (*get)();
  void (*set)(int);
};

inline base::list<thread_setting>& thread_settings() {
  static auto& all = *new base::list<thread_setting>;
  return all;
}
/// Before main. Those added are set after OpenMP, and asked before it is changed.
inline bool add_thread_setting(const thread_setting& s) {
  thread_settings().push_back(s);
  return true;
}

/// The thread numbers of the thread that runs tasks.
class thread_numbers {
 public:
  /// For a task with so many cpus; 0: what was set before the first of them.
  void use(int cpus) {
    if (cpus != now_) [[unlikely]] change(cpus);
  }
  int now() const { return now_; }

 private:
  [[gnu::cold, gnu::noinline]] void change(int cpus) {
    const base::list<thread_setting>& settings = thread_settings();
    if (now_ == 0) {
      before_.clear();
      for (const thread_setting& s : settings) before_.push_back(s.get());
      openmp_before_ = has_openmp() ? manta_omp_get_max_threads() : 0;
    }
    now_ = cpus;
    if (has_openmp()) manta_omp_set_num_threads(cpus != 0 ? cpus : openmp_before_);
    for (std::size_t i = 0; i < settings.size(); ++i) settings[i].set(cpus != 0 ? cpus : before_[i]);
  }
  static bool has_openmp() { return &manta_omp_set_num_threads != nullptr && &manta_omp_get_max_threads != nullptr; }

  int now_ = 0;
  int openmp_before_ = 0;
  base::list<int> before_;
};

}  // namespace manta::exec
