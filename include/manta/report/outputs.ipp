// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/report/outputs.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "manta/base/error.hpp"
#include "manta/base/launch_variables.hpp"
#include "manta/base/text.hpp"
#include "manta/output/append_file.hpp"
#include "manta/report/run_metrics.hpp"
#include "manta/report/run_page.hpp"
#include "manta/report/statistics_json.hpp"
#include "manta/report/summary.hpp"

namespace manta::report {

namespace detail {

inline constexpr double page_pause = 30, metrics_pause = 15, least_status_pause = 5, comment_pause = 60;  // seconds

/// Whether the setting `summary` names a file.
inline bool is_file(const std::string& summary) { return !summary.empty() && summary != "0" && summary != "1"; }

}  // namespace detail

MANTA_DECL std::string with_job(std::string path, const std::string& job) {
  const std::size_t at = path.find("%j");
  return at == std::string::npos ? path : path.replace(at, 2, job.empty() ? "0" : job);
}

MANTA_DECL void check_file(const std::string& path) { output::check_replaceable(path); }

MANTA_DECL outputs::outputs(output_settings settings, std::string job)
    : settings_(std::move(settings)), job_(std::move(job)) {
  for (std::string* path :
       {&settings_.report, &settings_.metrics, &settings_.status_file, &settings_.state, &settings_.summary}) {
    const bool is_path = path == &settings_.summary ? detail::is_file(*path) : !path->empty();
    if (!is_path) continue;
    *path = with_job(*path, job_);
    check_file(*path);
  }
  if (settings_.status > 0) settings_.status = std::max(settings_.status, detail::least_status_pause);
  if (!settings_.status_file.empty() && settings_.status <= 0) settings_.status = detail::page_pause;
  if (job_.empty()) settings_.slurm_comment = false;
}

MANTA_DECL void outputs::begin_run() {
  status_due_ = statistics_due_ = never;
  comment_due_ = 0;
  // The first time is early, so that a look at a young run finds something.
  if (settings_.status > 0 || settings_.slurm_comment)
    status_due_ = settings_.status_file.empty() ? std::max(settings_.status, detail::least_status_pause) : 1;
  if (!settings_.report.empty() || !settings_.metrics.empty()) statistics_due_ = 2;
}

inline void outputs::replace(const std::string& path, const std::string& content) {
  try {
    output::replace_file(path, content);
  } catch (const error& e) {
    if (!std::exchange(has_complained_, true)) std::fprintf(stderr, "%s\n", e.what());
  }
}

MANTA_DECL void outputs::write(const run_status& now) {
  if (settings_.status > 0) {
    if (settings_.status_file.empty()) {
      std::fprintf(stderr, "manta: at %s, %s\n", base::clock_text(now.seconds).c_str(), status_text(now).c_str());
    } else {
      replace(settings_.status_file, status_json(now));
    }
  }
  if (settings_.slurm_comment && now.seconds >= comment_due_) {
    set_slurm_comment(job_, status_text(now));
    comment_due_ = now.seconds + detail::comment_pause;
  }
  status_due_ = now.seconds + (settings_.status > 0 ? settings_.status : detail::comment_pause);
}

MANTA_DECL void outputs::write(const statistics& now) {
  if (!settings_.metrics.empty()) replace(settings_.metrics, run_metrics(now));
  if (!settings_.report.empty()) replace(settings_.report, run_page(now));
  statistics_due_ = now.seconds + (settings_.metrics.empty() ? detail::page_pause : detail::metrics_pause);
}

MANTA_DECL void outputs::write(const run_state& now) {
  if (!settings_.state.empty()) replace(settings_.state, state_json(now));
}

MANTA_DECL void outputs::write_last(const run_status& status) {
  if (!settings_.status_file.empty()) replace(settings_.status_file, status_json(status));
  if (settings_.slurm_comment) set_slurm_comment(job_, status_text(status));
}

MANTA_DECL void outputs::write_last(const statistics& all) {
  write(all);
  if (detail::is_file(settings_.summary)) replace(settings_.summary, to_json(all));
}

MANTA_DECL std::string outputs::last_words(const statistics& all) const {
  if (settings_.summary == "0") return {};
  if (settings_.summary == "1") return summary_table(all);
  return all.seconds >= least_seconds_of_last_line || detail::is_file(settings_.summary) ? last_line(all)
                                                                                         : std::string();
}

MANTA_DECL void set_slurm_comment(const std::string& job, const std::string& comment) {
  std::string id = base::text("JobId={}", job), text = base::text("Comment={}", comment);
  char name[] = "scontrol", verb[] = "update";
  char* const words[] = {name, verb, id.data(), text.data(), nullptr};
  posix_spawn_file_actions_t files;
  if (::posix_spawn_file_actions_init(&files) != 0) return;
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&files, file, "/dev/null", O_RDWR, 0);
  pid_t process = 0;
  // The shell's child is adopted by the system, and not left here as a process that has ended.
  std::vector<char*> variables = base::variables_of_no_rank();
  char shell[] = "/bin/sh", option[] = "-c", script[] = "\"$@\" &", zero[] = "manta";
  char* const call[] = {shell, option, script, zero, words[0], words[1], words[2], words[3], nullptr};
  const int failed = ::posix_spawn(&process, shell, &files, nullptr, call, variables.data());
  ::posix_spawn_file_actions_destroy(&files);
  if (failed == 0) ::waitpid(process, nullptr, 0);
}

}  // namespace manta::report
