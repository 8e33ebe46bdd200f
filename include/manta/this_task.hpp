// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a task can find out about itself. In the driver these functions describe the driver.
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::detail {
inline const exec::running_task& current_task(const char* call) {
  if (const exec::isolated_view* view = exec::engine::isolated()) return view->task;
  return exec::engine::here(call).current_task();
}
/// In a child process: if what runs now has not ended that many nanoseconds from now, the process is ended. 0: it may
/// take as long as it likes. Does nothing elsewhere.
inline void bound_isolated_call(std::int64_t ns) {
  if (const exec::isolated_view* view = exec::engine::isolated())
    view->due->store(ns > 0 ? base::now_ns() + ns : 0, std::memory_order_relaxed);
}
}  // namespace manta::detail

namespace manta::this_task {

/// The task's id. It is derived from the parent's id and the order of submission, so it is the same in every run and on
/// any number of ranks.
inline std::uint64_t id() { return detail::current_task("this_task::id").id; }
/// The name given in the options, else the function's name.
inline std::string name() { return std::string(detail::current_task("this_task::name").name()); }
/// The number of this attempt: 0 in the first run of a task, 1 in its first retry, ...
inline int attempt() { return static_cast<int>(detail::current_task("this_task::attempt").attempt); }
/// The devices that the running task or actor holds (in a gang, this member), as indices into the devices that the
/// process sees, which cudaSetDevice takes (see CUDA_VISIBLE_DEVICES). Empty if it did not ask for devices.
inline std::vector<int> gpu_ids() { return detail::current_task("this_task::gpu_ids").gpu_ids(); }
/// Whether the task should end early: true once it has been cancelled, the driver has thrown, or the run has to
/// end; in an isolated task also once its deadline is over, a second before its process is ended. Receives messages
/// that have arrived, at most every 20 us, so a loop may call it in each turn. What a cancelled task returns or
/// throws is ignored.
inline bool stop_requested() {
  if (const exec::isolated_view* view = exec::engine::isolated()) return view->stop_requested();
  exec::engine& e = exec::engine::here("this_task::stop_requested");
  const exec::engine::guard g(e);
  return e.loop().stop_requested();
}
/// Tells whether the task that made it with get_stop_token is to stop, as std::stop_token does. Other tasks of this
/// rank may use it too while that task runs. It receives no messages: it knows what this rank has received.
class stop_token {
 public:
  /// Never stops.
  stop_token() = default;
  /// Refers to a task's flag; get_stop_token makes such tokens.
  explicit stop_token(const bool* flag) : flag_(flag) {}
  /// Whether the task is to stop; does not wait.
  [[nodiscard]] bool stop_requested() const { return flag_ != nullptr && *flag_; }

 private:
  const bool* flag_ = nullptr;
};
/// The token of the running task or call. Throws in an isolated task, which has none.
inline stop_token get_stop_token() { return stop_token(&detail::current_task("this_task::get_stop_token").stop); }
/// A seed for random numbers, derived from the job's seed and the task's place in the graph.
inline std::uint64_t seed() {
  if (const exec::isolated_view* view = exec::engine::isolated()) return base::mix(view->seed, view->task.id);
  exec::engine& e = exec::engine::here("this_task::seed");
  return base::mix(e.seed(), e.current_task().id);
}

}  // namespace manta::this_task
