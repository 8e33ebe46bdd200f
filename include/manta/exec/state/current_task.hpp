// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Which task has the rank's thread. Each stack that waits knows its own task and
// says so when it goes on; while a rank waits or looks for work, it is the
// driver's, which on other ranks than 0 means that nothing of the user's runs.
//
// This part also keeps what follows from the task: the numbers of threads that
// libraries use, and what manta-run sees.
#pragma once

#include <cstdint>

#include "manta/base/launcher.hpp"
#include "manta/exec/rank/invocation.hpp"
#include "manta/exec/rank/threads.hpp"

namespace manta::exec {

class current_task {
 public:
  explicit current_task(base::launcher::notes& page) : page_(&page) {}
  current_task(const current_task&) = delete;
  current_task& operator=(const current_task&) = delete;

  /// The task that has the thread, or the driver's.
  running_task& get() const { return *now_; }
  running_task& operator*() const { return *now_; }  ///< As get().
  running_task* operator->() const { return now_; }  ///< As get().
  bool is_driver(const running_task& task) const { return &task == &driver_; }
  bool is_driver() const { return now_ == &driver_; }  ///< Does the driver, or no code of the user, have the thread?

  /// A run begins: the ids of all tasks come from the driver's.
  void begin_run(std::uint64_t id) {
    driver_ = running_task{id, graph::no_index};
    ++page_->unfinished;
    leave();
  }
  /// The run is over.
  void end_run() {
    page_->task = 0;
    --page_->unfinished;
  }

  /// The rank's thread leaves its task, which waits or has ended.
  void leave() { set(driver_); }
  /// The task, which has been left, goes on with the numbers of threads that it set.
  [[gnu::always_inline]] void resume(running_task& task) {  // twice a task
    set(task);
    threads_.use(task.threads());
  }

  /// A task begins on the current stack, and ends with this object.
  class scope {
   public:
    scope(current_task& current, running_task& task) : running_(current), before_(current.get()) {
      current.resume(task);
    }
    ~scope() { running_.resume(before_); }
    /// The task that had the thread before, or the driver.
    running_task& before() const { return before_; }
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

   private:
    current_task& running_;
    running_task& before_;
  };

 private:
  void set(running_task& task) {
    now_ = &task;
    page_->task = task.id;
  }

  running_task driver_;
  running_task* now_ = &driver_;
  base::launcher::notes* page_;
  thread_numbers threads_;
};

}  // namespace manta::exec
