// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>

#include "manta/base/allocation.hpp"
#include "manta/base/clock.hpp"
#include "manta/base/environment.hpp"
#include "manta/exec/layers.hpp"
#include "manta/exec/seeing.hpp"
#include "manta/exec/situation.hpp"
#include "manta/report/live_texts.hpp"
#include "manta/report/outputs.hpp"
#include "manta/report/run_page.hpp"
#include "manta/report/run_state.hpp"
#include "manta/report/statistics_json.hpp"
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

MANTA_DECL seeing::seeing(rank_parts& all) : all_(all), survey_(all), situations_(all), counting_(all) {}
MANTA_DECL seeing::~seeing() = default;

MANTA_DECL void seeing::configure(const engine_options& options) {
  all_.loops.watch.set_last_words({this, [](void* own) { static_cast<seeing*>(own)->on_hung_task(); },
                                   [](void* own) { return static_cast<const seeing*>(own)->has_told(); }});
  if (all_.rank.rank != 0) return;
  const char* const job = base::environment("SLURM_JOB_ID");
  const char* const restarts = base::environment("SLURM_RESTART_COUNT");
  const report::output_settings& wanted = options.outputs;
  outputs_ = std::make_unique<outputs>(outputs{report::outputs(wanted, job == nullptr ? "" : job)});
  outputs_->has_files = !wanted.report.empty() || !wanted.metrics.empty() || !wanted.status_file.empty() ||
                        wanted.slurm_comment || wanted.status > 0 || (!wanted.summary.empty() && wanted.summary != "0");
  outputs_->changed_settings = wanted.changed;
  outputs_->job = job == nullptr ? "" : job;
  outputs_->end_margin = static_cast<double>(options.end_margin);
  if (restarts != nullptr) outputs_->start = 1 + std::atoi(restarts);
}

MANTA_DECL void seeing::begin_run() {
  begin_ticks_ = looked_ticks_ = base::ticks();
  began_ = static_cast<double>(std::time(nullptr));
  ready_seconds_ = 0;
  numbers_.clear();
  phases_.clear();
  why_state_.clear();
  has_ended_ = false;
  standstill_.begin_run();
  base::state_signal::take();
  const std::size_t functions = wire::table<wire::function_entry>().size();
  all_.run.time_account.begin_run(begin_ticks_, all_.rank.rank == 0, functions);
  all_.run.counts.begin_run(functions);
  all_.run.actor_times.begin_run();
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
  if (has_ended_) return;
  integrate_waiting(base::ticks());
  watch_progress();
  tell_state_if_due();
  // Answers are under way, and whoever asked wants to see the state soon.
  if (situations_.is_under_way()) looks_ = every_look_;
  if (writes()) ask_if_due();
}

inline bool seeing::writes() const { return outputs_ != nullptr && (outputs_->has_files || live_ != nullptr); }

MANTA_DECL std::int64_t seeing::pause_ns() const {
  constexpr std::int64_t some_ns = 500'000'000;
  constexpr std::int64_t live_ns = 100'000'000;
  return live_ != nullptr ? live_ns : outputs_ != nullptr && outputs_->has_files ? some_ns : -1;
}

MANTA_DECL void seeing::show_in(report::live_texts* live) {
  live_ = live;
  base::state_signal::rouse();  // a helper that only watches looks more often now
}

inline bool seeing::wants_live(unsigned kind) const {
  return live_ != nullptr && live_->is_wanted(static_cast<report::live_texts::kind>(kind));
}

inline void seeing::write_and_show(const statistics& now) {
  if (now.seconds >= outputs_->files.statistics_due()) outputs_->files.write(now);
  if (live_ == nullptr) return;
  live_->put(report::live_texts::page, report::run_page(now));
  live_->put(report::live_texts::statistics, report::to_json(now));
}

inline void seeing::ask_if_due() {
  const double now = seconds();
  if (now >= outputs_->files.status_due() && !counting_.is_under_way()) counting_.begin(ask_message::numbers, 0);
  if (counting_.is_under_way() && counting_.is_complete(base::now_ns())) finish_counting(false);
  // A task of this rank waits for this survey and takes the answers itself.
  if (survey_.is_waited_for()) return;
  if (survey_.is_under_way()) {
    if (survey_.is_complete(base::now_ns())) write_and_show(collect());
  } else if (now >= outputs_->files.statistics_due() || wants_live(report::live_texts::statistics)) {
    survey_.begin(ask_message::report, static_cast<std::uint32_t>(report_detail::full));
  }
}

