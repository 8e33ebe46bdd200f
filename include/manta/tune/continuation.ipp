// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <functional>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/tune/continuation.hpp"
#include "manta/tune/output/output.hpp"

namespace manta::tune::detail {

MANTA_DECL cause cause_of(const std::string& name) {
  for (const cause c : {cause::failure, cause::crash, cause::lost}) {
    if (name == name_of(c)) return c;
  }
  return cause::interrupted;
}

/// The first line that differs: a space has a line for each parameter.
MANTA_DECL std::string difference(const std::string& there, const std::string& here) {
  const auto lines_of = [](const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
      end = std::min(text.find('\n', at), text.size());
      lines.push_back(text.substr(at, end - at));
    }
    return lines;
  };
  const auto is_in = [](const std::string& line, const std::vector<std::string>& all) {
    return std::find(all.begin(), all.end(), line) != all.end();
  };
  const std::vector<std::string> old = lines_of(there), now = lines_of(here);
  std::string only_there, only_here;
  for (const std::string& line : old) only_there = only_there.empty() && !is_in(line, now) ? line : only_there;
  for (const std::string& line : now) only_here = only_here.empty() && !is_in(line, old) ? line : only_here;
  if (only_there.empty() && only_here.empty()) return "the same in another order";
  return base::text("{} there, {} here", only_there.empty() ? "nothing" : only_there,
                    only_here.empty() ? "nothing" : only_here);
}

inline std::string joined(const std::vector<objective>& all, const std::function<std::string(const objective&)>& text) {
  std::string names;
  for (const objective& o : all) names += (names.empty() ? "" : ", ") + text(o);
  return names;
}
inline std::string names_of(const std::vector<objective>& all) {
  return joined(all, [](const objective& o) { return o.metric; });
}
inline std::string directions_of(const ranking& by) {
  return joined(by.objectives(), [&](const objective& o) {
    return std::string(o.maximised ? "maximise" : "minimise") + (by.counts_mean() ? " the mean" : "");
  });
}

MANTA_DECL trial_number trial_of(const journal::event& e) { return static_cast<trial_number>(e.integer("t")); }
MANTA_DECL bool has(const journal::event& e, const char* name) { return e.others.find(name) != nullptr; }

MANTA_DECL void continuation::run() {
  const double wall = course_.wall_offset();   // replaying sets it to what it was at earlier starts
  const std::size_t wanted = course_.limit();  // likewise
  log_.open(course_.options().folder + "/journal.jsonl", [this](const journal::event& e) { read(e); });
  if (is_empty_) {
    log_.begin(identity(), wall);
    return;
  }
  go_on(wanted, wall);
}

MANTA_DECL std::string continuation::identity() const {
  const experiment& o = course_.options();
  std::string members = ",\"version\":1,\"metric\":";
  append_exact_text(members, names_of(course_.ranks().objectives()));
  members += ",\"seed\":";
  append_number(members, static_cast<std::int64_t>(o.seed));
  members += ",\"space\":";
  append_exact_text(members, course_.where().text());
  append_exact_text(members += ",\"direction\":", directions_of(course_.ranks()));
  members += ",\"trials\":";
  append_number(members, static_cast<std::int64_t>(course_.limit()));
  if (o.repeats > 1) {
    members += ",\"repeats\":";
    append_number(members, static_cast<std::int64_t>(o.repeats));
  }
  members += ",\"function\":";
  append_exact_text(members, function_);
  return members;
}

MANTA_DECL void continuation::read(const journal::event& e) {
  if (is_empty_) check_identity(e);
  is_empty_ = false;
  clock_ = e.seconds;
  if (e.kind == "finish") {
    was_finished_ = true;
    ended_because_ = has(e, "why") ? e.text("why") : "";
  } else if (e.kind == "next" || e.kind == "revive" || e.kind == "limit") {
    was_finished_ = false;
  }
  if (passes_over(e)) {
    ++passed_over_;
  } else {
    replay(e);
  }
}

MANTA_DECL void continuation::check_identity(const journal::event& e) {
  const experiment& o = course_.options();
  const auto must_be = [&](const char* what, const std::string& there, const std::string& here) {
    if (there == here) return;
    throw error(
        base::text("manta: tune: {} holds an experiment with another {} ({}); give another folder, or .fresh = true to "
                   "replace it",
                   o.folder, what, difference(there, here)));
  };
  if (e.kind != "begin") throw error("manta: tune: " + o.folder + "/journal.jsonl is not the journal of an experiment");
  must_be("metric", e.text("metric"), names_of(course_.ranks().objectives()));
  must_be("direction", e.text("direction"), directions_of(course_.ranks()));
  must_be("seed", std::to_string(e.integer("seed")), std::to_string(static_cast<std::int64_t>(o.seed)));
  must_be("number of .repeats", std::to_string(has(e, "repeats") ? e.integer("repeats") : 1),
          std::to_string(o.repeats));
  must_be("space", e.text("space"), course_.where().text());
  const std::string there = readable_name(e.text("function"));
  if (there != function_ && !there.empty() && !function_.empty()) other_function_ = there;
}

MANTA_DECL bool continuation::passes_over(const journal::event& e) const {
  const std::string& kind = e.kind;
  if (!has(e, "t")) return false;
  const trial_number t = trial_of(e);
  // A trial that began after what is now the end of the experiment is left out.
  if (t >= course_.trials().size()) return kind != "next" || course_.stop().is_set();
  if (kind == "next") return course_.trials()[t].ended();
  if (kind == "revive") return course_.trials()[t].state != status::failed;
  for (const char* each : {"save", "from", "unkept", "note", "attach"}) {
    if (kind == each) return false;
  }
  return !course_.running_ones().is_running(t);
}

