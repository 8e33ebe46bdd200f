// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of seeing.hpp.
#pragma once

#include <cerrno>
#include <cstdio>
#include <ctime>

#include "manta/base/clock.hpp"
#include "manta/base/environment.hpp"
#include "manta/exec/layers.hpp"
#include "manta/exec/seeing.hpp"
#include "manta/report/outputs.hpp"
#include "manta/report/status.hpp"
#include "manta/report/summary.hpp"

namespace manta::exec {

struct seeing::outputs {
  report::outputs files;
  report::task_rate rate = {};
  bool has_files = false;  ///< more is asked for than the last line
  std::string job = {};
  double end_margin = 0;
  int start = 1;
  std::vector<std::pair<std::string, std::string>> changed_settings = {};
};

MANTA_DECL seeing::seeing(rank_parts& all) : all_(all), survey_(all) {}
MANTA_DECL seeing::~seeing() = default;

MANTA_DECL void seeing::configure(const engine_options& options) {
  if (all_.rank.rank != 0) return;
  const char* const job = base::environment("SLURM_JOB_ID");
  const char* const restarts = base::environment("SLURM_RESTART_COUNT");
  const report::output_settings& wanted = options.outputs;
  outputs_ = std::make_unique<outputs>(outputs{report::outputs(wanted, job == nullptr ? "" : job)});
  outputs_->has_files = !wanted.report.empty() || !wanted.metrics.empty() || !wanted.status_file.empty() ||
                        wanted.slurm_comment || (!wanted.summary.empty() && wanted.summary != "0");
  outputs_->changed_settings = wanted.changed;
  outputs_->job = job == nullptr ? "" : job;
  outputs_->end_margin = static_cast<double>(options.end_margin);
  if (restarts != nullptr) outputs_->start = 1 + std::atoi(restarts);
}

MANTA_DECL void seeing::begin_run() {
  begin_ticks_ = looked_ticks_ = base::ticks();
  began_ = static_cast<double>(std::time(nullptr));
  ready_seconds_ = 0;
  phases_.clear();
  const std::size_t functions = wire::table<wire::function_entry>().size();
  all_.run.times.begin_run(begin_ticks_, all_.rank.rank == 0, functions);
  all_.run.counts.begin_run(functions);
  all_.run.actors.begin_run();
  if (outputs_ != nullptr) {
    outputs_->rate = {};
    outputs_->files.begin_run();
  }
}

inline double seeing::seconds() const {
  return 1e-9 * static_cast<double>(base::nanoseconds_of(base::ticks() - begin_ticks_));
}

inline void seeing::integrate_waiting(std::uint64_t now) {
  const auto waiting = static_cast<double>(all_.rank.scheduler->waiting());
  ready_seconds_ += waiting * 1e-9 * static_cast<double>(base::nanoseconds_of(now - looked_ticks_));
  looked_ticks_ = now;
}

MANTA_DECL void seeing::look_closely() {
  integrate_waiting(base::ticks());
  if (outputs_ == nullptr || !outputs_->has_files) return;
  ask_if_due();
}

inline void seeing::ask_if_due() {
  const double now = seconds();
  if (now >= outputs_->files.status_due()) write_status(false);
  if (survey_.is_waited_for()) return;
  if (survey_.is_under_way()) {
    if (survey_.is_complete(base::now_ns())) outputs_->files.write(collect());
  } else if (now >= outputs_->files.statistics_due()) {
    survey_.begin(report_detail::full);
  }
}

inline statistics seeing::collect() {
  report_reader reader(all_.rank.size, seconds());
  survey_.collect(reader);
  statistics s = reader.finish();
  s.began = began_;
  s.program = program_invocation_short_name;
  if (outputs_ != nullptr) {
    s.job = outputs_->job;
    const auto begin =
        static_cast<double>(base::environment_count("SLURM_JOB_START_TIME", 0, 0, ~std::uint64_t{0} >> 1));
    const std::int64_t end = all_.run.departure.end_s();
    if (end != 0 && begin > 0) s.allocation_seconds = static_cast<double>(end) - begin;
  }
  s.why_ended = all_.run.departure.why();
  s.phases = phases_;
  s.waiting = all_.rank.scheduler->waiting();
  s.ready_seconds = ready_seconds_;
  for (std::uint32_t r = 0; r < all_.rank.size; ++r) {
    if (!all_.rank.members.is_dead(r)) continue;
    s.deaths.push_back(all_.rank.members.obituary_of(r).why);
    s.ranks[r].seconds[static_cast<std::size_t>(rank_state::dead)] = s.seconds;
  }
  if (outputs_ != nullptr) s.settings = outputs_->changed_settings;
  return s;
}

inline void seeing::write_status(bool is_over) {
  report::run_status s;
  const task_counts::row totals = all_.run.counts.totals();
  s.seconds = seconds();
  s.began = began_;
  s.is_over = is_over;
  s.why_ended = all_.run.departure.why();
  s.program = program_invocation_short_name;
  s.job = outputs_->job;
  s.start = outputs_->start;
  s.ranks = static_cast<int>(all_.rank.size);
  s.done = totals.done;
  s.failed = totals.failed;
  s.from_journal = all_.run.counts.from_journal();
  s.waiting_for_room = all_.rank.scheduler->waiting() + all_.run.local.size();
  std::uint64_t unfinished = 0;
  all_.rank.graph.nodes.for_each([&](node& n) {
    if (n.state != state::pending || n.function == no_index) return;
    ++unfinished;
    if (n.form == form::record && n.missing != 0) ++s.waiting_for_inputs;
  });
  s.running = unfinished - std::min(unfinished, s.waiting_for_inputs + s.waiting_for_room);
  outputs_->rate.note(s.seconds, s.done + s.failed);
  s.rate = outputs_->rate.last_minute();
  s.rate_before = outputs_->rate.before();
  const std::int64_t end = all_.run.departure.end_s();
  if (end != 0) s.allocation_left = static_cast<double>(end) - (began_ + s.seconds);
  s.end_margin = outputs_->end_margin;
  is_over ? outputs_->files.write_last(s) : outputs_->files.write(s);
}

MANTA_DECL void seeing::end_run() {
  if (outputs_ == nullptr) return;
  const bool is_long = seconds() >= report::least_seconds_of_last_line && !outputs_->files.is_silent();
  if (!is_long && !outputs_->has_files) return;
  if (survey_.is_under_way()) {
    survey_.wait();
    (void)collect();
  }
  constexpr std::uint32_t few_ranks = 256;  // their bins and durations are a few megabytes
  const bool is_full = outputs_->has_files || all_.rank.size <= few_ranks;
  survey_.begin(is_full ? report_detail::full : report_detail::brief);
  survey_.wait();
  statistics all = collect();
  all.is_over = true;
  write_status(true);
  outputs_->files.write_last(all);
  const std::string words = outputs_->files.last_words(all);
  std::fwrite(words.data(), 1, words.size(), stderr);
}

MANTA_DECL void seeing::on_ask(const ask_message& m) {
  const wire::buffer report = survey_.own_report(static_cast<report_detail>(m.how));
  all_.homes.tickets.answer(m, report.data(), report.size());
}

MANTA_DECL statistics seeing::statistics_now() {
  if (survey_.is_under_way()) {  // one for the files: it is theirs
    survey_.wait();
    const statistics for_files = collect();
    if (outputs_ != nullptr && outputs_->has_files) outputs_->files.write(for_files);
  }
  survey_.begin(report_detail::full);
  survey_.wait();
  return collect();
}

MANTA_DECL std::size_t seeing::begin_phase(std::string name) {
  phases_.push_back({std::move(name), seconds(), 0});
  return phases_.size() - 1;
}

MANTA_DECL void seeing::end_phase(std::size_t number) {
  if (number < phases_.size()) phases_[number].end = seconds();  // else its run is over
}

}  // namespace manta::exec
