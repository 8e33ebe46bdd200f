// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How the settings of a run are read from code, environment and command line.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/options.hpp"
#include "manta/output/append_file.hpp"
#include "manta/setting_texts.ipp"

namespace manta {

MANTA_DECL int wanted_thread_level() {
  for (const wire::function_entry& f : wire::table<wire::function_entry>()) {
    if (f.gang) return MPI_THREAD_MULTIPLE;
  }
  return MPI_THREAD_SERIALIZED;
}

namespace detail {

MANTA_DECL quantities parse_resources(const std::string& text, const std::string& source) {
  quantities amounts;
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

/// The variable of the environment for a setting of this name.
inline std::string variable_of(std::string_view setting) {
  std::string variable = "MANTA_";
  for (const char c : setting) {
    variable += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return variable;
}

MANTA_DECL std::string settings_help() {
  std::string text =
      "manta's settings: as an option of a program that calls manta::run, as a variable of the environment, or as a "
      "member of\nmanta::runtime_options. The option wins over the variable, the variable over the code.\n";
  for (const setting_text& s : setting_texts) {
    const std::string variable = variable_of(s.name);
    const char* const now = base::environment(variable.c_str());
    text += base::text("\n  --manta-{}=   {}   default: {}", s.name, variable, s.otherwise);
    if (now != nullptr) text += base::text(", now: {}", now);
    std::string line = "\n     ";
    for (std::string_view rest = s.meaning; !rest.empty();) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(word.size() == rest.size() ? word.size() : word.size() + 1);
      if (line.size() + word.size() > 110) {
        text += line;
        line = "\n     ";
      }
      (line += ' ') += word;
    }
    text += line + "\n";
  }
  return text;
}

/// How many letters have to be changed, added or left out to make one word of the other.
inline std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row.back();
}

MANTA_DECL std::string unknown_settings() {
  // What the launcher, scripts and parts that stand apart from runs read.
  constexpr const char* others[] = {"HELP",     "RANKS_PER_NODE", "RUN",    "PROGRESS", "PYTHON", "SLURM",
                                    "LAUNCHER", "TEST",           "BUILD",  "MESON",    "CXX",    "SCRATCH",
                                    "LOGIN",    "RANDOM",         "CANCEL", "STACK_",   "FARM_",  "SERVE_"};
  std::string text;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view entry = *at, name = entry.substr(0, entry.find('='));
    if (!name.starts_with("MANTA_")) continue;
    const auto is_it = [&](const char* setting) { return name == variable_of(setting); };
    const auto is_other = [&](const char* begin) { return name.substr(6).starts_with(begin); };
    if (std::ranges::any_of(setting_names, is_it) || std::ranges::any_of(others, is_other)) continue;
    const char* const nearest = *std::ranges::min_element(
        setting_names, {}, [&](const char* setting) { return distance(name, variable_of(setting)); });
    const std::string right = variable_of(nearest);
    const std::size_t most = std::min<std::size_t>(4, (name.size() - 6) / 2);  // else they have nothing in common
    const std::string hint = distance(name, right) <= most ? base::text("did you mean {}? ", right) : std::string();
    text += base::text("manta: {} is set, and there is no such setting; {}--manta-help lists all\n", name, hint);
  }
  return text;
}

MANTA_DECL void move_arguments_to_environment(int& argc, char**& argv) {
  int kept = 0;
  for (int i = 0; i < argc; ++i) {
    const std::string text = argv[i];
    if (i > 0 && text == "--manta-help") {
      ::setenv("MANTA_HELP", "1", 1);
      continue;
    }
    if (i == 0 || text.rfind("--manta-", 0) != 0) {
      argv[kept++] = argv[i];
      continue;
    }
    const std::size_t equal = text.find('=');
    const std::string name = text.substr(8, equal == std::string::npos ? equal : equal - 8);
    bool found = false;
    for (const char* k : setting_names) found = found || name == k;
    if (!found || equal == std::string::npos) {
      std::string names;
      for (const char* k : setting_names) names += (names.empty() ? "" : ", ") + std::string(k);
      throw error("manta: " + text + (found ? " lacks its value" : ": there is no such setting") +
                  "; write --manta-NAME=VALUE with NAME one of " + names);
    }
    setenv(variable_of(name).c_str(), text.c_str() + equal + 1, 1);
  }
  argc = kept;
  argv[argc] = nullptr;
}

/// What the rank offers to tasks, and how much work and memory it may hold.
inline void read_capacities(exec::engine_options& e, const runtime_options& o) {
  if (o.cpus < 0) throw error("manta: runtime_options::cpus is negative; 0 means this rank's share of the cores");
  e.resources = o.resources;
  if (const char* text = base::environment("MANTA_RESOURCES")) e.resources = parse_resources(text, "MANTA_RESOURCES");
  graph::require_valid(e.resources);
  e.cpus = static_cast<int>(base::environment_count("MANTA_CPUS", static_cast<std::uint64_t>(o.cpus), 0, 1'000'000));
  e.gpus = base::environment_number("MANTA_GPUS", o.gpus);
  if (e.gpus > graph::gpu_set::most) {
    throw error(
        "manta: runtime_options::gpus or MANTA_GPUS is no number of devices; give one from 0 to 64, or leave it "
        "below 0 to use those that are there");
  }
  e.rank0_tasks = base::environment_flag("MANTA_RANK0_TASKS", o.rank0_tasks);
  e.ranks_per_node = static_cast<int>(
      base::environment_count("MANTA_RANKS_PER_NODE", net::network::any_number, 1, net::network::any_number));
  e.max_waiting = base::environment_count("MANTA_MAX_WAITING", o.max_waiting, 1, ~std::uint64_t{0} >> 2);
  e.max_queued = base::environment_count("MANTA_MAX_QUEUED", o.max_queued, 1, ~std::uint64_t{0} >> 2);
  e.store_memory = base::environment_bytes("MANTA_STORE_MEMORY", o.store_memory);
  e.node_store_memory = base::environment_bytes("MANTA_NODE_STORE_MEMORY", o.node_store_memory);
}

/// The folders in which values are kept: on a disk during the run, and in the journal beyond it.
inline void read_folders(exec::engine_options& e, const runtime_options& o) {
  const char* const folder = base::environment("MANTA_SPILL_FOLDER");
  e.spill_folder = folder != nullptr ? folder : o.spill_folder;
  if (!e.spill_folder.empty() && e.spill_folder != "none" && ::access(e.spill_folder.c_str(), W_OK | X_OK) != 0) {
    throw error("manta: runtime_options::spill_folder or MANTA_SPILL_FOLDER: " + e.spill_folder + ": " +
                std::strerror(errno) + "; name a folder that this process may write to, or none");
  }
  const char* const kept = base::environment("MANTA_KEEP_FAILED");
  e.keep_failed = kept != nullptr ? kept : o.keep_failed;
  if (!e.keep_failed.empty()) {
    output::make_folders(e.keep_failed);
    if (::access(e.keep_failed.c_str(), W_OK | X_OK) != 0) {
      throw error("manta: runtime_options::keep_failed or MANTA_KEEP_FAILED: " + e.keep_failed + ": " +
                  std::strerror(errno) + "; name a folder that this process may write to");
    }
    e.keep_failed = base::absolute_path(e.keep_failed);  // the program may go to another folder
  }
  const char* const journal = base::environment("MANTA_JOURNAL");
  e.journal.folder = journal != nullptr ? journal : o.journal;
  e.journal.least = base::environment_number("MANTA_JOURNAL_LEAST", o.journal_least, 0);
}

/// What happens when ranks die or hang, and when the run has to end.
inline void read_endings(exec::engine_options& e, const runtime_options& o) {
  const environment_options machine;
  e.recovery = base::environment_flag("MANTA_RECOVERY", machine.recovery);
  if (o.spares < 0) throw error("manta: runtime_options::spares is negative; give the number of ranks that stand by");
  e.spares =
      static_cast<int>(base::environment_count("MANTA_SPARES", static_cast<std::uint64_t>(o.spares), 0, 1'000'000));
  if (!e.recovery) e.spares = 0;
  e.handles_deaths = base::environment_flag("MANTA_HANDLES_DEATHS", o.handles_deaths);
  e.heartbeat_ns = static_cast<std::int64_t>(1e9 * base::environment_number("MANTA_HEARTBEAT", machine.heartbeat, 0));
  e.end_time = static_cast<std::int64_t>(
      base::environment_count("MANTA_END_TIME", static_cast<std::uint64_t>(o.end_time), 0, ~std::uint64_t{0} >> 1));
  e.end_margin = static_cast<std::int64_t>(base::environment_count("MANTA_END_MARGIN", o.end_margin, 0, 1'000'000));
  e.term_grace = base::environment_number("MANTA_TERM_GRACE", o.term_grace, 0);
  e.watchdog_ns = static_cast<std::int64_t>(1e9 * base::environment_number("MANTA_WATCHDOG", o.watchdog, 0));
}

/// A text of the environment, or what the code says.
inline std::string environment_text(const char* name, const std::string& otherwise) {
  const char* const text = base::environment(name);
  return text != nullptr ? text : otherwise;
}

/// What the run says of itself.
inline void read_outputs(exec::engine_options& e, const runtime_options& o) {
  e.outputs.summary = environment_text("MANTA_SUMMARY", o.summary);
  e.outputs.report = environment_text("MANTA_REPORT", o.report);
  e.outputs.metrics = environment_text("MANTA_METRICS", o.metrics);
  e.outputs.trace = environment_text("MANTA_TRACE", o.trace);
  e.outputs.trace_bytes = base::environment_bytes("MANTA_TRACE_BYTES", o.trace_bytes);
  if (e.outputs.trace_bytes < std::uint64_t{1} << 20) {
    throw error("manta: runtime_options::trace_bytes or MANTA_TRACE_BYTES is too small; give 1M or more");
  }
  e.outputs.status = base::environment_number("MANTA_STATUS", o.status, 0);
  e.outputs.status_file = environment_text("MANTA_STATUS_FILE", o.status_file);
  e.outputs.state = environment_text("MANTA_STATE", o.state);
  e.outputs.slurm_comment = base::environment_flag("MANTA_SLURM_COMMENT", o.slurm_comment);
}

MANTA_DECL std::string task_to_run_again() { return environment_text("MANTA_RERUN", environment_options().rerun); }

/// The threads beside the one that runs tasks; throws if MPI or another setting does not allow them.
inline void read_threads(exec::engine_options& e, const runtime_options& o, int thread_level, bool alone) {
  e.progress_thread = base::environment_flag("MANTA_PROGRESS_THREAD", o.progress_thread);
  e.concurrent_mpi = thread_level == MPI_THREAD_MULTIPLE;
  if (e.watchdog_ns > 0 && !e.progress_thread) {
    throw error("manta: runtime_options::watchdog or MANTA_WATCHDOG needs the progress thread, which is switched off");
  }
  base::environment_count("MANTA_STACK_KIB", environment_options().stack_kib, 32, 16'777'216);  // checks it
  if (e.progress_thread && !alone && thread_level < MPI_THREAD_SERIALIZED) {
    throw error(std::string("manta: runtime: MPI was initialised with ") +
                (thread_level == MPI_THREAD_SINGLE ? "MPI_THREAD_SINGLE" : "MPI_THREAD_FUNNELED") +
                ", but the progress thread needs MPI_THREAD_SERIALIZED; ask MPI_Init_thread for it, or set "
                "runtime_options::progress_thread = false (then a rank in a long task does not answer others)");
  }
}

MANTA_DECL exec::engine_options effective(const runtime_options& o, int thread_level, bool alone, std::string mistake) {
  exec::engine_options e;
  e.mistake = std::move(mistake);
  if (!e.mistake.empty()) return e;
  try {
    read_capacities(e, o);
    e.seed = base::environment_count("MANTA_SEED", o.seed, 0, ~std::uint64_t{0});
    read_folders(e, o);
    read_endings(e, o);
    read_threads(e, o, thread_level, alone);
    read_outputs(e, o);
    for (const char* const name : setting_names) {
      if (const char* const value = base::environment(variable_of(name).c_str()))
        e.outputs.changed.emplace_back(name, value);
    }
  } catch (const std::exception& wrong) {
    e.resources = {};
    e.mistake = wrong.what();
  }
  return e;
}

}  // namespace detail

}  // namespace manta
