// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A task that asked for several cpus runs with the thread numbers of OpenMP, of the BLAS (OpenBLAS, BLIS, MKL) and of
// Eigen set to as many, and with what was set before restored around it. Numbers are set by function calls on the
// thread that runs tasks; the environment is never touched. Tasks with one cpu are left alone.
#pragma once

#include <cstdint>

#include "manta/base/containers.hpp"

// Weak: null unless the library is in the program, be it that only another library uses it. Under names of our own,
// because headers declare them differently from compiler to compiler.
extern "C" {
[[gnu::weak]] void manta_omp_set_num_threads(int) __asm__("omp_set_num_threads");
[[gnu::weak]] int manta_omp_get_max_threads() __asm__("omp_get_max_threads");
[[gnu::weak]] void manta_openblas_set_num_threads(int) __asm__("openblas_set_num_threads");
[[gnu::weak]] int manta_openblas_get_num_threads() __asm__("openblas_get_num_threads");
[[gnu::weak]] void manta_bli_thread_set_num_threads(std::int64_t) __asm__("bli_thread_set_num_threads");
[[gnu::weak]] std::int64_t manta_bli_thread_get_num_threads() __asm__("bli_thread_get_num_threads");
[[gnu::weak]] void manta_mkl_set_num_threads(int) __asm__("MKL_Set_Num_Threads");
[[gnu::weak]] int manta_mkl_get_max_threads() __asm__("MKL_Get_Max_Threads");
}

namespace manta::exec {

/// A library with a number of threads.
struct thread_setting {
  int (*get)();
  void (*set)(int);
};

/// The settings of the libraries that are in the program. OpenMP comes after the BLAS, for an OpenBLAS that uses OpenMP
/// sets its number too.
inline base::list<thread_setting> linked_thread_settings() {
  base::list<thread_setting> linked;
  const auto add = [&](bool there, int (*get)(), void (*set)(int)) {
    if (there) linked.push_back({get, set});
  };
  add(&manta_openblas_set_num_threads != nullptr && &manta_openblas_get_num_threads != nullptr,
      &manta_openblas_get_num_threads, &manta_openblas_set_num_threads);
  add(
      &manta_bli_thread_set_num_threads != nullptr && &manta_bli_thread_get_num_threads != nullptr,
      [] { return static_cast<int>(manta_bli_thread_get_num_threads()); },
      [](int n) { manta_bli_thread_set_num_threads(n); });
  add(&manta_mkl_set_num_threads != nullptr && &manta_mkl_get_max_threads != nullptr, &manta_mkl_get_max_threads,
      &manta_mkl_set_num_threads);
  add(&manta_omp_set_num_threads != nullptr && &manta_omp_get_max_threads != nullptr, &manta_omp_get_max_threads,
      &manta_omp_set_num_threads);
  return linked;
}
inline base::list<thread_setting>& thread_settings() {
  static auto& all = *new base::list<thread_setting>(linked_thread_settings());
  return all;
}
/// Before main. Those added are set after those of the linked libraries.
inline bool add_thread_setting(const thread_setting& s) {
  thread_settings().push_back(s);
  return true;
}

/// The thread numbers of the thread that runs tasks.
class thread_numbers {
 public:
  /// Sets the numbers for a task with that many cpus; 0: what was set before the first of them.
  void use(int cpus) {
    if (cpus != now_) [[unlikely]]
      change(cpus);
  }
  int now() const { return now_; }
  /// The largest of the numbers; 0: no library has one.
  static int most() {
    int most = 0;
    for (const thread_setting& s : thread_settings()) most = most < s.get() ? s.get() : most;
    return most;
  }

 private:
  [[gnu::cold, gnu::noinline]] void change(int cpus) {
    const base::list<thread_setting>& settings = thread_settings();
    if (now_ == 0) {  // all are asked before any is changed
      before_.clear();
      for (const thread_setting& s : settings) before_.push_back(s.get());
    }
    now_ = cpus;
    for (std::size_t i = 0; i < settings.size(); ++i) settings[i].set(cpus != 0 ? cpus : before_[i]);
  }

  int now_ = 0;
  base::list<int> before_;
};

}  // namespace manta::exec
