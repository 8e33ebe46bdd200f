// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a task can ask about itself. In the driver the answers are the driver's.
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::detail {
inline const exec::running_task& current_task(const char* call) {
  if (const exec::isolated_view* view = exec::engine::isolated()) return view->task;
  return exec::engine::here(call).current_task();
}
}  // namespace manta::detail

namespace manta::this_task {

/// The task's id: derived from the parent's id and the order of submission, so the same in every run and for any number
/// of ranks.
inline std::uint64_t id() { return detail::current_task("this_task::id").id; }
/// The name given in the options, else that of the function.
inline std::string name() { return std::string(detail::current_task("this_task::name").name()); }
/// Which attempt this is: 0 in the first run of a task, 1 in its first retry, ...
inline int attempt() { return static_cast<int>(detail::current_task("this_task::attempt").attempt); }
/// The devices that the running task or actor holds (in a gang: this member): places in the order of the devices that
/// the process sees, as in CUDA_VISIBLE_DEVICES, so good for cudaSetDevice. Empty if it did not ask for any.
inline std::vector<int> gpu_ids() {
  const graph::request* holder = detail::current_task("this_task::gpu_ids").holder();
  std::vector<int> ids;
  for (int i = 0; holder != nullptr && i < graph::gpu_set::most; ++i) {
    if ((holder->granted.devices >> i & 1) != 0) ids.push_back(i);
  }
  return ids;
}
/// Whether the task should come to an end early: true once it has been cancelled, the driver has thrown, or the run has
/// to end. Receives what is there, at most every 20 us, so a loop may ask each time round. If the task was cancelled,
/// nobody looks at what it returns or throws. In an isolated task also true once its deadline is over, a second before
/// its process is ended.
inline bool stop_requested() {
  if (const exec::isolated_view* view = exec::engine::isolated()) return view->stop_requested();
  exec::engine& e = exec::engine::here("this_task::stop_requested");
  const exec::engine::guard g(e);
  return e.stop_requested();
}
/// Tells whether the task that asked for it is to stop, as std::stop_token does. Other tasks of its rank may ask it too,
/// while that task runs. It knows what this rank has received, and receives nothing itself.
class stop_token {
 public:
  /// Never stops.
  stop_token() = default;
  /// For get_stop_token.
  explicit stop_token(const bool* flag) : flag_(flag) {}
  /// Whether the task is to stop; does not wait.
  [[nodiscard]] bool stop_requested() const { return flag_ != nullptr && *flag_; }

 private:
  const bool* flag_ = nullptr;
};
/// The token of the running task or call. In an isolated task there is none: it throws.
inline stop_token get_stop_token() { return stop_token(&detail::current_task("this_task::get_stop_token").stop); }
/// A seed for random numbers, derived from the job's seed and the task's place in the graph.
inline std::uint64_t seed() {
  if (const exec::isolated_view* view = exec::engine::isolated()) return base::mix(view->seed, view->task.id);
  exec::engine& e = exec::engine::here("this_task::seed");
  return base::mix(e.seed(), e.current_task().id);
}

}  // namespace manta::this_task
