// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of study.hpp.
#pragma once

#include "manta/tune/study.hpp"

namespace manta::tune {

MANTA_DECL study::study(const space& where, const experiment& e)
    : options_(e), space_(where) {
  if (options_.minimise.empty() == options_.maximise.empty()) {
    throw error("manta: tune: say what to optimise: give .minimise or .maximise the name of a metric, not both");
  }
  if (options_.retries < 0) throw error("manta: tune: retries must not be negative");
  if (!options_.checkpoints.minimise.empty() && !options_.checkpoints.maximise.empty()) {
    throw error("manta: tune: checkpoints are kept by .minimise or by .maximise, not by both; without them, by the experiment's metric");
  }
  if (!options_.scheduler || !options_.searcher) throw error("manta: tune: searcher and scheduler must not be empty");
  sign_ = options_.maximise.empty() ? 1 : -1;
  metric_ = options_.maximise.empty() ? options_.minimise : options_.maximise;
  searcher_ = options_.searcher.clone();
  scheduler_ = options_.scheduler.clone();
  searcher_.begin(space_, options_.seed);
  limit_ = limit();
  scheduler_.begin(space_, options_.seed, limit_);
  if (!options_.folder.empty()) {
    make_folders(options_.folder);
    if (options_.fresh && ::unlink((options_.folder + "/journal.jsonl").c_str()) != 0 && errno != ENOENT) {
      throw error("manta: tune: cannot remove the journal of " + options_.folder);
    }
    for (const any_output& o : options_.outputs) outputs_.push_back(o.clone());
    const output_context context{options_.folder, options_.name, metric_, sign_ < 0, space_, 0};
    for (any_output& o : outputs_) o.begin(context);
    continue_from_journal();
  }
}

MANTA_DECL std::optional<job> study::next(double now) {
  if (auto j = next_of(now, nullptr)) {
    std::string& rest = line(j->trial);
    rest += ",\"p\":";
    j->parameters.append_to(rest);
    log_.append("next", now, rest);
    quiet_ = false;
    return j;
  }
  if (!quiet_) log_.append("none", now, "");  // asking may have closed brackets
  quiet_ = true;
  return std::nullopt;
}

MANTA_DECL answer study::report(trial_number t, const metrics& m, double now, std::uint64_t iteration, double seconds) {
  trial_record& r = running(t);
  if (iteration == 0) iteration = r.iteration + 1;
  seconds = std::floor(seconds * 1e6) / 1e6;  // as the journal has it
  if (iteration <= r.iteration) {  // comes by again after a failure, from an older checkpoint
    const auto owed = owed_.find(t);
    return {verdict::kind::go_on, owed != owed_.end() && owed->second == iteration, {}, silence_of(t)};
  }
  std::string& rest = line(t);
  rest += ",\"i\":";
  append_number(rest, static_cast<std::int64_t>(iteration));
  rest += ",\"r\":";
  append_number(rest, seconds);
  rest += ",\"m\":";
  m.append_to(rest);
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
  value::append_quoted(rest, why);
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
  if (t == source || !files_.contains(from.checkpoint_file) || from.checkpoint_file == records_.at(t).checkpoint_file) return;
  log_file("from", t, from.checkpoint, from.checkpoint_file, now);
  set_checkpoint(records_.at(t), from.checkpoint, from.checkpoint_file);
}

MANTA_DECL void study::finish(double now) {
  if (!finished_) {
    log_.append("finish", now, "");
    finish_of(now);
  }
  flush();
  for (any_output& o : outputs_) o.finish(records_);
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
  for (any_output& o : outputs_) o.flush();
}

MANTA_DECL std::size_t study::limit() const {
  if (options_.trials == 0) return ~std::size_t{0};
  if (const auto count = searcher_.count()) return options_.trials > 1 ? std::min(options_.trials, *count) : *count;
  return options_.trials * searcher_.combinations();
}

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

MANTA_DECL std::optional<job> study::next_of(double now, const config* said, std::optional<trial_number> trial) {
  if (!stopping_.empty() && said == nullptr) return std::nullopt;
  if (!again_.empty()) {
    const trial_number t = again_.front();
    again_.erase(again_.begin());
    trial_record& r = records_[t];
    return start(r, now, {}, r.failures > 0 ? "tried again" : "");
  }
  for (;;) {
    action a = scheduler_.next(!exhausted_ && records_.size() < limit_);
    release_dropped(now);
    if (a.what == action::kind::nothing) return std::nullopt;
    if (a.what == action::kind::resume) return start(records_.at(a.trial), now, std::move(a.change), a.why);
    if (trial && *trial != records_.size()) {
      exhausted_ = true;  // so it was: otherwise this trial would have been added
      continue;
    }
    const trial_number t = records_.size();
    std::optional<config> c;
    if (t < options_.first.size()) {
      random r(options_.seed, t, 0x666972737475ULL);
      c = space_.complete(options_.first[t], r);
      searcher_.add(t, *c);
    } else if (said != nullptr) {
      c = *said;
      searcher_.again(t, *c);
    } else {
      c = searcher_.ask(t);
    }
    if (!c) {
      exhausted_ = true;
      continue;
    }
    trial_record& r = records_.emplace_back();
    r.id = t;
    r.parameters = std::move(*c);
    r.began = now;
    scheduler_.add(t, r.parameters);
    for (any_output& o : outputs_) o.add(r);
    return start(r, now, {}, "");
  }
}

MANTA_DECL job study::start(trial_record& r, double now, std::optional<exploit> change, const std::string& why) {
  const bool fresh = r.iteration == 0 && r.checkpoint == 0 && r.failures == 0;
  ++r.starts;
  job j{r.id, r.parameters, r.iteration, fresh ? std::nullopt : std::optional(r.id), 0};
  if (change) apply(r, *change, j);
  decide(r, change ? "exploit" : r.failures > 0 ? "retry" : "resume", why);
  r.state = status::running;
  r.ran.push_back({now, now});
  running_.emplace(r.id, options_.stop);
  j.silent_until = silence_of(r.id);
  return j;
}

MANTA_DECL void study::leave(trial_record& r, double now) {
  if (running_.erase(r.id) > 0) r.ran.back().end = now;
}

MANTA_DECL void study::apply(trial_record& r, const exploit& e, job& j) {
  owed_.erase(r.id);
  r.parameters = e.to;
  r.iteration = 0;  // it is now what the source was: a report counts whatever its iteration
  const trial_record& source = records_.at(e.source);
  if (!source.checkpoint_file.empty() && e.source != r.id) set_checkpoint(r, source.checkpoint, source.checkpoint_file);
  j.parameters = e.to;
  j.iteration = 0;
  j.from = e.source;
}

MANTA_DECL answer study::report_of(trial_number t, const metrics& m, double now, std::uint64_t iteration, double seconds) {
  trial_record& r = running(t);
  r.iteration = iteration;
  r.seconds = seconds;
  r.ran.back().end = now;
  const auto refuse = [&](const std::string& why) -> answer {
    give_up(r, why, now);
    --r.iteration;  // this report does not count: a trial that is started again makes it once more
    return {verdict::kind::stop, false, {}, 0};
  };
  const double* value = m.find(metric_);
  if (value == nullptr) return refuse("reported " + m.names() + ", but the experiment's metric is \"" + metric_ + "\"");
  const double* clock = options_.clock.empty() ? nullptr : m.find(options_.clock);
  if (clock == nullptr && !options_.clock.empty()) {
    return refuse("reported " + m.names() + ", but the experiment's clock is \"" + options_.clock + "\"");
  }
  r.at = clock != nullptr ? *clock : static_cast<double>(iteration);
  r.last = m;
  score_checkpoint(r);
  ++overview_.reports;
  overview_.seconds = now;
  overview_.maximised = sign_ < 0;
  for (any_output& o : outputs_) o.report(r, m, seconds);
  if (!is_finite(*value)) {
    const std::string text = is_nan(*value) ? "nan" : "infinite";
    return refuse("reported " + metric_ + " = " + text + " at " + detail::number_text(r.at) + ": it is not continued");
  }
  r.loss = sign_ * *value;
  r.losses.add(r.at, r.loss);
  if (r.loss < r.best_loss) {
    r.best_loss = r.loss;
    r.best_at = r.at;
    r.best = m;
  }
  if (best_ == none || r.loss < overview_.best) {
    best_ = t;
    overview_.best = r.loss;
    overview_.best_metric = *value;
    overview_.ended_since_best = 0;
  }
  searcher_.report(t, r.at, r.loss);

  const auto rules = running_.find(t);
  const progress p{t, r.at, seconds, r.last};
  std::optional<std::string> why;
  for (stop_rule& rule : rules->second) {
    if (!why) why = rule(p);
  }
  verdict v;
  if (!why) {
    v = scheduler_.report(t, r.at, r.loss);
    release_dropped(now);
  }
  check_stop_all();
  if (why) {
    scheduler_.remove(t);
    close(r, status::complete, *why, now);
    return {verdict::kind::stop, false, {}, 0};
  }
  if (v.what == verdict::kind::stop) {
    const bool whole = v.why.starts_with("reached");
    close(r, whole ? status::complete : status::stopped, v.why, now);
    return {verdict::kind::stop, false, {}, 0};
  }
  if (!stopping_.empty()) {
    scheduler_.remove(t);
    close(r, status::stopped, stopping_, now);
    return {verdict::kind::stop, false, {}, 0};
  }
  answer a{v.what, v.save, {}, 0};
  if ((v.save || v.what == verdict::kind::pause) && log_.is_open()) owed_[t] = iteration;
  if (v.what == verdict::kind::pause) {
    r.state = status::paused;
    leave(r, now);
    decide(r, "pause", v.why);
    return a;
  }
  if (v.change) {
    decide(r, "exploit", v.why);
    job j;
    apply(r, *v.change, j);
    ++r.starts;
    r.ran.push_back({now, now, r.ran.back().rank});
    a.change = std::move(v.change);
  }
  a.silent_until = silence_of(t);
  return a;
}

MANTA_DECL void study::ended_of(trial_number t, double now) {
  trial_record& r = running(t);
  if (r.last.empty()) {
    give_up(r, "ended without a report of \"" + metric_ + "\"", now);
    return;
  }
  scheduler_.remove(t);
  close(r, status::complete, "ended", now);
}

MANTA_DECL bool study::failed_of(trial_number t, const std::string& why, double now, cause c) {
  constexpr int most_crashes = 2, most_losses = 4;  // who has seen so many ranks die may well be the reason
  trial_record& r = running(t);
  r.failures += c == cause::failure || c == cause::crash;
  r.crashes += c == cause::crash;
  r.ranks_lost += c == cause::lost;
  const bool crashed_enough = r.crashes >= most_crashes, lost_enough = r.ranks_lost >= most_losses;
  if (c >= cause::lost && !stopping_.empty()) {
    scheduler_.remove(t);
    close(r, status::stopped, stopping_, now);
  } else if (r.failures > options_.retries || !stopping_.empty()) {
    give_up(r, why, now);
  } else if (c != cause::interrupted && (crashed_enough || lost_enough)) {
    give_up(r, (crashed_enough ? "it has taken " + std::to_string(r.crashes) + " ranks with it"
                               : std::to_string(r.ranks_lost) + " ranks died while they ran it") +
                   ", and it is not tried again; the last: " + why, now);
  } else {
    decide(r, name_of(c), why);
    r.why = why;
    r.state = status::waiting;  // reports that it makes again on the way to where it was are passed over
    leave(r, now);
    again_.push_back(t);
    return true;
  }
  return false;
}

MANTA_DECL void study::check_stop_all() {
  for (const experiment_rule& rule : options_.stop_all) {
    if (!stopping_.empty()) return;
    if (auto reason = rule(overview_)) stopping_ = std::move(*reason);
  }
}

MANTA_DECL void study::give_up(trial_record& r, const std::string& why, double now) {
  scheduler_.remove(r.id);
  close(r, status::failed, why, now);
}

MANTA_DECL void study::close(trial_record& r, status how, const std::string& why, double now) {
  leave(r, now);
  r.state = how;
  r.why = why;
  r.losses.shrink();
  owed_.erase(r.id);
  searcher_.tell(r.id, how == status::failed && is_infinite(r.best_loss) ? std::nan("") : r.best_loss);
  release_dropped(now);
  ++overview_.ended;
  overview_.ended_since_best += r.id != best_;
  decide(r, name_of(how), why);
  for (any_output& o : outputs_) o.end(r);
  check_stop_all();
  files_.use(r.checkpoint_file, -1);
  released_.push_back(r.id);
}

MANTA_DECL void study::release_dropped(double now) {
  for (const trial_number t : scheduler_.take_dropped()) {
    trial_record& r = records_.at(t);
    if (r.state == status::paused) close(r, status::stopped, "not among the best of its bracket", now);
  }
}

MANTA_DECL void study::finish_of(double now) {
  finished_ = true;
  for (trial_record& r : records_) {
    if (r.ended()) continue;
    scheduler_.remove(r.id);
    close(r, status::stopped, stopping_.empty() ? "the experiment ended" : stopping_, now);
  }
}

MANTA_DECL double study::silence_of(trial_number t) const {
  if (!stopping_.empty()) return 0;
  double until = options_.clock.empty() ? scheduler_.silent_until(t) : 0;
  const auto rules = running_.find(t);
  for (const stop_rule& rule : rules->second) until = std::min(until, rule.silent_until());
  if (const auto owed = owed_.find(t); owed != owed_.end()) until = std::min(until, static_cast<double>(owed->second));
  return until;
}

MANTA_DECL void study::set_checkpoint(trial_record& r, std::uint64_t iteration, const std::string& file) {
  if (!r.ended()) {
    files_.use(file, 1);
    files_.use(r.checkpoint_file, -1);
  }
  r.checkpoint = iteration;
  r.checkpoint_file = file;
}

MANTA_DECL void study::checkpointed_of(trial_number t, std::uint64_t iteration, const std::string& file) {
  trial_record& r = records_.at(t);
  const std::size_t bytes = size_of(file);
  if (bytes > 0) files_.add(file, t, iteration, bytes);  // else it has gone since
  set_checkpoint(r, iteration, file);
  if (const auto owed = owed_.find(t); owed != owed_.end() && owed->second <= iteration) owed_.erase(owed);
  note_best_checkpoint(r);
  if (r.iteration == iteration) score_checkpoint(r);     // else its report is the next thing that happens
}

MANTA_DECL void study::score_checkpoint(trial_record& r) {
  if (r.checkpoint != r.iteration || r.checkpoint_file.empty()) return;
  const checkpoint_options& o = options_.checkpoints;
  const bool by_own = !o.minimise.empty() || !o.maximise.empty();
  const double* value = r.last.find(!by_own ? metric_ : o.minimise.empty() ? o.maximise : o.minimise);
  if (value == nullptr || is_nan(*value)) return;
  files_.score(r.id, r.iteration, (by_own ? o.maximise.empty() ? 1 : -1 : sign_) * *value);
  note_best_checkpoint(r);
}

MANTA_DECL void study::note_best_checkpoint(trial_record& r) {
  const auto* const best = files_.best_of(r.id);
  r.best_checkpoint = best == nullptr ? 0 : best->second.iteration;
  r.best_checkpoint_file = best == nullptr ? "" : best->first;
}

MANTA_DECL void study::trim_checkpoints() {
  const checkpoint_options& o = options_.checkpoints;
  const auto worth_of = [&](trial_number t) {
    return checkpoint_files::worth{records_[t].ended(), records_[t].best_loss, t == best_};
  };
  for (const auto& [file, owner] : files_.take_surplus(o.keep, o.keep_best, o.budget_bytes, worth_of)) {
    remove_checkpoint(file);
    note_best_checkpoint(records_[owner]);
  }
}

MANTA_DECL std::string study::path_of(const std::string& file, int member) const {
  return options_.folder + "/" + file + (member == 0 ? "" : "." + std::to_string(member));
}

MANTA_DECL void study::remove_checkpoint(const std::string& file) const {
  for (int member = 0; member < std::max(1, options_.ranks); ++member) ::unlink(path_of(file, member).c_str());
}

MANTA_DECL std::size_t study::size_of(const std::string& file) const {
  std::size_t bytes = 0;
  for (int member = 0; member < std::max(1, options_.ranks); ++member) {
    struct ::stat s = {};
    if (::stat(path_of(file, member).c_str(), &s) != 0) return 0;
    bytes += static_cast<std::size_t>(s.st_size);
  }
  return bytes;
}

MANTA_DECL void study::remove_unknown_checkpoints() const {
  const std::unique_ptr<::DIR, int (*)(::DIR*)> folder(::opendir((options_.folder + "/checkpoints").c_str()), ::closedir);
  if (folder == nullptr) return;
  while (const ::dirent* const each = ::readdir(folder.get())) {
    const std::string name = each->d_name, file = "checkpoints/" + name.substr(0, name.find('.'));
    const bool is_ours = std::isdigit(static_cast<unsigned char>(name[0])) != 0 && name.find_first_not_of("0123456789-.new") == std::string::npos;
    if (is_ours && (!files_.contains(file) || name.ends_with(".new"))) ::unlink((options_.folder + "/checkpoints/" + name).c_str());
  }
}

MANTA_DECL void study::continue_from_journal() {
  std::string identity = ",\"version\":1,\"metric\":";
  value::append_quoted(identity, metric_);
  identity += ",\"seed\":";
  append_number(identity, static_cast<std::int64_t>(options_.seed));
  identity += ",\"space\":";
  value::append_quoted(identity, space_.text());
  bool first = true;
  log_.open(options_.folder + "/journal.jsonl", [&](const journal::event& e) {
    if (first) check_identity(e);
    first = false;
    clock_ = e.seconds;
    replay(e);
  });
  if (first) {
    log_.append("begin", 0, identity);
    log_.flush();
    return;
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
}

MANTA_DECL void study::check_identity(const journal::event& e) const {
  const auto must_be = [&](const char* what, const std::string& there, const std::string& here) {
    if (there == here) return;
    throw error("manta: tune: " + options_.folder + " holds an experiment with another " + what + " (" + there +
                " there, " + here + " here); give another folder, or .fresh = true to replace it");
  };
  if (e.kind != "begin") throw error("manta: tune: " + options_.folder + "/journal.jsonl is not the journal of an experiment");
  must_be("metric", e.text("metric"), metric_);
  must_be("seed", std::to_string(e.integer("seed")), std::to_string(static_cast<std::int64_t>(options_.seed)));
  must_be("space", e.text("space"), space_.text());
}

MANTA_DECL void study::replay(const journal::event& e) {
  const std::string& kind = e.kind;
  const auto trial = [&] { return static_cast<trial_number>(e.integer("t")); };
  const auto iteration = [&] { return static_cast<std::uint64_t>(e.integer("i")); };
  if (kind == "next") {
    const config& c = e.parameters;
    const auto j = next_of(clock_, &c, trial());
    if (!j || j->trial != trial() || !(j->parameters == c)) {
      throw error("manta: tune: the journal of " + options_.folder + " does not fit: trial " +
                  std::to_string(trial()) + " had " + c.text() + ", now it would be " +
                  (j ? "trial " + std::to_string(j->trial) + " with " + j->parameters.text() : "none") +
                  "; searcher, scheduler or options are not those it was made with");
    }
  } else if (kind == "none") {
    if (!stopping_.empty()) return;
    while (scheduler_.next(!exhausted_ && records_.size() < limit_).what == action::kind::add) exhausted_ = true;
    release_dropped(clock_);
  } else if (kind == "report") {
    report_of(trial(), e.reported, clock_, iteration(), e.number("r"));
  } else if (kind == "place") {
    placed_of(trial(), static_cast<int>(e.integer("rank")), clock_);
  } else if (kind == "tick") {
    overview_.seconds = clock_;
    check_stop_all();
  } else if (kind == "end") {
    ended_of(trial(), clock_);
  } else if (kind == "fail") {
    failed_of(trial(), e.text("why"), clock_, cause_of(e.text("cause")));
  } else if (kind == "save") {
    checkpointed_of(trial(), iteration(), e.text("f"));
  } else if (kind == "from") {
    set_checkpoint(records_.at(trial()), iteration(), e.text("f"));
  } else if (kind == "revive") {
    revive(trial());
  } else if (kind == "finish") {
    finish_of(clock_);
  }
}

MANTA_DECL cause study::cause_of(const std::string& name) {
  for (const cause c : {cause::failure, cause::crash, cause::lost}) {
    if (name == name_of(c)) return c;
  }
  return cause::interrupted;
}

MANTA_DECL void study::revive(trial_number t) {
  trial_record& r = records_.at(t);
  r.failures = r.crashes = r.ranks_lost = 0;
  files_.use(r.checkpoint_file, 1);
  r.state = status::waiting;
  --overview_.ended;
  scheduler_.add(t, r.parameters);
  again_.push_back(t);
  finished_ = false;
}

}  // namespace manta::tune
