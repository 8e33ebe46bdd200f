// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of study.hpp: what happens is written to the journal, then it takes its course.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cmath>

#include "manta/output/append_file.hpp"
#include "manta/tune/study.hpp"

namespace manta::tune {

MANTA_DECL study::study(const space& where, const experiment& e, const std::string& function)
    : options_(e), space_(where), function_(function) {
  sign_ = options_.maximise.empty() ? 1 : -1;
  metric_ = options_.maximise.empty() ? options_.minimise : options_.maximise;
  check_options();
  searcher_ = options_.searcher.clone();
  scheduler_ = options_.scheduler.clone();
  complete_first();
  points_.begin(space_);
  searcher_.begin(space_, options_.seed);
  limit_ = limit();
  scheduler_.begin(space_, options_.seed, limit_);
  if (!options_.folder.empty()) {
    manta::output::make_folders(options_.folder);
    if (options_.fresh && ::unlink((options_.folder + "/journal.jsonl").c_str()) != 0 && errno != ENOENT) {
      throw error("manta: tune: cannot remove the journal of " + options_.folder);
    }
    for (const any_output& o : options_.outputs) outputs_.push_back(o.clone());
    wall_offset_ = output::wall_time();
    const output_context context{options_.folder, options_.name, metric_, sign_ < 0, space_, wall_offset_, options_.clock,
                                 detail::class_name(searcher_.type()), detail::class_name(scheduler_.type()), options_.seed, std::max(1, options_.ranks),
                                 options_.best_may_fail};
    for (any_output& o : outputs_) o.begin(context);
    continue_from_journal();
  }
}

MANTA_DECL std::optional<job> study::next(double now) {
  origin_ = {};
  auto j = next_of(now, nullptr);
  if (!j && thrown_ && !std::exchange(is_thrown_, true)) std::rethrow_exception(thrown_);
  if (j) {
    std::string& rest = line(j->trial);
    if (origin_.is_first) rest += ",\"first\":1";
    if (origin_.is_instead) rest += ",\"instead\":1";
    if (origin_.asks > 1) rest += ",\"asks\":" + std::to_string(origin_.asks);
    rest += ",\"p\":";
    detail::append_parameters(rest, j->parameters);
    log_.append("next", now, rest);
    quiet_ = false;
    return j;
  }
  if (!quiet_ && stopping_.empty()) log_.append("none", now, "");  // asking may have closed brackets
  quiet_ = true;
  return std::nullopt;
}

MANTA_DECL answer study::report(trial_number t, const metrics& m, double now, std::uint64_t iteration, double seconds) {
  trial_record& r = running(t);
  if (iteration == 0) iteration = r.iteration + 1;
  seconds = std::floor(seconds * 1e6) / 1e6;  // as the journal has it
  if (iteration <= r.iteration) {             // comes by again after a failure, from an older checkpoint
    const auto owed = owed_.find(t);
    return {verdict::kind::go_on, owed != owed_.end() && owed->second == iteration, {}, silence_of(t)};
  }
  std::string& rest = line(t);
  rest += ",\"i\":";
  append_number(rest, static_cast<std::int64_t>(iteration));
  rest += ",\"r\":";
  append_number(rest, seconds);
  rest += ",\"m\":";
  detail::append_metrics(rest, m);
  log_.append("report", now, rest);
  quiet_ = false;
  return report_of(t, m, now, iteration, seconds);
}

MANTA_DECL void study::ended(trial_number t, double now) {
  log_trial("end", t, now);
  ended_of(t, now);
}

MANTA_DECL bool study::failed(trial_number t, const std::string& why, double now, cause c) {
  std::string& rest = line(t);
  rest += ",\"cause\":\"";
  rest += name_of(c);
  rest += "\",\"why\":";
  detail::append_exact_text(rest, why);
  log_.append("fail", now, rest);
  quiet_ = false;
  return failed_of(t, why, now, c);
}

MANTA_DECL void study::checkpointed(trial_number t, std::uint64_t iteration, const std::string& file, double now) {
  log_file("save", t, iteration, file, now);
  checkpointed_of(t, iteration, file);
}

MANTA_DECL void study::continues_from(trial_number t, trial_number source, double now) {
  const trial_record& from = records_.at(source);
  if (t == source || !files_.contains(from.checkpoint_file) || from.checkpoint_file == records_.at(t).checkpoint_file)
    return;
  log_file("from", t, from.checkpoint, from.checkpoint_file, now);
  set_checkpoint(records_.at(t), from.checkpoint, from.checkpoint_file);
}

MANTA_DECL void study::finish(double now) {
  if (!finished_) {
    std::string why = ",\"why\":";
    detail::append_exact_text(why, stopping_);  // a later start that has no reason to stop there goes on
    log_.append("finish", now, why);
    finish_of(now);
  }
  flush();
  finish_outputs(stopping_.empty() ? exhausted_ ? "the searcher had nothing more to try" : "all trials have run" : stopping_);
}

MANTA_DECL void study::finish_outputs(const std::string& why) {
  for (any_output& o : outputs_) o.finish(records_, why);
}

MANTA_DECL void study::opened(int rank, double now) {
  log_place("open", rank, now);
  opened_of(rank, now);
}

MANTA_DECL void study::closed(int rank, double now) {
  log_place("close", rank, now);
  closed_of(rank, now);
}

MANTA_DECL void study::placed(trial_number t, int rank, double now) {
  std::string& rest = line(t);
  rest += ",\"rank\":";
  append_number(rest, static_cast<std::int64_t>(rank));
  log_.append("place", now, rest);
  placed_of(t, rank, now);
}

MANTA_DECL void study::tick(double now) {
  if (!stopping_.empty()) return;
  overview_.seconds = now;
  check_stop_all();
  if (!stopping_.empty()) log_.append("tick", now, "");
}

MANTA_DECL void study::stop_all(const std::string& why) {
  if (stopping_.empty()) stopping_ = why;
}

MANTA_DECL void study::flush() {
  if (!log_.is_open()) return;
  log_.flush();
  trim_checkpoints();  // what is written does not name them as what somebody goes on from
}

MANTA_DECL void study::flush_outputs() {
  for (any_output& o : outputs_) {
    o.flush();
    o.refresh(records_);
  }
}

MANTA_DECL trial_record& study::running(trial_number t) {
  if (t >= records_.size() || !running_.contains(t)) {
    throw error("manta: tune: trial " + std::to_string(t) + " does not run");
  }
  return records_[t];
}

MANTA_DECL void study::decide(const trial_record& r, std::string_view what, std::string_view why) {
  if (why.empty()) return;
  for (any_output& o : outputs_) o.decision(r, what, why);
}

}  // namespace manta::tune