inline statistics seeing::collect() {
  report_reader reader(all_.rank.size, seconds());
  // Rank 0's own report takes the way of the others, so that both are read by the same lines.
  const wire::buffer own = own_report(report_detail::full);
  wire::source mine(own.data(), own.size());
  reader.add(all_.rank.rank, mine);
  survey_.collect([&](rank_id rank, wire::source& in) { reader.add(rank, in); });
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

inline void seeing::add_numbers(report::run_status& s) {
  numbers_.resize(all_.rank.size);
  numbers_[0] = numbers_of(all_);
  std::uint64_t unfinished = 0;
  for (std::uint32_t r = 0; r < all_.rank.size; ++r) {
    const report::task_numbers& of_rank = numbers_[r];
    s.done += of_rank.done;
    s.failed += of_rank.failed;
    s.from_journal += of_rank.from_journal;
    if (all_.rank.members.is_dead(r)) continue;
    unfinished += of_rank.unfinished;
    s.waiting_for_inputs += of_rank.waiting_for_inputs;
    s.waiting_for_room += of_rank.ready;
  }
  s.running = unfinished - std::min(unfinished, s.waiting_for_inputs + s.waiting_for_room);
}

inline report::run_status seeing::status(bool is_over) {
  report::run_status s;
  s.seconds = seconds();
  s.began = began_;
  s.is_over = is_over;
  s.why_ended = all_.run.departure.why();
  s.program = program_invocation_short_name;
  if (outputs_ != nullptr) {
    s.job = outputs_->job;
    s.start = outputs_->start;
    s.end_margin = outputs_->end_margin;
  }
  s.ranks = static_cast<int>(all_.rank.size);
  add_numbers(s);
  if (outputs_ != nullptr) {
    outputs_->rate.note(s.seconds, s.done + s.failed);
    s.rate = outputs_->rate.last_minute();
    s.rate_before = outputs_->rate.before();
  }
  const std::int64_t end = all_.run.departure.end_s();
  if (end != 0) s.allocation_left = static_cast<double>(end) - (began_ + s.seconds);
  return s;
}

inline void seeing::take_numbers() {
  numbers_.resize(all_.rank.size);
  counting_.collect([&](rank_id rank, wire::source& in) { in.get(numbers_[rank.number()]); });
}

inline void seeing::finish_counting(bool is_over) {
  take_numbers();
  const report::run_status s = status(is_over);
  is_over ? outputs_->files.write_last(s) : outputs_->files.write(s);
}

inline void seeing::finish_surveys() {
  if (situations_.is_under_way()) {
    situations_.wait();
    const std::string why = std::exchange(why_state_, {});
    const report::run_state s = finish_state(why);
    if (!why.empty()) tell(report::state_text(s));
  }
  if (survey_.is_under_way()) {
    survey_.wait();
    (void)collect();
  }
  if (counting_.is_under_way()) {
    counting_.wait();
    writes() ? finish_counting(false) : take_numbers();
  }
}

MANTA_DECL void seeing::end_run() {
  finish_surveys();
  has_ended_ = true;
  if (outputs_ == nullptr) return;
  const bool is_long = seconds() >= report::least_seconds_of_last_line && !outputs_->files.is_silent();
  // A run of a moment prints no last line.
  if (!is_long && !outputs_->has_files) return;
  constexpr std::uint32_t few_ranks = 256;  // their bins and durations are a few megabytes
  const bool is_full = outputs_->has_files || all_.rank.size <= few_ranks;
  survey_.begin(ask_message::report, static_cast<std::uint32_t>(is_full ? report_detail::full : report_detail::brief));
  counting_.begin(ask_message::numbers, 0);
  survey_.wait();
  counting_.wait();
  statistics all = collect();
  all.is_over = true;
  finish_counting(true);
  outputs_->files.write_last(all);
  const std::string words = outputs_->files.last_words(all);
  std::fwrite(words.data(), 1, words.size(), stderr);
}

inline bool seeing::owner_is_in_user_code() const { return !all_.rank.lock.owner_is_inside(); }

MANTA_DECL void seeing::on_ask(const ask_message& m) {
  if (m.kind == ask_message::state) {
    want_state(text_of(static_cast<reason>(m.how), rank_id{m.home_rank}));
    return;
  }
  wire::buffer told;
  if (m.kind == ask_message::report) told = own_report(static_cast<report_detail>(m.how));
  else if (m.kind == ask_message::numbers) wire::put(told, numbers_of(all_));
  else write_situation(told, situation_of(all_, owner_is_in_user_code()));
  situations_told_ += m.kind == ask_message::situation;
  all_.homes.tickets.answer(m, told.data(), told.size());
}

inline void seeing::ask_for_state(reason why) {
  if (all_.rank.rank == 0) return want_state(text_of(why, all_.rank.rank));
  ask_message m{};
  m.kind = ask_message::state;
  m.how = why;
  m.home_rank = all_.rank.rank.number();
  all_.rank.post.send(0, message::ask, m);
}

inline void seeing::on_hung_task() {
  told_before_ = situations_told_;
  ask_for_state(watchdog);
}

inline bool seeing::has_told() const {
  return all_.rank.rank == 0 ? why_state_.empty() : situations_told_ != told_before_;
}

MANTA_DECL void seeing::note_end() {
  if (all_.rank.rank != 0 || has_ended_) return;
  want_state("as the run has to end: " + all_.run.departure.reason(base::end_signals::came()));
  tell_state_if_due();
}

MANTA_DECL void seeing::tell_state(const char* why) {
  if (has_ended_) return;
  want_state(why);
  // The caller goes on only when the state has been told, so the answers are awaited here, without running tasks.
  const std::int64_t patience_ends = base::now_ns() + 2 * survey::patience_ns;
  while (!why_state_.empty() && base::now_ns() < patience_ends) {
    looks_ = every_look_;
    all_.rank.net.pump(true);
    all_.loops.loop.progress();
  }
}

inline void seeing::begin_state() {
  situations_.begin(ask_message::situation, 0);
  own_situation_ = situation_of(all_, owner_is_in_user_code());
}

MANTA_DECL void seeing::on_signal() {
  base::state_signal::take();
  ask_for_state(signal);
}

inline void seeing::tell_state_if_due() {
  constexpr std::int64_t pause_ns = 3'000'000'000;  // every rank may have got the signal
  const std::int64_t now = base::now_ns();
  if (!why_state_.empty() && !situations_.is_under_way() && state_told_ns_ != 0 && now - state_told_ns_ < pause_ns)
    why_state_.clear();
  if ((why_state_.empty() && !wants_live(report::live_texts::state)) || situations_.is_waited_for()) return;
  if (!situations_.is_under_way()) begin_state();
  if (!situations_.is_complete(now)) return;
  const std::string why = std::exchange(why_state_, {});
  const report::run_state s = finish_state(why);
  if (live_ != nullptr) live_->put(report::live_texts::state, report::state_json(s));
  if (why.empty()) return;
  tell(report::state_text(s));
  state_told_ns_ = now;
}

inline void seeing::tell(const std::string& block) { (void)!::write(STDERR_FILENO, block.data(), block.size()); }

inline report::run_state seeing::finish_state(const std::string& why) {
  report::run_state s;
  s.why = why;
  s.ranks.resize(all_.rank.size);
  for (std::uint32_t r = 0; r < all_.rank.size; ++r) {
    s.ranks[r].rank = static_cast<int>(r);
    s.ranks[r].is_dead = all_.rank.members.is_dead(r);
    s.ranks[r].answers = false;
  }
  s.ranks[0] = std::move(own_situation_);
  numbers_.resize(all_.rank.size);
  situations_.collect([&](rank_id rank, wire::source& in) {
    s.ranks[rank.number()] = read_situation(in);
    numbers_[rank.number()] = s.ranks[rank.number()].numbers;
  });
  s.status = status(false);
  if (outputs_ != nullptr && !why.empty()) outputs_->files.write(s);
  return s;
}

inline void seeing::watch_progress() {
  const std::int64_t now = base::now_ns();
  if (!standstill_.is_due(now)) return;
  if (!writes() && counting_.is_under_way() && counting_.is_complete(now)) take_numbers();
  report::run_status of_all;
  add_numbers(of_all);
  const std::uint64_t ended = of_all.done + of_all.failed + all_.run.counts.totals().cancelled;
  const standstill::wish wish = standstill_.look(ended, all_.homes.home.unfinished() != 0, now);
  if (wish == standstill::wish::tell) want_state("because no task has ended for 5 minutes");
  if (wish == standstill::wish::count && !counting_.is_under_way()) counting_.begin(ask_message::numbers, 0);
}

MANTA_DECL std::string seeing::state_now() {
  if (!situations_.is_under_way()) begin_state();
  situations_.wait();
  return report::state_text(finish_state("asked for by the program"));
}

MANTA_DECL wire::buffer seeing::own_report(report_detail detail) {
  const std::uint64_t now = base::ticks();
  all_.run.time_account.settle(now, owner_is_in_user_code(), all_.run.running.is_driver());
  base::vector<actor_times::entry> actors = all_.run.actor_times.ended();
  all_.work.actors.add_living(actors);
  wire::buffer out;
  write_report(out, facts_of(all_), {all_.run.time_account, all_.run.counts, actors}, now, detail);
  return out;
}

MANTA_DECL statistics seeing::statistics_now() {
  if (survey_.is_under_way()) {  // one for the files: it is theirs
    survey_.wait();
    const statistics for_files = collect();
    if (outputs_ != nullptr && outputs_->has_files) outputs_->files.write(for_files);
  }
  survey_.begin(ask_message::report, static_cast<std::uint32_t>(report_detail::full));
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
