// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Drives the study of an experiment with runners on ranks: gives out trials,
// hears what they report, answers. It keeps the newest checkpoint of each trial as
// a future, so their bytes go from the rank that made them to the one that goes on.
#pragma once

#include "manta/tune/output/table.hpp"
#include "manta/tune/runner.hpp"
#include "manta/tune/study.hpp"

namespace manta::tune::detail {

/// Drives a study with runners. Every runner that is placed has at any time one call under way.
class conductor {
 public:
  using maker = std::unique_ptr<runner_handle> (*)(const actor_options&);
  conductor(study& s, maker make, bool gang)
      : study_(s), options_(s.options()), make_(make), gang_(gang), before_(s.elapsed_before()), table_(s) {}

  void run() {
    const std::size_t wanted = options_.concurrency > 0 ? options_.concurrency : places();
    for (std::size_t i = 0; i < wanted; ++i) add_runner();
    try {
      while (!study_.finished()) {
        if (this_task::stop_requested()) leave();
        assign_all();
        if (study_.running_count() == 0 && deferred_.empty() && nothing_left_) break;
        wait_and_handle();
      }
    } catch (...) {
      end_runners();
      throw;
    }
    study_.finish(now());
    end_runners();
    table_.finish();
  }

 private:
  using clock = std::chrono::steady_clock;

  struct place {
    std::unique_ptr<runner_handle> who;
    future<int> greeting;
    future<void> work;
    future<answers> call;        ///< under way
    bool placed = false, idle = false, gone = false;
    std::optional<trial_number> trial;
    clock::time_point heard;
  };
  struct saved {
    std::vector<future<checkpoint>> parts;
  };

  double now() const { return before_ + std::chrono::duration<double>(clock::now() - start_).count(); }

  /// Ranks that run trials, or gangs of them.
  std::size_t places() const {
    std::size_t ranks = 0;
    for (const rank_resources& r : capacity()) ranks += r.runs_tasks && r.cpus >= options_.cpus;
    const std::size_t all = std::max<std::size_t>(1, ranks / static_cast<std::size_t>(std::max(1, options_.ranks)));
    return std::min(all, study_.trial_limit());
  }

  void add_runner() {
    actor_options o;
    o.cpus = options_.cpus;
    o.gpus = options_.gpus;
    o.resources = graph::quantities(options_.resources);
    o.ranks = options_.ranks;
    o.spread = !gang_;
    o.concurrency = 2;
    place p;
    p.who = make_(o);
    p.greeting = p.who->greet();
    places_.push_back(std::move(p));
  }

  // ---- giving out work -----------------------------------------------------------------------------

