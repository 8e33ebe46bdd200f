// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The settings of a run: what they mean, what holds where nothing is said, and
// how they are read from code, environment and command line.
#pragma once

#include <string>

#include "manta/base/environment.hpp"
#include "manta/exec/engine.hpp"
#include "manta/quantities.hpp"

namespace manta {

/// What a run may use and how it behaves. Each member can be given in three ways: in code, as a variable of the
/// environment (`max_queued`: MANTA_MAX_QUEUED), and on the command line of manta::run (`--manta-max-queued=N`). The
/// command line wins over the environment, the environment over the code. A wrong value makes all ranks throw
/// manta::error. The table in scripts/settings.md is made from this struct by `tests/documents/settings.py --write`.
struct runtime_options {
  /// Named amounts that each rank offers to tasks; ranks may differ. In the environment: `slot=2,licence=0.5`.
  quantities resources = {};
  /// Cores of each rank. 0: an equal share of the cores that the ranks of its node may use.
  int cpus = 0;
  /// Devices of each rank. Below 0: an equal share of the devices that the ranks of its node see.
  double gpus = -1;
  /// Rank 0 runs tasks from the start, whenever the driver waits. Without this setting it does so only after the first
  /// task that needs rank 0.
  bool rank0_tasks = false;
  /// Number of spare ranks: the last ranks of the job, which stand by. When another rank dies, a spare rank takes its
  /// place and its resources; one of the same node if there is one. Rank 0's value holds. Without a launcher that
  /// survives deaths, such as manta-run, all ranks work.
  int spares = 0;
  /// A helper thread answers other ranks while a long task runs. It needs MPI_THREAD_SERIALIZED.
  bool progress_thread = true;
  /// Start of all random numbers that this_task::seed() gives. Rank 0's value holds.
  std::uint64_t seed = 0;
  /// Number of unfinished tasks and calls that a rank may have submitted; above it, the next async waits.
  std::size_t max_queued = 4'194'304;
  /// Number of tasks that may wait on a rank at the same time. The next task that is to begin there fails instead, with
  /// task_failed: a recursion without an end fails long before the memory is full.
  std::size_t max_waiting = 100'000;
  /// Bytes of large values that a rank keeps in memory; what is more is dropped if another rank has it, or moves to a
  /// disk. In the environment also `512M`, `4G` (K, M, G, T: powers of 1024). 0: the rank's share of node_store_memory,
  /// and half of what the other ranks of the node leave of theirs.
  std::uint64_t store_memory = 0;
  /// Bytes of large values that the ranks of a node keep in memory together, in equal shares. 0: half of the memory
  /// that the job may use there, by its control group, by Slurm, or by the machine.
  std::uint64_t node_store_memory = 0;
  /// Folder for large values that exceed the memory. Empty: $SLURM_TMPDIR or $TMPDIR, the first that lies on a
  /// disk, else the folder in which the program started. `none`: no value moves to a disk, and manta::store_full
  /// is thrown instead.
  std::string spill_folder = {};
  /// Folder, seen by all ranks, in which results outlive the program: the next start takes them from there. Empty: no
  /// journal. Rank 0's value holds.
  std::string journal = {};
  /// Seconds that a task must have taken for its result to be kept in the journal.
  double journal_least = 0.01;
  /// When the allocation ends, in seconds since 1970. 0: as Slurm says, if the program runs in a job of Slurm. Rank
  /// 0's value holds.
  std::int64_t end_time = 0;
  /// Seconds before the end of the allocation after which nothing more is started; at most a tenth of the time that was
  /// left at the start. Rank 0's value holds.
  std::uint64_t end_margin = 60;
  /// Seconds from SIGTERM to the end of the process, whatever the program does then, as batch systems give (Slurm's
  /// KillWait). 0: no limit. manta-run obeys MANTA_TERM_GRACE too.
  double term_grace = 30;
  /// Seconds without a call to manta after which a task counts as hung: its rank prints a backtrace and ends (of an
  /// isolated task only the child process). 0: never. It needs the progress thread. Rank 0's value holds.
  double watchdog = 0;
  /// Folder for tasks that have failed or that the watchdog has ended: each is a file with its function and its
  /// arguments, which `--manta-rerun=FILE` runs again. Empty: they are not kept.
  std::string keep_failed = {};
  /// The program goes on by itself after a rank has died: it asks runtime::deaths(), and makes no MPI call that
  /// includes a dead rank. Without this setting, runtime::run throws manta::rank_lost on every rank after a run in
  /// which a rank has died, and a death outside of runs ends the job: the program's MPI calls would wait for ever.
  bool handles_deaths = false;
  /// What rank 0 says on standard error at the end of a run. Empty: one line if the run took ten seconds or more. `0`:
  /// nothing. `1`: a table. Anything else: the name of a file for a summary in JSON, and the line. In names of files
  /// here and below, %j stands for the number of the Slurm job. Rank 0's value holds for this and what follows.
  std::string summary = {};
  /// File for a page that shows the run in a browser, also while it runs. Empty: none.
  std::string report = {};
  /// File for metrics in the text format of Prometheus, also while it runs. Empty: none.
  std::string metrics = {};
  /// File for a trace of the run's tasks, which ui.perfetto.dev and speedscope.app show. It is written at the end of
  /// the run. Empty: none.
  std::string trace = {};
  /// Bytes that the trace has at most; from 1 MiB on. Short tasks are merged for that.
  std::uint64_t trace_bytes = 134'217'728;
  /// Seconds between two lines on standard error, or two versions of the status file, that say how far the run is; at
  /// least 5. 0: no lines, and a new status file every 30 seconds.
  double status = 0;
  /// File that says in JSON how far the run is. Empty: none.
  std::string status_file = {};
  /// File that has the state of the run in JSON each time that SIGUSR2 asks for it, beside standard error. Empty: none.
  std::string state = {};
  /// How far the run is stands in the comment of the Slurm job, which `squeue -o %k` shows; a new one each minute.
  bool slurm_comment = false;
};

/// The level that MPI_Init_thread should be asked for: MPI_THREAD_MULTIPLE if the program has gang tasks, whose members
/// compute inside MPI beside the progress thread, else MPI_THREAD_SERIALIZED, which spares MPI its locks.
MANTA_DECL int wanted_thread_level();

namespace detail {

/// Whether the launcher lets the other ranks go on when one dies, as mpirun of Open MPI 4.1 does with --enable-recovery
/// and that of Open MPI 5 with --with-ft ulfm. manta-run says so itself, by MANTA_RECOVERY.
inline bool launcher_recovers() {
  const char* const flag = base::environment("OMPI_MCA_orte_enable_recovery");
  return (flag != nullptr && flag[0] == '1') || net::mpi_tolerates_deaths();
}

/// Settings that code cannot give: they belong to the launcher and the machine. Environment and command line as above.
struct environment_options {
  /// The program goes on when a rank other than 0 dies. manta-run sets it; else it is found out from Open MPI.
  bool recovery = launcher_recovers();
  /// Seconds after which a rank that does not answer rank 0 is given up and, where possible, killed. 0: never.
  double heartbeat = 30;
  /// Size of each task's stack in KiB, from 32 on. 0: the stack limit of the process, but from 1 to 8 MiB.
  std::uint64_t stack_kib = 0;
  /// File of a task that keep_failed has kept. A program that calls manta::run runs this task alone instead of its
  /// driver, in one process. Empty: none.
  std::string rerun = {};
};

/// What may stand for NAME in --manta-NAME=VALUE: the members of runtime_options and environment_options.
inline constexpr const char* setting_names[] = {"resources",
                                                "cpus",
                                                "gpus",
                                                "rank0-tasks",
                                                "spares",
                                                "progress-thread",
                                                "seed",
                                                "max-queued",
                                                "max-waiting",
                                                "store-memory",
                                                "node-store-memory",
                                                "spill-folder",
                                                "journal",
                                                "journal-least",
                                                "end-time",
                                                "end-margin",
                                                "term-grace",
                                                "watchdog",
                                                "keep-failed",
                                                "handles-deaths",
                                                "summary",
                                                "report",
                                                "metrics",
                                                "trace",
                                                "trace-bytes",
                                                "status",
                                                "status-file",
                                                "state",
                                                "slurm-comment",
                                                "recovery",
                                                "heartbeat",
                                                "stack-kib",
                                                "rerun"};

/// The file of a kept task that is to be run instead of the program; empty: none is.
MANTA_DECL std::string task_to_run_again();

/// Reads `name=amount,name=amount`; `source` says in errors where the text stood.
MANTA_DECL quantities parse_resources(const std::string& text, const std::string& source);

/// All settings in words, with their present values: what --manta-help and MANTA_HELP=1 print.
MANTA_DECL std::string settings_help();

/// A line for each variable MANTA_* of the environment that manta does not know, with the nearest one that it knows;
/// empty: there is none.
MANTA_DECL std::string unknown_settings();

/// Moves each --manta-NAME=VALUE from the command line to the environment, from which all settings are read.
MANTA_DECL void move_arguments_to_environment(int& argc, char**& argv);

/// The settings that hold on this rank. A mistake is not thrown here, where the other ranks would wait for this one for
/// ever, but noted in the result: all ranks throw it together.
MANTA_DECL exec::engine_options effective(const runtime_options& o, int thread_level, bool alone, std::string mistake);

}  // namespace detail

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/options.ipp"
#endif
