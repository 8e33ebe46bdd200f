// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a study writes into its journal, and how it continues from there.
#pragma once

#include <algorithm>

#include "manta/tune/study.hpp"

namespace manta::tune {

namespace detail {

MANTA_DECL cause cause_of(const std::string& name) {
  for (const cause c : {cause::failure, cause::crash, cause::lost}) {
    if (name == name_of(c)) return c;
  }
  return cause::interrupted;
}

}  // namespace detail

MANTA_DECL std::string& study::line(trial_number t) {
  line_ = ",\"t\":";
  append_number(line_, static_cast<std::int64_t>(t));
  return line_;
}

MANTA_DECL void study::log_file(std::string_view kind, trial_number t, std::uint64_t iteration, const std::string& file, double now) {
  std::string& rest = line(t);
  rest += ",\"i\":";
  append_number(rest, static_cast<std::int64_t>(iteration));
  rest += ",\"f\":";
  value::append_quoted(rest, file);
  log_.append(kind, now, rest);
  quiet_ = false;
}

MANTA_DECL void study::log_trial(std::string_view kind, trial_number t, double now) {
  log_.append(kind, now, line(t));
  quiet_ = false;
}

MANTA_DECL void study::log_place(std::string_view kind, int rank, double now) {
  line_ = ",\"rank\":";
  append_number(line_, static_cast<std::int64_t>(rank));
  log_.append(kind, now, line_);
}

MANTA_DECL void study::continue_from_journal() {
  std::string identity = ",\"version\":1,\"metric\":";
  detail::append_exact_text(identity, metric_);
  identity += ",\"seed\":";
  append_number(identity, static_cast<std::int64_t>(options_.seed));
  identity += ",\"space\":";
  detail::append_exact_text(identity, space_.text());
  identity += sign_ < 0 ? ",\"direction\":\"maximise\"" : ",\"direction\":\"minimise\"";
  identity += ",\"trials\":";
  append_number(identity, static_cast<std::int64_t>(limit_));
  identity += ",\"function\":";
  detail::append_exact_text(identity, function_);
  const double wall = wall_offset_;  // replaying sets it to what it was at earlier starts
  std::string start = ",\"wall\":";
  append_number(start, wall);
  const std::size_t wanted = limit_;
  std::size_t passed_over = 0;
  bool was_finished = false;
  std::string ended_because;
  bool first = true;
  log_.open(options_.folder + "/journal.jsonl", [&](const journal::event& e) {
    if (first) check_identity(e);
    first = false;
    clock_ = e.seconds;
    if (e.kind == "finish") {
      was_finished = true;
      ended_because = e.others.find("why") == nullptr ? "" : e.text("why");
    } else if (e.kind == "next" || e.kind == "revive" || e.kind == "limit") {
      was_finished = false;
    }
    if (passes_over(e)) {
      ++passed_over;
    } else {
      replay(e);
    }
  });
  if (first) {
    log_.append("begin", 0, identity + start);
    log_.flush();
    return;
  }
  wall_offset_ = wall - clock_;
  close_places(clock_);
  log_.append("start", clock_, start);
  describe_continuation(passed_over);
  if (wanted != limit_) {
    limit_ = wanted;
    scheduler_.resize(limit_);
    std::string rest = ",\"trials\":";
    append_number(rest, static_cast<std::int64_t>(limit_));
    log_.append("limit", clock_, rest);
  }
  for (trial_record& r : records_) {  // from its beginning, if the file has gone
    if (!r.checkpoint_file.empty() && !files_.contains(r.checkpoint_file)) set_checkpoint(r, 0, "");
    note_best_checkpoint(r);
  }
  remove_unknown_checkpoints();
  // what ran when the program was killed runs again, first of all
  std::vector<trial_number> interrupted;
  for (const auto& [t, rules] : running_) interrupted.push_back(t);
  std::sort(interrupted.begin(), interrupted.end());
  for (const trial_number t : interrupted) failed(t, "the experiment was interrupted", clock_, cause::interrupted);
  for (trial_record& r : records_) {
    if (!options_.retry_failed || r.state != status::failed) continue;
    revive(r.id);
    log_trial("revive", r.id, clock_);
  }
  // Under the present options more may be left to do than when it ended. An experiment that went on has not ended there: what
  // was paused then goes on.
  const bool is_done = !stopping_.empty() || (ended_because.empty() && (exhausted_ || records_.size() >= limit_));
  if (was_finished && again_.empty() && is_done) finish_of(clock_);
}

MANTA_DECL void study::describe_continuation(std::size_t passed_over) {
  continued_ = "continues " + options_.folder + " with " + std::to_string(records_.size()) + (records_.size() == 1 ? " trial" : " trials");
  if (!records_.empty()) continued_ += ": " + detail::states_text(records_, "interrupted");
  if (passed_over > 0) continued_ += "; what comes after the ends that the present rules set is left out";
  if (!other_function_.empty()) continued_ += "; it was begun with another function (" + other_function_ + " there, " + function_ + " here)";
  const bool has_failed = std::any_of(records_.begin(), records_.end(), [](const trial_record& r) { return r.state == status::failed; });
  if (has_failed && !options_.retry_failed) continued_ += "; .retry_failed = true starts the failed ones again";
  continued_ += "; .fresh = true begins anew";
}

MANTA_DECL bool study::passes_over(const journal::event& e) {
  const std::string& kind = e.kind;
  if (e.others.find("t") == nullptr) return false;
  const auto t = static_cast<trial_number>(e.integer("t"));
  if (t >= records_.size()) return kind != "next" || !stopping_.empty();  // begun after what is now the end of the experiment
  if (kind == "next") return records_[t].ended();
  if (kind == "revive") return records_[t].state != status::failed;
  if (kind == "save" || kind == "from") return false;
  return !running_.contains(t);
}

MANTA_DECL void study::check_identity(const journal::event& e) {
  const auto must_be = [&](const char* what, const std::string& there, const std::string& here) {
    if (there == here) return;
    throw error("manta: tune: " + options_.folder + " holds an experiment with another " + what + " (" + there +
                " there, " + here + " here); give another folder, or .fresh = true to replace it");
  };
  if (e.kind != "begin") throw error("manta: tune: " + options_.folder + "/journal.jsonl is not the journal of an experiment");
  must_be("metric", e.text("metric"), metric_);
  must_be("direction", e.text("direction"), sign_ < 0 ? "maximise" : "minimise");
  must_be("seed", std::to_string(e.integer("seed")), std::to_string(static_cast<std::int64_t>(options_.seed)));
  must_be("space", e.text("space"), space_.text());
  const std::string there = e.text("function");
  if (there != function_ && !there.empty() && !function_.empty()) other_function_ = there;
}

MANTA_DECL void study::replay(const journal::event& e) {
  const std::string& kind = e.kind;
  const auto trial = [&] { return static_cast<trial_number>(e.integer("t")); };
  const auto iteration = [&] { return static_cast<std::uint64_t>(e.integer("i")); };
  if (kind == "next") {
    replay_next(e);
  } else if (kind == "begin" || kind == "start" || kind == "limit") {
    if (e.others.find("wall") != nullptr) wall_offset_ = e.number("wall") - clock_;
    if (kind == "start") return close_places(clock_);
    limit_ = static_cast<std::size_t>(e.integer("trials"));
    scheduler_.resize(limit_);
  } else if (kind == "none") {
    if (!stopping_.empty()) return;
    while (guarded("the scheduler", [&] { return scheduler_.next(!exhausted_ && records_.size() < limit_); }).what == action::kind::add) exhausted_ = true;
    release_dropped(clock_);
  } else if (kind == "report") {
    report_of(trial(), e.reported, clock_, iteration(), e.number("r"));
  } else if (kind == "open") {
    opened_of(static_cast<int>(e.integer("rank")), clock_);
  } else if (kind == "close") {
    closed_of(static_cast<int>(e.integer("rank")), clock_);
  } else if (kind == "place") {
    placed_of(trial(), static_cast<int>(e.integer("rank")), clock_);
  } else if (kind == "tick") {
    overview_.seconds = clock_;
    check_stop_all();
  } else if (kind == "end") {
    ended_of(trial(), clock_);
  } else if (kind == "fail") {
    failed_of(trial(), e.text("why"), clock_, detail::cause_of(e.text("cause")));
  } else if (kind == "save") {
    checkpointed_of(trial(), iteration(), e.text("f"));
  } else if (kind == "from") {
    set_checkpoint(records_.at(trial()), iteration(), e.text("f"));
  } else if (kind == "revive") {
    revive(trial());
  }
}

MANTA_DECL void study::replay_next(const journal::event& e) {
  const auto t = static_cast<trial_number>(e.integer("t"));
  const config& c = e.parameters;
  if (const auto at = std::find(again_.begin(), again_.end(), t); at != again_.end()) std::rotate(again_.begin(), at, at + 1);
  const auto has = [&](const char* name) { return e.others.find(name) != nullptr; };
  const origin from{has("first"), has("instead"), has("asks") ? static_cast<std::size_t>(e.integer("asks")) : 1};
  const auto j = next_of(clock_, &c, t, &from);
  if (j && j->trial == t && j->parameters == c) return;
  throw error("manta: tune: the journal of " + options_.folder + " does not fit: trial " + std::to_string(t) + " had " + c.text() +
              ", now it would be " + (j ? "trial " + std::to_string(j->trial) + " with " + j->parameters.text() : "none") +
              "; scheduler or rules are not those it was made with, and what they decided cannot be taken back: continue with the former "
              "ones, or give another folder, or .fresh = true to replace it");
}

MANTA_DECL void study::revive(trial_number t) {
  trial_record& r = records_.at(t);
  r.failures = r.crashes = r.ranks_lost = 0;
  files_.use(r.checkpoint_file, 1);
  r.state = status::waiting;
  --overview_.ended;
  guarded("the scheduler", [&] { scheduler_.add(t, r.runs_with()); });
  if (may_be_best(r) && r.best_loss < overview_.best) find_best();
  again_.push_back(t);
  finished_ = false;
}

}  // namespace manta::tune