  void assign_all() {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].idle && !places_[i].gone && !assign(i)) return;
    }
  }
  /// False if there is nothing for anybody.
  bool assign(std::size_t i) {
    for (;;) {
      std::optional<job> j;
      nothing_left_ = false;
      if (!ready_.empty()) {
        j = std::move(ready_.front());
        ready_.erase(ready_.begin());
      } else {
        j = study_.next(now());
        release();
      }
      if (!j) {
        nothing_left_ = true;
        return false;
      }
      if (j->from && awaited_.contains(*j->from)) {  // its checkpoint is on the way
        deferred_.push_back(std::move(*j));
        continue;
      }
      begin(i, *j, false);
      return true;
    }
  }

  order begin_order(const job& j, bool change) {
    order o;
    o.what = order::kind::begin;
    o.change = change;
    o.id = j.trial;
    o.parameters = j.parameters;
    o.silent_until = j.silent_until;
    o.metric = study_.metric();
    o.folder = options_.folder;
    o.seed = options_.seed;
    o.save_every = options_.checkpoints.every;
    o.save_at_end = options_.checkpoints.at_end;
    if (j.from) {
      if (const auto at = saved_.find(*j.from); at != saved_.end()) {
        o.from = at->second.parts;
        if (*j.from != j.trial) saved_[j.trial] = saved{o.from};  // what it goes on from if it fails
      }
      o.from_file = study_.trial(*j.from).checkpoint_file;  // should the rank that has it die
    }
    return o;
  }
  void begin(std::size_t i, const job& j, bool change) {
    places_[i].trial = j.trial;
    tell(i, begin_order(j, change));
  }
  void tell(std::size_t i, order o) {
    place& p = places_[i];
    p.idle = false;
    p.heard = clock::now();
    p.call = p.who->tell(std::move(o));
  }

  // ---- hearing --------------------------------------------------------------------------------------

  void wait_and_handle() {
    study_.flush();
    std::vector<future<answers>> calls;
    std::vector<std::size_t> of_calls;
    std::vector<future<int>> greetings;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const place& p = places_[i];
      if (p.gone) continue;
      if (!p.placed) greetings.push_back(p.greeting);
      if (p.call.valid()) {
        calls.push_back(p.call);
        of_calls.push_back(i);
      }
    }
    using namespace std::chrono_literals;
    // who has not been placed may stay so for long; those that work must not wait for it, nor it for them
    std::vector<future<answers>> ready;
    if (calls.empty()) {
      (void)manta::wait(greetings, {.count = 1, .timeout = 1s});
    } else {
      ready = manta::wait(calls, {.count = 1, .timeout = greetings.empty() ? 1000ms : 2ms}).ready;
    }
    if (!greetings.empty()) greet();
    std::size_t k = 0;
    for (std::size_t c = 0; c < calls.size() && k < ready.size(); ++c) {
      if (!(calls[c] == ready[k])) continue;
      ++k;
      places_[of_calls[c]].call = {};
      hear(of_calls[c], std::move(calls[c]));
    }
    look_at_clock();
  }

  void greet() {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      place& p = places_[i];
      if (p.placed || p.gone || !p.greeting.wait_for(std::chrono::seconds(0))) continue;
      try {
        (void)p.greeting.get();
      } catch (const manta::error&) {  // it could not be constructed, or its rank has died
        if (++unplaced_ > 3) throw;
        p.gone = true;
        add_runner();
        return;
      }
      p.placed = p.idle = true;
      p.work = p.who->work();
    }
  }

  /// The notices of a runner: of all members of a gang, the first one's says what happened.
  void hear(std::size_t i, future<answers> call) {
    place& p = places_[i];
    p.heard = clock::now();
    std::vector<notice> all;
    try {
      for (const notice& n : call.get()) all.push_back(n);
    } catch (const manta::error& e) {
      lost(i, e.what());
      return;
    }
    const trial_number t = *p.trial;
    notice& n = all.front();
    if (n.has_checkpoint) keep_checkpoint(t, all);

    answer a;
    bool answered = false;  // by the study, that it is to end
    for (const reported& r : n.reports) {
      if (!runs(t)) break;
      a = study_.report(t, r.values, now(), r.iteration, r.seconds);
      answered = a.what != verdict::kind::go_on || a.change.has_value();
      release();
      if (answered) break;
    }
    switch (n.what) {
      case notice::kind::report:
      case notice::kind::saved:
        if (n.what == notice::kind::saved) {
          awaited_.erase(t);
          a.silent_until = last_silence_[t];
        }
        reply(i, t, a, n.reports.empty());
        break;
      case notice::kind::ended:
        if (runs(t) && !answered) study_.ended(t, now());
        free(i);
        break;
      case notice::kind::paused:
        awaited_.erase(t);
        free(i);
        break;
      case notice::kind::failed:
      case notice::kind::fatal:
        if (runs(t) && !answered) fail(t, n.text);
        awaited_.erase(t);
        free(i);
        break;
    }
    for (const notice& other : all) {
      if (&other != &n && other.what == notice::kind::failed && runs(t)) fail(t, other.text);
    }
    retry_deferred();
  }

  bool runs(trial_number t) const { return study_.trial(t).state == status::running; }

  void reply(std::size_t i, trial_number t, const answer& a, bool only_saved) {
    order o;
    o.silent_until = a.silent_until;
    if (!only_saved) last_silence_[t] = a.silent_until;
    if (!runs(t) && study_.trial(t).state != status::paused) {
      o.what = order::kind::stop;
    } else if (leaving_) {
      o.what = order::kind::pause;
    } else if (a.what == verdict::kind::pause) {
      o.what = order::kind::pause;
      awaited_.insert(t);
    } else if (a.change) {
      job j{t, a.change->to, 0, a.change->source, a.silent_until};
      if (awaited_.contains(a.change->source)) {
        held_.push_back({i, std::move(j)});
        places_[i].idle = false;
        return;  // told when the checkpoint has come
      }
      begin(i, j, true);
      return;
    } else if (a.save) {
      o.save = true;
      awaited_.insert(t);
    }
    tell(i, std::move(o));
  }

  void free(std::size_t i) {
    places_[i].trial.reset();
    places_[i].idle = true;
  }

  void fail(trial_number t, const std::string& why) {
    const bool again = study_.failed(t, why, now());
    table_.line("trial " + std::to_string(t) + " failed: " + why + (again ? "; it is tried again" : ""));
    release();
  }

  /// The runner is gone, or its rank: the trial goes on elsewhere from its checkpoint, and it does not count as its failure
  /// unless it happens again and again.
  void lost(std::size_t i, const std::string& why) {
    place& p = places_[i];
    p.gone = true;
    try {
      if (p.work.wait_for(std::chrono::seconds(0))) p.work.get();
    } catch (const manta::error&) {  // the same
    }
    const trial_number t = *p.trial;
    awaited_.erase(t);
    if (runs(t)) {
      const bool often = ++losses_[t] > 3;
      study_.failed(t, "its runner was lost: " + why, now(), !often);
      table_.line("trial " + std::to_string(t) + ": its runner was lost: " + why);
      release();
    }
    add_runner();
    retry_deferred();
  }

  void look_at_clock() {
    const auto time = clock::now();
    if (options_.silence < std::chrono::duration<double>::max()) {
      for (std::size_t i = 0; i < places_.size(); ++i) {
        place& p = places_[i];
        if (p.gone || !p.trial || !p.call.valid() || time - p.heard < options_.silence) continue;
        const trial_number t = *p.trial;
        if (runs(t)) fail(t, "has not reported for " + number_text(options_.silence.count()) + " s: its rank is given up until it does");
        awaited_.erase(t);
        p.gone = true;  // whatever it does, nobody listens; when it reports at last, it is told to end
        manta::cancel(p.call);
        manta::cancel(p.work);
        p.call = {};
        p.who = nullptr;
        add_runner();
        retry_deferred();
      }
    }
    if (time - flushed_ > std::chrono::seconds(2)) {
      study_.flush_outputs();
      flushed_ = time;
    }
    table_.update(now());
  }

  // ---- checkpoints ----------------------------------------------------------------------------------

  void keep_checkpoint(trial_number t, std::vector<notice>& all) {
    saved s;
    for (notice& n : all) s.parts.push_back(std::move(n.made));
    saved_[t] = std::move(s);
    if (!all.front().file.empty()) study_.checkpointed(t, all.front().made_at, all.front().file, now());
  }
  /// Checkpoints of trials that have ended go; so does what else is known of them here.
  void release() {
    for (const trial_number t : study_.take_released()) {
      saved_.erase(t);
      last_silence_.erase(t);
      losses_.erase(t);
    }
  }
  /// Those that waited for a checkpoint that has come, or never will.
  void retry_deferred() {
    for (std::size_t k = 0; k < deferred_.size();) {
      if (deferred_[k].from && awaited_.contains(*deferred_[k].from)) {
        ++k;
        continue;
      }
      ready_.push_back(std::move(deferred_[k]));
      deferred_.erase(deferred_.begin() + static_cast<std::ptrdiff_t>(k));
    }
    for (std::size_t k = 0; k < held_.size();) {
      if (awaited_.contains(*held_[k].second.from)) {
        ++k;
        continue;
      }
      const auto h = std::move(held_[k]);
      held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(k));
      begin(h.first, h.second, true);
    }
  }

  // ---- the end --------------------------------------------------------------------------------------

  /// The run has to end: trials save where they are, and go on from there when the experiment is continued.
  [[noreturn]] void leave() {
    using namespace std::chrono_literals;
    leaving_ = true;
    const auto patience_ends = clock::now() + 20s;
    const auto is_under_way = [](const place& p) { return !p.gone && p.call.valid(); };
    while (std::any_of(places_.begin(), places_.end(), is_under_way) && clock::now() < patience_ends) wait_and_handle();
    study_.flush();
    study_.flush_outputs();
    throw cancelled("manta: tune: the experiment was left because the run has to end; " +
                    (options_.folder.empty() ? "with a folder it could be continued" : "started again, it goes on in " + options_.folder));
  }

  void end_runners() {
    for (place& p : places_) {
      if (p.gone) continue;
      if (!p.placed) {
        manta::cancel(p.greeting);
      } else if (p.idle) {
        order quit;
        quit.what = order::kind::quit;
        p.call = p.who->tell(std::move(quit));
      } else {  // an exception of ours
        if (p.call.valid()) manta::cancel(p.call);
        manta::cancel(p.work);
      }
    }
    for (place& p : places_) {
      if (!p.gone && p.idle && p.call.valid()) p.call.wait();
    }
    places_.clear();
  }

  study& study_;
  const experiment& options_;
  maker make_;
  bool gang_;
  double before_;
  clock::time_point start_ = clock::now(), flushed_ = start_;
  status_table table_;
  std::vector<place> places_;
  std::map<trial_number, saved> saved_;
  std::set<trial_number> awaited_;  ///< told to save; the checkpoint has not come
  std::vector<job> deferred_, ready_;
  std::vector<std::pair<std::size_t, job>> held_;
  std::map<trial_number, double> last_silence_;
  std::map<trial_number, int> losses_;
  bool leaving_ = false;
  int unplaced_ = 0;  ///< runners that were lost before they said where they are
  bool nothing_left_ = false;
};

}  // namespace manta::tune::detail