MANTA_DECL void continuation::replay(const journal::event& e) {
  const std::string& kind = e.kind;
  const auto iteration = [&] { return static_cast<std::uint64_t>(e.integer("i")); };
  const auto rank = [&] { return static_cast<int>(e.integer("rank")); };
  if (kind == "next") {
    replay_next(e);
  } else if (kind == "begin" || kind == "start" || kind == "limit") {
    if (has(e, "wall")) course_.set_wall_offset(e.number("wall") - clock_);
    if (kind == "start") return course_.outputs().close_all(clock_);
    course_.resize(static_cast<std::size_t>(e.integer("trials")));
  } else if (kind == "none") {
    course_.start_none(clock_);
  } else if (kind == "report") {
    course_.report(trial_of(e), e.reported, clock_, iteration(), e.number("r"));
  } else if (kind == "open") {
    course_.outputs().opened(rank(), has(e, "host") ? e.text("host") : "", clock_);
  } else if (kind == "close") {
    course_.outputs().closed(rank(), clock_);
  } else if (kind == "place") {
    course_.place(trial_of(e), rank(), clock_);
  } else if (kind == "tick") {
    course_.tick(clock_);
  } else if (kind == "end") {
    course_.end(trial_of(e), clock_);
  } else if (kind == "fail") {
    course_.fail(trial_of(e), e.text("why"), clock_, cause_of(e.text("cause")));
  } else if (kind == "save") {
    course_.checkpoints().made(course_.trial(trial_of(e)), iteration(), e.text("f"));
  } else if (kind == "from") {
    course_.checkpoints().set(course_.trial(trial_of(e)), iteration(), e.text("f"));
  } else if (kind == "note") {
    course_.trial(trial_of(e)).notes.set(e.text("n"), e.text("x"));
  } else if (kind == "attach") {
    course_.trial(trial_of(e)).files.push_back(e.text("n"));
  } else if (kind == "unkept") {
    course_.checkpoints().forgive(trial_of(e));
    course_.schedule().nothing_kept();
  } else if (kind == "revive") {
    course_.revive(trial_of(e));
  }
}

MANTA_DECL void continuation::replay_next(const journal::event& e) {
  const trial_number t = trial_of(e);
  const config& c = e.parameters;
  origin from{has(e, "first"), has(e, "instead"), false,
              has(e, "asks") ? static_cast<std::size_t>(e.integer("asks")) : 1};
  const course::told told{t, c};
  const auto j = course_.next(clock_, from, &told);
  if (j && j->trial == t && j->parameters == c) return;
  throw error(base::text(
      "manta: tune: the journal of {} does not fit: trial {} had {}, now it would be {}; scheduler or rules are not "
      "those it was made with, and what they decided cannot be taken back: continue with the former ones, or give "
      "another folder, or .fresh = true to replace it",
      course_.options().folder, t, c.text(),
      j ? base::text("trial {} with {}", j->trial, j->parameters.text()) : "none"));
}

MANTA_DECL void continuation::go_on(std::size_t wanted, double wall) {
  course_.set_wall_offset(wall - clock_);
  course_.outputs().close_all(clock_);
  log_.start(clock_, wall);
  describe();
  if (wanted != course_.limit()) {
    course_.resize(wanted);
    log_.limit(clock_, wanted);
  }
  check_checkpoints();
  // What ran when the program was killed runs again, first of all.
  const auto& trials = course_.trials();
  for (trial_number t = 0; t < trials.size(); ++t) {
    if (!course_.running_ones().is_running(t)) continue;
    const std::string why = "the experiment was interrupted";
    log_.fail(t, cause::interrupted, why, clock_);
    course_.fail(t, why, clock_, cause::interrupted);
  }
  for (trial_number t = 0; t < trials.size(); ++t) {
    if (!course_.options().retry_failed || trials[t].state != status::failed) continue;
    course_.revive(t);
    log_.trial("revive", t, clock_);
  }
  // Under the options of now more may be left to do than when the experiment ended. An experiment that went on has not
  // ended there: what was paused then goes on.
  const bool has_all = !course_.exhausted().empty() || trials.size() >= course_.limit();
  const bool waits_for_retry =
      std::any_of(trials.begin(), trials.end(), [](const trial_record& r) { return r.state == status::waiting; });
  const bool is_done = course_.stop().is_set() || (ended_because_.empty() && has_all);
  if (was_finished_ && !waits_for_retry && is_done) course_.finish(clock_);
}

MANTA_DECL void continuation::check_checkpoints() {
  checkpoint_store& files = course_.checkpoints();
  for (trial_number t = 0; t < course_.trials().size(); ++t) {
    trial_record& r = course_.trial(t);
    // A trial whose file has gone begins anew.
    if (!r.checkpoint_file.empty() && !files.contains(r.checkpoint_file)) files.set(r, 0, "");
    files.note_best(r);
  }
  files.remove_unknown();
}

MANTA_DECL void continuation::describe() {
  const auto& trials = course_.trials();
  summary_ = base::text("continues {} with {}{}", course_.options().folder, trials.size(),
                        trials.size() == 1 ? " trial" : " trials");
  if (!trials.empty()) summary_ += ": " + states_text(trials, "interrupted");
  if (passed_over_ > 0) summary_ += "; what comes after the ends that the present rules set is left out";
  if (!other_function_.empty())
    summary_ += "; it was begun with another function (" + other_function_ + " there, " + function_ + " here)";
  const bool has_failed =
      std::any_of(trials.begin(), trials.end(), [](const trial_record& r) { return r.state == status::failed; });
  if (has_failed && !course_.options().retry_failed) summary_ += "; .retry_failed = true starts the failed ones again";
  summary_ += "; .fresh = true begins anew";
}

}  // namespace manta::tune::detail
