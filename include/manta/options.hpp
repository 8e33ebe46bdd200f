// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Settings of a run. What is given in code is overridden by MANTA_* variables
// of the environment, these by --manta-* on the command line of manta::run.
#pragma once

#include <string>

#include "manta/base/environment.hpp"
#include "manta/exec/engine.hpp"

namespace manta {

struct runtime_options {
  graph::quantities resources = {};  ///< named amounts that each rank has; MANTA_RESOURCES=name=2,other=0.5
  int cpus = 0;                 ///< cores of each rank; 0: its share of what its node's ranks may use; MANTA_CPUS
  double gpus = -1;             ///< devices of each rank; below 0: its share of those its node's ranks see; MANTA_GPUS
  bool rank0_tasks = false;     ///< rank 0 runs tasks as well, while its driver waits, from the start and not only once a task
                                ///< needs it; MANTA_RANK0_TASKS
  /// The last so many ranks stand by: they run nothing until a rank has died, whose place and resources one of them takes,
  /// of its node if there is one. Needs a launcher that lets the others go on (manta-run), else all ranks work. MANTA_SPARES
  int spares = 0;
  bool progress_thread = true;  ///< answer other ranks during long tasks; needs MPI_THREAD_SERIALIZED; MANTA_PROGRESS_THREAD
  std::uint64_t seed = 0;       ///< of this_task::seed; MANTA_SEED
  /// Tasks and calls that a rank may have submitted and that have not ended before async makes it wait; MANTA_MAX_QUEUED.
  std::size_t max_queued = std::size_t{1} << 22;
  /// Tasks that may wait on a rank at the same time. The next one that is to begin there fails instead, with task_failed: what
  /// recurses without an end is told so long before the memory is full. MANTA_MAX_WAITING
  std::size_t max_waiting = 100'000;
  /// Bytes of large values that a rank keeps in memory; 0: half of its memory, by control group, Slurm or machine, and half of
  /// what the other ranks of its node leave of theirs. What is more is dropped if other ranks have it too, or moves to a disk, longest unused first. MANTA_STORE_MEMORY=4G (K, M, G, T: powers of 1024).
  std::uint64_t store_memory = 0;
  /// The same for the ranks of each node together, which share it equally and lend each other what they leave;
  /// MANTA_NODE_STORE_MEMORY. 0: half of what the job may use there.
  std::uint64_t node_store_memory = 0;
  /// There. "": $SLURM_TMPDIR, $TMPDIR if it is not in memory, else the folder of the run; "none": store_full instead.
  /// MANTA_SPILL_FOLDER
  std::string spill_folder = {};
  /// A folder that all ranks see, for results that outlive the program: a later start of the same program takes them from
  /// there. "": none. MANTA_JOURNAL
  std::string journal = {};
  /// Seconds that a task took at least whose result is kept there; MANTA_JOURNAL_LEAST.
  double journal_least = 0.01;
  /// When the allocation ends, seconds since 1970; 0: as Slurm says, if this is one of its jobs. MANTA_END_TIME
  std::int64_t end_time = 0;
  /// So many seconds before it, or after a tenth of what was left at the start, nothing more is started; MANTA_END_MARGIN
  std::uint64_t end_margin = 60;
  /// Seconds from SIGTERM to the end, whatever the program is at, as batch systems give (Slurm's KillWait); 0: any number.
  /// MANTA_TERM_GRACE, which manta-run obeys, too
  double term_grace = 30;
  /// Seconds in which a task does not call manta after which it is taken for hung, and its rank ended, with a backtrace (an
  /// isolated task's process, and the task fails with it); 0: never. Needs the progress thread. Rank 0's counts. MANTA_WATCHDOG
  double watchdog = 0;
};

/// For MPI_Init_thread. Gangs compute inside MPI while the progress thread goes on beside them; programs without gangs
/// need not pay for MPI's locks.
inline int wanted_thread_level() {
  for (const wire::function_entry& f : wire::table<wire::function_entry>()) {
    if (f.gang) return MPI_THREAD_MULTIPLE;
  }
  return MPI_THREAD_SERIALIZED;
}

namespace detail {

inline graph::quantities parse_resources(const std::string& text, const std::string& source) {
  graph::quantities amounts;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find(',', begin);
    if (end == std::string::npos) end = text.size();
    const std::string item = text.substr(begin, end - begin);
    const std::size_t equal = item.find('=');
    char* rest = nullptr;
    const double amount = equal == std::string::npos ? -1 : std::strtod(item.c_str() + equal + 1, &rest);
    if (equal == std::string::npos || equal == 0 || *rest != '\0' || rest == item.c_str() + equal + 1 || amount < 0) {
      throw error("manta: " + source + ": \"" + item + "\" is not name=amount; write for example gpu=2,slot=0.5");
    }
    const graph::quantity q(item.substr(0, equal), amount);
    amounts[q.name] = q.units;
    begin = end + 1;
  }
  return amounts;
}

/// Takes --manta-x=y out of the command line and into the environment, where all settings are read from.
inline void move_arguments_to_environment(int& argc, char**& argv) {
  static constexpr const char* known[] = {"resources",    "cpus",         "gpus",     "rank0-tasks",   "spares",   "progress-thread", "seed",
                                          "max-queued",   "max-waiting", "store-memory", "node-store-memory", "spill-folder", "journal",   "journal-least",   "end-time",
                                          "end-margin",   "term-grace", "watchdog",     "heartbeat",    "recovery",  "stack-kib"};
  int kept = 0;
  for (int i = 0; i < argc; ++i) {
    const std::string text = argv[i];
    if (i == 0 || text.rfind("--manta-", 0) != 0) {
      argv[kept++] = argv[i];
      continue;
    }
    const std::size_t equal = text.find('=');
    const std::string name = text.substr(8, equal == std::string::npos ? equal : equal - 8);
    bool found = false;
    for (const char* k : known) found = found || name == k;
    if (!found || equal == std::string::npos) {
      std::string names;
      for (const char* k : known) names += (names.empty() ? "" : ", ") + std::string(k);
      throw error("manta: " + text + (found ? " lacks its value" : ": there is no such setting") +
                  "; write --manta-NAME=VALUE with NAME one of " + names);
    }
    std::string variable = "MANTA_";
    for (char c : name) variable += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    setenv(variable.c_str(), text.c_str() + equal + 1, 1);
  }
  argc = kept;
  argv[argc] = nullptr;
}

/// Does the launcher let the others go on when a rank dies? Open MPI 4.1 with --enable-recovery, 5 with --with-ft ulfm;
/// manta-run says so itself.
inline bool launcher_recovers() {
  const char* const flag = base::environment("OMPI_MCA_orte_enable_recovery");
  return (flag != nullptr && flag[0] == '1') || net::mpi_tolerates_deaths();
}

/// What holds on this rank. A mistake is not thrown here, where other ranks would wait for this one for ever, but
/// noted and thrown by all ranks together.
inline exec::engine_options effective(const runtime_options& o, int thread_level, bool alone, std::string mistake) {
  exec::engine_options e;
  e.mistake = std::move(mistake);
  if (!e.mistake.empty()) return e;
  try {
    if (o.cpus < 0) throw error("manta: runtime_options::cpus is negative; 0 means this rank's share of the cores");
    e.resources = o.resources;
    if (const char* text = base::environment("MANTA_RESOURCES")) e.resources = parse_resources(text, "MANTA_RESOURCES");
    graph::require_valid(e.resources);
    e.cpus = static_cast<int>(base::environment_count("MANTA_CPUS", static_cast<std::uint64_t>(o.cpus), 0, 1'000'000));
    e.gpus = base::environment_number("MANTA_GPUS", o.gpus);
    if (e.gpus > graph::gpu_set::most) {
      throw error("manta: runtime_options::gpus or MANTA_GPUS is no number of devices; give one from 0 to 64, or leave it "
                  "below 0 to use those that are there");
    }
    e.rank0_tasks = base::environment_flag("MANTA_RANK0_TASKS", o.rank0_tasks);
    e.progress_thread = base::environment_flag("MANTA_PROGRESS_THREAD", o.progress_thread);
    e.concurrent_mpi = thread_level == MPI_THREAD_MULTIPLE;
    e.max_waiting = base::environment_count("MANTA_MAX_WAITING", o.max_waiting, 1, ~std::uint64_t{0} >> 2);
    e.max_queued = base::environment_count("MANTA_MAX_QUEUED", o.max_queued, 1, ~std::uint64_t{0} >> 2);
    e.store_memory = base::environment_bytes("MANTA_STORE_MEMORY", o.store_memory);
    e.node_store_memory = base::environment_bytes("MANTA_NODE_STORE_MEMORY", o.node_store_memory);
    const char* const folder = base::environment("MANTA_SPILL_FOLDER");
    e.spill_folder = folder != nullptr ? folder : o.spill_folder;
    if (!e.spill_folder.empty() && e.spill_folder != "none" && ::access(e.spill_folder.c_str(), W_OK | X_OK) != 0) {
      throw error("manta: runtime_options::spill_folder or MANTA_SPILL_FOLDER: " + e.spill_folder + ": " +
                  std::strerror(errno) + "; name a folder that this process may write to, or none");
    }
    e.seed = base::environment_count("MANTA_SEED", o.seed, 0, ~std::uint64_t{0});
    e.ranks_per_node = static_cast<int>(base::environment_count("MANTA_RANKS_PER_NODE", net::network::any_number, 1,
                                                                net::network::any_number));
    e.recovery = base::environment_flag("MANTA_RECOVERY", launcher_recovers());
    if (o.spares < 0) throw error("manta: runtime_options::spares is negative; give the number of ranks that stand by");
    e.spares = static_cast<int>(base::environment_count("MANTA_SPARES", static_cast<std::uint64_t>(o.spares), 0, 1'000'000));
    if (!e.recovery) e.spares = 0;
    e.heartbeat_ns = static_cast<std::int64_t>(1e9 * base::environment_number("MANTA_HEARTBEAT", 30, 0));
    const char* const journal = base::environment("MANTA_JOURNAL");
    e.journal = journal != nullptr ? journal : o.journal;
    e.journal_least = base::environment_number("MANTA_JOURNAL_LEAST", o.journal_least, 0);
    e.end_time = static_cast<std::int64_t>(base::environment_count("MANTA_END_TIME", static_cast<std::uint64_t>(o.end_time), 0, ~std::uint64_t{0} >> 1));
    e.end_margin = static_cast<std::int64_t>(base::environment_count("MANTA_END_MARGIN", o.end_margin, 0, 1'000'000));
    e.term_grace = base::environment_number("MANTA_TERM_GRACE", o.term_grace, 0);
    e.watchdog_ns = static_cast<std::int64_t>(1e9 * base::environment_number("MANTA_WATCHDOG", o.watchdog, 0));
    if (e.watchdog_ns > 0 && !e.progress_thread) {
      throw error("manta: runtime_options::watchdog or MANTA_WATCHDOG needs the progress thread, which is switched off");
    }
    base::environment_count("MANTA_STACK_KIB", 0, 32, 16'777'216);
    if (e.progress_thread && !alone && thread_level < MPI_THREAD_SERIALIZED) {
      throw error(std::string("manta: runtime: MPI was initialised with ") +
                  (thread_level == MPI_THREAD_SINGLE ? "MPI_THREAD_SINGLE" : "MPI_THREAD_FUNNELED") +
                  ", but the progress thread needs MPI_THREAD_SERIALIZED; ask MPI_Init_thread for it, or set "
                  "runtime_options::progress_thread = false (then a rank in a long task does not answer others)");
    }
  } catch (const std::exception& wrong) {
    e.resources = {};
    e.mistake = wrong.what();
  }
  return e;
}

}  // namespace detail

}  // namespace manta
