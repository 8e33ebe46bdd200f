// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of conductor.hpp: runners, the orders that they get, and the end.
#pragma once

#include <algorithm>

#include "manta/tune/conductor.hpp"

namespace manta::tune::detail {

MANTA_DECL conductor::conductor(study& s, body_name what, bool gang)
    : study_(s), options_(s.options()), what_(std::move(what)), gang_(gang), before_(s.elapsed_before()), table_(s) {}

MANTA_DECL void conductor::run() {
  const std::size_t wanted = options_.concurrency > 0 ? options_.concurrency : places();
  for (std::size_t i = 0; i < wanted; ++i) add_runner();
  try {
    while (!study_.finished()) {
      if (this_task::stop_requested()) leave();
      const bool nothing_left = !assign_all() && study_.running_count() == 0;
      if (!is_under_way() && (nothing_left || !study_.stopping().empty()))
        break;  // what waits for a place does not begin
      wait_and_handle();
    }
  } catch (const cancelled& e) {
    if (!leaving_) close_outputs(e.what());
    end_runners();
    throw;
  } catch (const std::exception& e) {
    close_outputs(base::text_of(e));
    stop_trials();
    end_runners();
    throw;
  } catch (...) {
    close_outputs("something that is not a std::exception was thrown");
    stop_trials();
    end_runners();
    throw;
  }
  study_.finish(now());
  end_runners();
  table_.finish();
}

MANTA_DECL void conductor::close_outputs(const std::string& why) {
  try {
    study_.flush();
    study_.flush_outputs();
    study_.finish_outputs("an exception ended this run: " + why);
  } catch (const std::exception& e) {  // the one that is on its way says more
    table_.line(std::string("the outputs could not be ended: ") + e.what());
  }
}

MANTA_DECL double conductor::now() const {
  return before_ + std::chrono::duration<double>(clock::now() - start_).count();
}

MANTA_DECL std::size_t conductor::places() const {
  std::size_t ranks = 0;
  for (const rank_resources& r : capacity()) ranks += r.runs_tasks && r.cpus >= options_.cpus;
  const std::size_t all = std::max<std::size_t>(1, ranks / static_cast<std::size_t>(std::max(1, options_.ranks)));
  return std::min(all, study_.trial_limit());
}

MANTA_DECL void conductor::add_runner() {
  actor_options o;
  o.cpus = options_.cpus;
  o.gpus = options_.gpus;
  o.resources = graph::quantities(options_.resources);
  o.ranks = options_.ranks;
  o.spread = !gang_;
  if (options_.isolate) {
    o.isolate = options_.isolate;
  } else {
    o.concurrency = 2;
  }
  place p;
  p.who = spawn_runner(o, what_, gang_);
  p.greeting = p.who->greet();
  places_.push_back(std::move(p));
}

MANTA_DECL bool conductor::assign_all() {
  bool may_ask = true;
  for (const bool anywhere : {false, true}) {
    for (std::size_t i = 0; i < places_.size() && (may_ask || !ready_.empty()); ++i) {
      if (places_[i].idle && !places_[i].gone) assign(i, anywhere, may_ask);
    }
  }
  return study_.running_count() == 0 && may_ask ? ask() : may_ask;
}

MANTA_DECL void conductor::assign(std::size_t i, bool anywhere, bool& may_ask) {
  for (;;) {
    const auto next = std::find_if(ready_.begin(), ready_.end(),
                                   [&](const job& j) { return anywhere || !has_failed_at(j.trial, i); });
    if (next == ready_.end()) {
      may_ask = may_ask && ask();
      if (!may_ask) return;
      continue;
    }
    const job j = std::move(*next);
    ready_.erase(next);
    if (!j.from || !awaited_.contains(*j.from)) return begin(i, j, false);
    deferred_.push_back(j);  // its checkpoint is on the way
  }
}

MANTA_DECL bool conductor::ask() {
  std::optional<job> j;
  try {
    j = study_.next(now());
  } catch (...) {
    if (!study_.is_broken() || study_.trials().empty()) throw;  // else what was found is returned
  }
  release();
  if (j) ready_.push_back(std::move(*j));
  return j.has_value();
}

MANTA_DECL bool conductor::has_failed_at(trial_number t, std::size_t i) const {
  const auto at = failed_at_.find(t);
  if (at == failed_at_.end() || at->second != places_[i].rank) return false;
  return std::any_of(places_.begin(), places_.end(),
                     [&](const place& p) { return p.placed && !p.gone && p.rank != places_[i].rank; });
}

MANTA_DECL order conductor::begin_order(const job& j, bool change) {
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
  o.line = study_.trial(j.trial).starts;
  o.silence = options_.silence.count();
  if (j.from) {
    study_.continues_from(j.trial, *j.from, now());
    if (const auto at = saved_.find(*j.from); at != saved_.end()) {
      o.from = at->second.parts;
      if (*j.from != j.trial) saved_[j.trial] = saved{o.from};  // what it goes on from if it fails
    }
    o.from_file = study_.trial(j.trial).checkpoint_file;  // should the rank that has it die
  }
  return o;
}

MANTA_DECL void conductor::begin(std::size_t i, const job& j, bool change) {
  places_[i].trial = j.trial;
  places_[i].has_begun = false;
  if (runs(j.trial)) study_.placed(j.trial, places_[i].rank, now());
  tell(i, begin_order(j, change));
}

MANTA_DECL void conductor::tell(std::size_t i, order o) {
  place& p = places_[i];
  p.idle = false;
  p.heard = clock::now();
  if (options_.isolate) o.silent_until = 0;  // what has been reported counts, whatever happens next
  p.call = p.who->tell(std::move(o));
}

MANTA_DECL bool conductor::is_under_way() const {
  return std::any_of(places_.begin(), places_.end(), [](const place& p) { return !p.gone && p.call.valid(); });
}

[[noreturn]] MANTA_DECL void conductor::leave() {
  using namespace std::chrono_literals;
  leaving_ = true;
  const auto patience_ends = clock::now() + 20s;
  while (is_under_way() && clock::now() < patience_ends) wait_and_handle();
  study_.flush();
  study_.flush_outputs();
  study_.finish_outputs("the run had to end; started again, the experiment goes on");
  throw cancelled("manta: tune: the experiment was left because the run has to end; " +
                  (options_.folder.empty() ? "with a folder it could be continued"
                                           : "started again, it goes on in " + options_.folder));
}

MANTA_DECL void conductor::stop_trials() {
  using namespace std::chrono_literals;
  const auto patience_ends = clock::now() + 20s;
  const auto stop = [&](std::size_t i) {
    order o;
    o.what = order::kind::stop;
    tell(i, std::move(o));
  };
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const place& p = places_[i];
    if (p.placed && !p.gone && !p.idle && !p.call.valid()) stop(i);  // it waits for an answer to its report
  }
  for (std::size_t i = 0; i < places_.size(); ++i) {
    place& p = places_[i];
    while (!p.gone && p.call.valid()) {
      if (!p.call.wait_for(std::max<clock::duration>(patience_ends - clock::now(), 0s)))
        break;  // end_runners gives it up
      bool waits = false;
      try {
        const answers all = std::exchange(p.call, {}).get();
        for (const notice& n : all) waits = waits || n.what == notice::kind::report || n.what == notice::kind::saved;
      } catch (const manta::error&) {
        p.gone = true;
      }
      if (waits) stop(i);
      p.idle = !p.gone && !waits;
    }
  }
}

MANTA_DECL void conductor::abandon(place& p) {
  if (p.call.valid()) manta::cancel(p.call);
  if (p.work.valid()) manta::cancel(p.work);
  if (!options_.isolate) (void)p.who->tell(quit_order());  // waits there until the trial reports
  p.call = {};
  p.who = nullptr;
}

MANTA_DECL void conductor::end_runners() {
  for (place& p : places_) {
    if (p.gone) continue;
    if (!p.placed) {
      manta::cancel(p.greeting);
    } else if (p.idle) {
      p.call = p.who->tell(quit_order());
    } else {  // it computes, and an exception of ours ends the run
      abandon(p);
    }
  }
  for (place& p : places_) {
    if (!p.gone && p.idle && p.call.valid()) p.call.wait();
  }
  places_.clear();
}

}  // namespace manta::tune::detail
