// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How this rank runs a function: on the current stack, as the task that has the
// thread, outside the lock while the user's code runs. An isolated function runs in
// a child process instead.
//
// This part sends nothing. What the function itself calls may wait.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/account/time_account.hpp"
#include "manta/exec/rank/failure_writer.hpp"
#include "manta/exec/state/current_task.hpp"
#include "manta/exec/state/departure.hpp"
#include "manta/exec/state/late_tasks.hpp"
#include "manta/exec/state/pace.hpp"
#include "manta/exec/state/started_list.hpp"
#include "manta/exec/value/journaling.hpp"
#include "manta/store/ledger.hpp"

namespace manta::exec {

class runner {
 public:
  /// The parts that a runner uses.
  struct parts {
    biased_lock& lock;
    store::ledger& ledger;
    const failure_writer& failures;
    current_task& running;
    started_list& started;
    exec::pace& pace;
    exec::time_account& time_account;
    late_tasks& late;
    const exec::departure& departure;
    exec::journaling& journaling;
  };
  /// What others do, with `rank` first.
  struct hooks {
    void* rank;
    /// Runs the function in a child process. Throws isolated_failure.
    void (*run_isolated)(void* rank, invocation& call, function_id function, running_task& identity);
    /// Keeps a task that has failed.
    void (*keep)(void* rank, const invocation& call, const running_task& task, const store::failure_ptr& why);
  };

  runner(parts of_it, hooks others) : below_(of_it), others_(others) {}

  /// Runs a function as the task `identity`; false and the reason if it threw, or too many tasks have started. `ns`
  /// is how long it took, for those who want to know: it costs a look at the clock, a tenth of a small task.
  MANTA_DECL bool invoke(invocation& call, function_id function, running_task& identity, store::failure_ptr& why,
                         std::uint64_t* ns = nullptr);
  /// Tasks that fail are kept from now on.
  void keep_failed() { keeps_failed_ = true; }
  /// Runs a function and lets through what it throws; `identity` has the thread already.
  void run_function(invocation& call, function_id function, running_task& identity) {
    identity.isolated() ? others_.run_isolated(others_.rank, call, function, identity)
                        : wire::function_at(function).run(call);
  }
  /// After a constructor has run: an actor that has lived before, in this start of the program or the one before, goes
  /// on with its last checkpoint instead of what the constructor has made. False and the reason if that fails.
  MANTA_DECL bool load_checkpoint(invocation& call, const graph::task& t, store::failure_ptr& why);

 private:
  void keep_inputs(const invocation& call);  ///< The inputs will be needed here again.
  /// Is what the task is made of to be kept until it has ended? It is not yet.
  bool has_to_keep(const invocation& call, const running_task& identity) const {
    return keeps_failed_ && !identity.keeps_arguments && call.self == nullptr && call.team == nullptr;
  }
  /// As invoke(). Keeps what the task is made of until it has ended, and for longer if it fails.
  MANTA_DECL bool invoke_and_keep(invocation& call, function_id function, running_task& identity,
                                  store::failure_ptr& why, std::uint64_t* ns);

  const parts below_;
  const hooks others_;
  bool keeps_failed_ = false;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/work/runner.ipp"
#endif
