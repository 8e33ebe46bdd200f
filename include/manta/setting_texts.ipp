// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The settings for --manta-help: made of options.hpp by tests/documents/settings.py --write.
#pragma once

namespace manta::detail {

struct setting_text {
  const char *name, *otherwise, *meaning;
};

// clang-format off
inline constexpr setting_text setting_texts[] = {
    {"resources", "empty",
     "Named amounts that each rank offers to tasks; ranks may differ. In the environment: "
     "'slot=2,licence=0.5'."},
    {"cpus", "0",
     "Cores of each rank. 0: an equal share of the cores that the ranks of its node may use."},
    {"gpus", "-1",
     "Devices of each rank. Below 0: an equal share of the devices that the ranks of its node "
     "see."},
    {"rank0-tasks", "false",
     "Rank 0 runs tasks from the start, whenever the driver waits. Without this setting it does "
     "so only after the first task that needs rank 0."},
    {"spares", "0",
     "Number of spare ranks: the last ranks of the job, which stand by. When another rank dies, "
     "a spare rank takes its place and its resources; one of the same node if there is one. Rank "
     "0's value holds. Without a launcher that survives deaths, such as manta-run, all ranks "
     "work."},
    {"progress-thread", "true",
     "A helper thread answers other ranks while a long task runs. It needs "
     "MPI_THREAD_SERIALIZED."},
    {"seed", "0",
     "Start of all random numbers that this_task::seed() gives. Rank 0's value holds."},
    {"max-queued", "4194304",
     "Number of unfinished tasks and calls that a rank may have submitted; above it, the next "
     "async waits."},
    {"max-waiting", "100000",
     "Number of tasks that may wait on a rank at the same time. The next task that is to begin "
     "there fails instead, with task_failed: a recursion without an end fails long before the "
     "memory is full."},
    {"store-memory", "0",
     "Bytes of large values that a rank keeps in memory; what is more is dropped if another rank "
     "has it, or moves to a disk. In the environment also '512M', '4G' (K, M, G, T: powers of "
     "1024). 0: the rank's share of node_store_memory, and half of what the other ranks of the "
     "node leave of theirs."},
    {"node-store-memory", "0",
     "Bytes of large values that the ranks of a node keep in memory together, in equal shares. "
     "0: half of the memory that the job may use there, by its control group, by Slurm, or by "
     "the machine."},
    {"spill-folder", "empty",
     "Folder for large values that exceed the memory. Empty: $SLURM_TMPDIR or $TMPDIR, the first "
     "that lies on a disk, else the folder in which the program started. 'none': no value moves "
     "to a disk, and manta::store_full is thrown instead."},
    {"journal", "empty",
     "Folder, seen by all ranks, in which results outlive the program: the next start takes them "
     "from there. Empty: no journal. Rank 0's value holds."},
    {"journal-least", "0.01",
     "Seconds that a task must have taken for its result to be kept in the journal."},
    {"end-time", "0",
     "When the allocation ends, in seconds since 1970. 0: as Slurm says, if the program runs in "
     "a job of Slurm. Rank 0's value holds."},
    {"end-margin", "60",
     "Seconds before the end of the allocation after which nothing more is started; at most a "
     "tenth of the time that was left at the start. Rank 0's value holds."},
    {"term-grace", "30",
     "Seconds from SIGTERM to the end of the process, whatever the program does then, as batch "
     "systems give (Slurm's KillWait). 0: no limit. manta-run obeys MANTA_TERM_GRACE too."},
    {"watchdog", "0",
     "Seconds without a call to manta after which a task counts as hung: its rank prints a "
     "backtrace and ends (of an isolated task only the child process). 0: never. It needs the "
     "progress thread. Rank 0's value holds."},
    {"keep-failed", "empty",
     "Folder for tasks that have failed or that the watchdog has ended: each is a file with its "
     "function and its arguments, which '--manta-rerun=FILE' runs again. Empty: they are not "
     "kept."},
    {"handles-deaths", "false",
     "The program goes on by itself after a rank has died: it asks runtime::deaths(), and makes "
     "no MPI call that includes a dead rank. Without this setting, runtime::run throws "
     "manta::rank_lost on every rank after a run in which a rank has died, and a death outside "
     "of runs ends the job: the program's MPI calls would wait for ever."},
    {"summary", "empty",
     "What rank 0 says on standard error at the end of a run. Empty: one line if the run took "
     "ten seconds or more. '0': nothing. '1': a table. Anything else: the name of a file for a "
     "summary in JSON, and the line. In names of files here and below, %j stands for the number "
     "of the Slurm job. Rank 0's value holds for this and what follows."},
    {"report", "empty",
     "File for a page that shows the run in a browser, also while it runs. Empty: none."},
    {"metrics", "empty",
     "File for metrics in the text format of Prometheus, also while it runs. Empty: none."},
    {"trace", "empty",
     "File for a trace of the run's tasks, which ui.perfetto.dev and speedscope.app show. It is "
     "written at the end of the run. Empty: none."},
    {"trace-bytes", "134217728",
     "Bytes that the trace has at most; from 1 MiB on. Short tasks are merged for that."},
    {"status", "0",
     "Seconds between two lines on standard error, or two versions of the status file, that say "
     "how far the run is; at least 5. 0: no lines, and a new status file every 30 seconds."},
    {"status-file", "empty",
     "File that says in JSON how far the run is. Empty: none."},
    {"state", "empty",
     "File that has the state of the run in JSON each time that SIGUSR2 asks for it, beside "
     "standard error. Empty: none."},
    {"slurm-comment", "false",
     "How far the run is stands in the comment of the Slurm job, which 'squeue -o %k' shows; a "
     "new one each minute."},
    {"recovery", "found",
     "out The program goes on when a rank other than 0 dies. manta-run sets it; else it is found "
     "out from Open MPI."},
    {"heartbeat", "30",
     "Seconds after which a rank that does not answer rank 0 is given up and, where possible, "
     "killed. 0: never."},
    {"stack-kib", "0",
     "Size of each task's stack in KiB, from 32 on. 0: the stack limit of the process, but from "
     "1 to 8 MiB."},
    {"rerun", "empty",
     "File of a task that keep_failed has kept. A program that calls manta::run runs this task "
     "alone instead of its driver, in one process. Empty: none."},
};
// clang-format on

}  // namespace manta::detail
