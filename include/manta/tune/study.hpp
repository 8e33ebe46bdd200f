// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The mind of an experiment, without ranks and clocks: it is told what happens
// and says what to do. tune::run drives it with trials on ranks; a program of its
// own kind may drive it by hand (ask and tell):
//
//   tune::study s(space, {.minimise = "loss", .trials = 50, .searcher = tune::tpe()});
//   while (auto job = s.next()) {
//     s.report(job->trial, {{"loss", f(job->parameters)}});
//     s.ended(job->trial);
//   }
//   const auto& best = *s.best();
#pragma once

#include <dirent.h>
#include <sys/stat.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <unordered_map>

#include "manta/tune/checkpoint_files.hpp"
#include "manta/tune/experiment.hpp"
#include "manta/tune/journal.hpp"

namespace manta::tune {

/// What is to run in a free place.
struct job {
  trial_number trial = 0;
  config parameters;
  std::uint64_t iteration = 0;        ///< of the last report seen, for a trial that goes on
  std::optional<trial_number> from;   ///< go on from the last checkpoint of this trial; none: from the beginning
  double silent_until = 0;            ///< reports before it need no answer
};

/// What a trial is to do after a report.
struct answer {
  verdict::kind what = verdict::kind::go_on;
  bool save = false;                  ///< make a checkpoint now
  std::optional<exploit> change = {}; ///< end here and begin again as this
  double silent_until = 0;
};

class study {
 public:
  /// Continues what the folder holds, if it is the same experiment.
  study(const space& where, const experiment& e) : options_(e), space_(where) {
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

  // ---- what happens -------------------------------------------------------------------------------

  /// A place is free: what runs there; nothing if there is nothing now. `now` is in seconds since the experiment began.
  std::optional<job> next(double now = 0) {
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

  /// One report of a running trial. `iteration` counts its reports, those before a checkpoint that it continued from
  /// included; 0: one more than the last. `seconds` it has run.
  answer report(trial_number t, const metrics& m, double now = 0, std::uint64_t iteration = 0, double seconds = 0) {
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
  /// The trial has come to its end by itself.
  void ended(trial_number t, double now = 0) {
    log_trial("end", t, now);
    ended_of(t, now);
  }
  /// It threw, or was lost. True: it will be tried again.
  bool failed(trial_number t, const std::string& why, double now = 0, cause c = cause::failure) {
    std::string& rest = line(t);
    rest += ",\"cause\":\"";
    rest += name_of(c);
    rest += "\",\"why\":";
    value::append_quoted(rest, why);
    log_.append("fail", now, rest);
    quiet_ = false;
    return failed_of(t, why, now, c);
  }
  /// Its checkpoint of that iteration is on disk; at the next flush files go that are not needed any more.
  void checkpointed(trial_number t, std::uint64_t iteration, const std::string& file, double now = 0) {
    log_file("save", t, iteration, file, now);
    checkpointed_of(t, iteration, file);
  }
  /// It goes on from the last checkpoint that the other one has now, and would do so again.
  void continues_from(trial_number t, trial_number source, double now = 0) {
    const trial_record& from = records_.at(source);
    if (t == source || !files_.contains(from.checkpoint_file) || from.checkpoint_file == records_.at(t).checkpoint_file) return;
    log_file("from", t, from.checkpoint, from.checkpoint_file, now);
    set_checkpoint(records_.at(t), from.checkpoint, from.checkpoint_file);
  }
  /// Nothing runs and nothing will: trials that are paused end here. To be called once.
  void finish(double now = 0) {
    if (!finished_) {
      log_.append("finish", now, "");
      finish_of(now);
    }
    flush();
    for (any_output& o : outputs_) o.finish(records_);
  }
  /// The trial that was given out runs on this rank now: for the report.
  void placed(trial_number t, int rank, double now = 0) {
    std::string& rest = line(t);
    rest += ",\"rank\":";
    append_number(rest, static_cast<std::int64_t>(rank));
    log_.append("place", now, rest);
    placed_of(t, rank, now);
  }
  /// So late it is, though nothing has happened: rules that look at the clock may stop the experiment.
  void tick(double now) {
    if (!stopping_.empty()) return;
    overview_.seconds = now;
    check_stop_all();
    if (!stopping_.empty()) log_.append("tick", now, "");
  }
  /// No more trials are started, and those that run stop at their next report.
  void stop_all(const std::string& why) {
    if (stopping_.empty()) stopping_ = why;
  }
  /// Writes out what is buffered. To be called when there is nothing else to do, and at least every second or so.
  void flush() {
    if (!log_.is_open()) return;
    log_.flush();
    trim_checkpoints();  // what is written does not name them as what somebody goes on from
  }
  void flush_outputs() {
    for (any_output& o : outputs_) o.flush();
  }

  // ---- what is known -------------------------------------------------------------------------------

  const std::vector<trial_record>& trials() const { return records_; }
  const trial_record& trial(trial_number t) const { return records_.at(t); }
  std::size_t running_count() const { return running_.size(); }
  std::size_t ended_count() const { return overview_.ended; }
  const overview& summary() const { return overview_; }
  /// Why it stops before all trials have been run; empty if it does not.
  const std::string& stopping() const { return stopping_; }
  bool finished() const { return finished_; }
  double elapsed_before() const { return clock_; }  ///< seconds of earlier runs that the journal tells of
  const std::string& metric() const { return metric_; }
  bool maximised() const { return sign_ < 0; }
  const experiment& options() const { return options_; }
  std::size_t trial_limit() const { return limit_; }
  /// The metric of a loss.
  double metric_of(double loss) const { return sign_ * loss; }
  /// The trial with the best value that was reported; null if there is none.
  const trial_record* best() const { return best_ == none ? nullptr : &records_[best_]; }
  /// Trials that were taken off since the last call: paused ones whose checkpoints nobody needs.
  std::vector<trial_number> take_released() { return std::exchange(released_, {}); }
  /// May others still continue from its checkpoint?
  bool needs_checkpoint(trial_number t) const { return !records_[t].ended(); }

 private:
  static constexpr trial_number none = ~trial_number{0};

  std::size_t limit() const {
    if (options_.trials == 0) return ~std::size_t{0};
    if (const auto count = searcher_.count()) return options_.trials > 1 ? std::min(options_.trials, *count) : *count;
    return options_.trials * searcher_.combinations();
  }
  /// The beginning of what the journal says of a trial.
  std::string& line(trial_number t) {
    line_ = ",\"t\":";
    append_number(line_, static_cast<std::int64_t>(t));
    return line_;
  }
  void log_file(std::string_view kind, trial_number t, std::uint64_t iteration, const std::string& file, double now) {
    std::string& rest = line(t);
    rest += ",\"i\":";
    append_number(rest, static_cast<std::int64_t>(iteration));
    rest += ",\"f\":";
    value::append_quoted(rest, file);
    log_.append(kind, now, rest);
    quiet_ = false;
  }
  void log_trial(std::string_view kind, trial_number t, double now) {
    log_.append(kind, now, line(t));
    quiet_ = false;
  }
  trial_record& running(trial_number t) {
    if (t >= records_.size() || !running_.contains(t)) {
      throw error("manta: tune: trial " + std::to_string(t) + " does not run");
    }
    return records_[t];
  }
  void decide(const trial_record& r, std::string_view what, std::string_view why) {
    if (why.empty()) return;
    for (any_output& o : outputs_) o.decision(r, what, why);
  }

  // ---- the same for what happens and for what the journal tells ---------------------------------------

  /// `said`: the configuration that the journal has for it.
  std::optional<job> next_of(double now, const config* said, std::optional<trial_number> trial = {}) {
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

  job start(trial_record& r, double now, std::optional<exploit> change, const std::string& why) {
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
  void placed_of(trial_number t, int rank, double now) { running(t).ran.back() = {now, now, rank}; }
  /// It runs no more.
  void leave(trial_record& r, double now) {
    if (running_.erase(r.id) > 0) r.ran.back().end = now;
  }
  void apply(trial_record& r, const exploit& e, job& j) {
    owed_.erase(r.id);
    r.parameters = e.to;
    r.iteration = 0;  // it is now what the source was: a report counts whatever its iteration
    const trial_record& source = records_.at(e.source);
    if (!source.checkpoint_file.empty() && e.source != r.id) set_checkpoint(r, source.checkpoint, source.checkpoint_file);
    j.parameters = e.to;
    j.iteration = 0;
    j.from = e.source;
  }

  answer report_of(trial_number t, const metrics& m, double now, std::uint64_t iteration, double seconds) {
    trial_record& r = running(t);
    r.iteration = iteration;
    r.seconds = seconds;
    r.ran.back().end = now;
    const double* value = m.find(metric_);
    if (value == nullptr) {
      give_up(r, "reported " + m.names() + ", but the experiment's metric is \"" + metric_ + "\"", now);
      return {verdict::kind::stop, false, {}, 0};
    }
    const double* clock = options_.clock.empty() ? nullptr : m.find(options_.clock);
    if (clock == nullptr && !options_.clock.empty()) {
      give_up(r, "reported " + m.names() + ", but the experiment's clock is \"" + options_.clock + "\"", now);
      return {verdict::kind::stop, false, {}, 0};
    }
    r.at = clock != nullptr ? *clock : static_cast<double>(iteration);
    r.last = m;
    score_checkpoint(r);
    ++overview_.reports;
    overview_.seconds = now;
    overview_.maximised = sign_ < 0;
    for (any_output& o : outputs_) o.report(r, m, seconds);
    if (!(std::abs(*value) < infinity)) {
      const std::string text = std::isnan(*value) ? "nan" : "infinite";
      give_up(r, "reported " + metric_ + " = " + text + " at " + detail::number_text(r.at) + ": it is not continued", now);
      return {verdict::kind::stop, false, {}, 0};
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

  void ended_of(trial_number t, double now) {
    trial_record& r = running(t);
    if (r.last.empty()) {
      give_up(r, "ended without a report of \"" + metric_ + "\"", now);
      return;
    }
    scheduler_.remove(t);
    close(r, status::complete, "ended", now);
  }

  bool failed_of(trial_number t, const std::string& why, double now, cause c) {
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

  void check_stop_all() {
    for (const experiment_rule& rule : options_.stop_all) {
      if (!stopping_.empty()) return;
      if (auto reason = rule(overview_)) stopping_ = std::move(*reason);
    }
  }

  /// A failure for good.
  void give_up(trial_record& r, const std::string& why, double now) {
    scheduler_.remove(r.id);
    close(r, status::failed, why, now);
  }

  void close(trial_record& r, status how, const std::string& why, double now) {
    leave(r, now);
    r.state = how;
    r.why = why;
    r.losses.shrink();
    owed_.erase(r.id);
    searcher_.tell(r.id, how == status::failed && r.best_loss == infinity ? std::nan("") : r.best_loss);
    release_dropped(now);
    ++overview_.ended;
    overview_.ended_since_best += r.id != best_;
    decide(r, name_of(how), why);
    for (any_output& o : outputs_) o.end(r);
    check_stop_all();
    files_.use(r.checkpoint_file, -1);
    released_.push_back(r.id);
  }

  void release_dropped(double now) {
    for (const trial_number t : scheduler_.take_dropped()) {
      trial_record& r = records_.at(t);
      if (r.state == status::paused) close(r, status::stopped, "not among the best of its bracket", now);
    }
  }

  void finish_of(double now) {
    finished_ = true;
    for (trial_record& r : records_) {
      if (r.ended()) continue;
      scheduler_.remove(r.id);
      close(r, status::stopped, stopping_.empty() ? "the experiment ended" : stopping_, now);
    }
  }

  double silence_of(trial_number t) const {
    if (!stopping_.empty()) return 0;
    double until = options_.clock.empty() ? scheduler_.silent_until(t) : 0;
    const auto rules = running_.find(t);
    for (const stop_rule& rule : rules->second) until = std::min(until, rule.silent_until());
    if (const auto owed = owed_.find(t); owed != owed_.end()) until = std::min(until, static_cast<double>(owed->second));
    return until;
  }

  // ---- checkpoints on disk -------------------------------------------------------------------------

  /// What the trial would go on from.
  void set_checkpoint(trial_record& r, std::uint64_t iteration, const std::string& file) {
    if (!r.ended()) {
      files_.use(file, 1);
      files_.use(r.checkpoint_file, -1);
    }
    r.checkpoint = iteration;
    r.checkpoint_file = file;
  }
  void checkpointed_of(trial_number t, std::uint64_t iteration, const std::string& file) {
    trial_record& r = records_.at(t);
    const std::size_t bytes = size_of(file);
    if (bytes > 0) files_.add(file, t, iteration, bytes);  // else it has gone since
    set_checkpoint(r, iteration, file);
    if (const auto owed = owed_.find(t); owed != owed_.end() && owed->second <= iteration) owed_.erase(owed);
    note_best_checkpoint(r);
    if (r.iteration == iteration) score_checkpoint(r);     // else its report is the next thing that happens
  }
  void score_checkpoint(trial_record& r) {
    if (r.checkpoint != r.iteration || r.checkpoint_file.empty()) return;
    const checkpoint_options& o = options_.checkpoints;
    const bool by_own = !o.minimise.empty() || !o.maximise.empty();
    const double* value = r.last.find(!by_own ? metric_ : o.minimise.empty() ? o.maximise : o.minimise);
    if (value == nullptr || std::isnan(*value)) return;
    files_.score(r.id, r.iteration, (by_own ? o.maximise.empty() ? 1 : -1 : sign_) * *value);
    note_best_checkpoint(r);
  }
  void note_best_checkpoint(trial_record& r) {
    const auto* const best = files_.best_of(r.id);
    r.best_checkpoint = best == nullptr ? 0 : best->second.iteration;
    r.best_checkpoint_file = best == nullptr ? "" : best->first;
  }
  void trim_checkpoints() {
    const checkpoint_options& o = options_.checkpoints;
    const auto worth_of = [&](trial_number t) {
      return checkpoint_files::worth{records_[t].ended(), records_[t].best_loss, t == best_};
    };
    for (const auto& [file, owner] : files_.take_surplus(o.keep, o.keep_best, o.budget_bytes, worth_of)) {
      remove_checkpoint(file);
      note_best_checkpoint(records_[owner]);
    }
  }
  /// A gang has a file for each member.
  std::string path_of(const std::string& file, int member) const {
    return options_.folder + "/" + file + (member == 0 ? "" : "." + std::to_string(member));
  }
  void remove_checkpoint(const std::string& file) const {
    for (int member = 0; member < std::max(1, options_.ranks); ++member) ::unlink(path_of(file, member).c_str());
  }
  /// 0: it is not there.
  std::size_t size_of(const std::string& file) const {
    std::size_t bytes = 0;
    for (int member = 0; member < std::max(1, options_.ranks); ++member) {
      struct ::stat s = {};
      if (::stat(path_of(file, member).c_str(), &s) != 0) return 0;
      bytes += static_cast<std::size_t>(s.st_size);
    }
    return bytes;
  }
  /// Those that were written just before a kill, and that the journal does not know.
  void remove_unknown_checkpoints() const {
    const std::unique_ptr<::DIR, int (*)(::DIR*)> folder(::opendir((options_.folder + "/checkpoints").c_str()), ::closedir);
    if (folder == nullptr) return;
    while (const ::dirent* const each = ::readdir(folder.get())) {
      const std::string name = each->d_name, file = "checkpoints/" + name.substr(0, name.find('.'));
      const bool is_ours = std::isdigit(static_cast<unsigned char>(name[0])) != 0 && name.find_first_not_of("0123456789-.new") == std::string::npos;
      if (is_ours && (!files_.contains(file) || name.ends_with(".new"))) ::unlink((options_.folder + "/checkpoints/" + name).c_str());
    }
  }

  // ---- continuing ----------------------------------------------------------------------------------

  void continue_from_journal() {
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
      clock_ = detail::number_of(e["s"]);
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
  void check_identity(const journal::event& e) const {
    const auto must_be = [&](const char* what, const std::string& there, const std::string& here) {
      if (there == here) return;
      throw error("manta: tune: " + options_.folder + " holds an experiment with another " + what + " (" + there +
                  " there, " + here + " here); give another folder, or .fresh = true to replace it");
    };
    if (e["e"] != "begin") throw error("manta: tune: " + options_.folder + "/journal.jsonl is not the journal of an experiment");
    must_be("metric", e["metric"], metric_);
    must_be("seed", std::to_string(e["seed"].get<std::int64_t>()), std::to_string(static_cast<std::int64_t>(options_.seed)));
    must_be("space", e["space"], space_.text());
  }
  void replay(const journal::event& e) {
    const std::string kind = e["e"];
    const auto trial = [&] { return e["t"].get<trial_number>(); };
    if (kind == "next") {
      const config c = detail::config_of(e["p"]);
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
      report_of(trial(), detail::metrics_of(e["m"]), clock_, e["i"].get<std::uint64_t>(), detail::number_of(e["r"]));
    } else if (kind == "place") {
      placed_of(trial(), e["rank"].get<int>(), clock_);
    } else if (kind == "tick") {
      overview_.seconds = clock_;
      check_stop_all();
    } else if (kind == "end") {
      ended_of(trial(), clock_);
    } else if (kind == "fail") {
      failed_of(trial(), e["why"], clock_, cause_of(e["cause"]));
    } else if (kind == "save") {
      checkpointed_of(trial(), e["i"].get<std::uint64_t>(), e["f"]);
    } else if (kind == "from") {
      set_checkpoint(records_.at(trial()), e["i"].get<std::uint64_t>(), e["f"]);
    } else if (kind == "revive") {
      revive(trial());
    } else if (kind == "finish") {
      finish_of(clock_);
    }
  }
  static cause cause_of(const std::string& name) {
    for (const cause c : {cause::failure, cause::crash, cause::lost}) {
      if (name == name_of(c)) return c;
    }
    return cause::interrupted;
  }
  void revive(trial_number t) {
    trial_record& r = records_.at(t);
    r.failures = r.crashes = r.ranks_lost = 0;
    files_.use(r.checkpoint_file, 1);
    r.state = status::waiting;
    --overview_.ended;
    scheduler_.add(t, r.parameters);
    again_.push_back(t);
    finished_ = false;
  }

  experiment options_;
  space space_;
  std::string metric_;
  double sign_ = 1;
  any_searcher searcher_;
  any_scheduler scheduler_;
  std::size_t limit_ = 0;
  bool exhausted_ = false, finished_ = false, quiet_ = false;
  std::string stopping_;
  double clock_ = 0;

  std::vector<trial_record> records_;
  std::unordered_map<trial_number, std::vector<stop_rule>> running_;
  std::vector<trial_number> again_, released_;
  std::unordered_map<trial_number, std::uint64_t> owed_;  ///< checkpoints that were asked for, by iteration, and are not on disk
  trial_number best_ = none;
  overview overview_;
  checkpoint_files files_;
  std::vector<any_output> outputs_;
  journal log_;
  std::string line_;
};

}  // namespace manta::tune
