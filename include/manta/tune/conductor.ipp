// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/text.hpp"
#include "manta/tune/conductor.hpp"

namespace manta::tune::detail {

MANTA_DECL conductor::conductor(study& s, body_name what, bool gang)
    : study_(s),
      options_(s.options()),
      before_(s.elapsed_before()),
      table_(s),
      places_(s.options(), std::move(what), gang) {}

MANTA_DECL void conductor::run() {
  const std::size_t possible = std::min(places_.possible(), study_.trial_limit());
  const std::size_t wanted = options_.concurrency > 0 ? options_.concurrency : possible;
  for (std::size_t i = 0; i < wanted; ++i) places_.add();
  try {
    while (!study_.finished()) {
      if (this_task::stop_requested()) leave();
      const bool nothing_left = !assign_all() && study_.running_count() == 0;
      if (!places_.is_under_way() && (nothing_left || !study_.stopping().empty()))
        break;  // what waits for a place does not begin
      wait_and_handle();
    }
  } catch (const cancelled& e) {
    if (!leaving_) close_outputs(e.what());
    places_.close();
    throw;
  } catch (const std::exception& e) {
    close_outputs(base::text_of(e));
    places_.stop_trials();
    places_.close();
    throw;
  } catch (...) {
    close_outputs("something that is not a std::exception was thrown");
    places_.stop_trials();
    places_.close();
    throw;
  }
  study_.finish(now());
  places_.close();
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
  return before_ + std::chrono::duration<double>(place::clock::now() - start_).count();
}

MANTA_DECL bool conductor::assign_all() {
  bool may_ask = true;
  for (const bool anywhere : {false, true}) {
    for (std::size_t i = 0; i < places_.size() && (may_ask || jobs_.has_ready()); ++i) {
      if (places_[i].idle && !places_[i].gone) assign(i, anywhere, may_ask);
    }
  }
  return study_.running_count() == 0 && may_ask ? ask() : may_ask;
}

MANTA_DECL void conductor::assign(std::size_t i, bool anywhere, bool& may_ask) {
  const auto suits = [&](const job& j) { return anywhere || !has_failed_at(j.trial, i); };
  do {
    if (const auto j = jobs_.take(suits)) return begin(i, *j, false);
    may_ask = may_ask && ask();
  } while (may_ask);
}

MANTA_DECL bool conductor::ask() {
  std::optional<job> j;
  try {
    j = study_.next(now());
  } catch (...) {
    if (!study_.is_broken() || study_.trials().empty()) throw;  // else what was found is returned
  }
  release();
  if (!j) return false;
  jobs_.add(std::move(*j));
  return true;
}

MANTA_DECL bool conductor::has_failed_at(trial_number t, std::size_t i) {
  const auto at = failed_at_.find(t);
  return at != failed_at_.end() && at->second == places_[i].rank && places_.has_other_rank(i);
}

MANTA_DECL order conductor::begin_order(const job& j, bool change) {
  order o;
  o.what = order::kind::begin;
  o.change = change;
  o.id = j.trial;
  o.parameters = j.parameters;
  o.silent_until = j.silent_until;
  o.metric = study_.metric();
  o.clock = options_.clock;
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
  places_.tell(i, begin_order(j, change));
}

MANTA_DECL void conductor::wait_and_handle() {
  study_.flush();
  std::vector<future<answers>> calls;
  std::vector<std::size_t> of_calls;
  std::vector<future<whereabouts>> greetings;
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

MANTA_DECL void conductor::greet() {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    place& p = places_[i];
    if (p.placed || p.gone || !p.greeting.wait_for(std::chrono::seconds(0))) continue;
    try {
      const whereabouts& at = p.greeting.get();
      p.rank = at.rank;
      p.host = at.host;
    } catch (const manta::error&) {  // it could not be constructed, or its rank has died
      if (++unplaced_ > 3) throw;
      p.gone = true;
      places_.add();
      return;
    }
    p.placed = p.idle = true;
    study_.opened(p.rank, now(), p.host);
    unplaced_ = 0;
    p.work = p.who->work();
  }
}

MANTA_DECL void conductor::pass_remarks(trial_number t, const notice& n) {
  for (const remark& each : n.remarks) {
    if (each.is_file) study_.attached(t, each.name, now());
    else study_.noted(t, each.name, each.text, now());
  }
}

MANTA_DECL void conductor::hear(std::size_t i, future<answers> call) {
  place& p = places_[i];
  const auto before = std::exchange(p.heard, place::clock::now());
  std::vector<notice> all;
  try {
    for (const notice& n : call.get()) all.push_back(n);
  } catch (const task_failed& e) {  // the trial has said that its runner is broken, or has broken it
    const bool hung = options_.isolate && place::clock::now() - before >= options_.silence;
    lost(i, (hung ? silence_text() + ", and " : "") + e.details().what, cause::failure);
    return;
  } catch (const manta::error& e) {
    lost(i, e.what(), cause::lost);
    return;
  }
  p.has_begun = true;
  const trial_number t = *p.trial;
  notice& n = all.front();
  if (n.has_checkpoint) keep_checkpoint(i, t, all);
  if (n.keeps_nothing) {
    if (const std::string line = study_.nothing_kept(t, now()); !line.empty()) table_.line(line, true);
  }
  pass_remarks(t, n);
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
        jobs_.await_no_more(t);
        a.silent_until = last_silence_[t];
      }
      reply(i, t, a, n.reports.empty());
      break;
    case notice::kind::ended:
      if (runs(t) && !answered) study_.ended(t, now());
      free(i);
      break;
    case notice::kind::paused:
      jobs_.await_no_more(t);
      free(i);
      break;
    case notice::kind::failed:
    case notice::kind::fatal:
      if (runs(t) && !answered) fail(i, t, n.text);
      jobs_.await_no_more(t);
      free(i);
      break;
  }
  for (const notice& other : all) {
    if (&other != &n && other.what == notice::kind::failed && runs(t)) fail(i, t, other.text);
  }
  begin_held();
}

MANTA_DECL void conductor::reply(std::size_t i, trial_number t, const answer& a, bool only_saved) {
  order o;
  o.silent_until = a.silent_until;
  if (!only_saved) last_silence_[t] = a.silent_until;
  if (!runs(t) && study_.trial(t).state != status::paused) {
    o.what = order::kind::stop;
  } else if (leaving_) {
    o.what = order::kind::pause;
  } else if (a.what == verdict::kind::pause) {
    o.what = order::kind::pause;
    jobs_.await(t);
  } else if (a.change) {
    job j{t, a.change->to, 0, a.change->source, a.silent_until};
    if (jobs_.awaits(a.change->source)) {
      jobs_.hold(i, std::move(j));
      places_[i].idle = false;
      return;  // told when the checkpoint has come
    }
    begin(i, j, true);
    return;
  } else if (a.save) {
    o.save = true;
    jobs_.await(t);
  }
  places_.tell(i, std::move(o));
}

MANTA_DECL void conductor::free(std::size_t i) {
  places_[i].trial.reset();
  places_[i].idle = true;
}

MANTA_DECL void conductor::fail(std::size_t i, trial_number t, const std::string& why, cause c) {
  failed_at_[t] = places_[i].rank;
  if (study_.failed(t, why, now(), c))
    say(t, (c == cause::lost ? "was lost: " : "failed: ") + why + "; it is tried again");
  release();
}

MANTA_DECL void conductor::say(trial_number t, const std::string& what) {
  table_.line(base::text("trial {} {}", t, what));
}

MANTA_DECL void conductor::lost(std::size_t i, std::string why, cause c) {
  place& p = places_[i];
  p.gone = true;
  study_.closed(p.rank, now());
  for (const future<void>& work : p.work) {
    try {
      if (work.wait_for(std::chrono::seconds(1))) work.get();
    } catch (const rank_lost& e) {  // by what the trial did
      c = cause::crash;
      why = e.what();
    } catch (const manta::error&) {  // the same
    }
  }
  p.who = nullptr;
  const trial_number t = *p.trial;
  jobs_.await_no_more(t);
  if (!p.has_begun && options_.isolate) saved_.erase(t);  // perhaps that is what is lost; there may be a file
  if (runs(t)) fail(i, t, why, c);
  places_.add();
  begin_held();
}

MANTA_DECL std::string conductor::silence_text() const {
  return "has not reported for " + number_text(options_.silence.count()) + " s";
}

MANTA_DECL void conductor::look_at_clock() {
  const auto time = place::clock::now();
  if (options_.silence < std::chrono::duration<double>::max() && !options_.isolate) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      place& p = places_[i];
      if (p.gone || !p.trial || !p.call.valid() || time - p.heard < options_.silence * options_.repeats) continue;
      const trial_number t = *p.trial;
      if (runs(t)) fail(i, t, silence_text() + ": its rank is given up until it does");
      jobs_.await_no_more(t);
      study_.closed(p.rank, now());
      p.gone = true;  // whatever it does, nobody listens; when it reports at last, it is told to end
      places_.abandon(p);
      places_.add();
      begin_held();
    }
  }
  if (time - flushed_ > std::chrono::seconds(2)) {
    study_.flush_outputs();
    flushed_ = time;
  }
  study_.tick(now());
  table_.update(now());
}

MANTA_DECL void conductor::keep_checkpoint(std::size_t i, trial_number t, std::vector<notice>& all) {
  saved s;
  for (notice& n : all) {
    for (int part = 0; n.made.empty() && part < n.parts; ++part) s.parts.push_back(places_[i].who->take());
    s.parts.insert(s.parts.end(), n.made.begin(), n.made.end());
  }
  if (study_.needs_checkpoint(t)) saved_[t] = std::move(s);
  if (!all.front().file.empty()) study_.checkpointed(t, all.front().made_at, all.front().file, now());
}

MANTA_DECL void conductor::release() {
  for (const trial_number t : study_.take_released()) {
    if (study_.trial(t).state == status::failed) table_.failed(t, study_.trial(t).why);
    saved_.erase(t);
    last_silence_.erase(t);
    failed_at_.erase(t);
  }
  for (const std::string& line : study_.take_lines()) table_.line(line, true);
}

MANTA_DECL void conductor::begin_held() {
  for (const jobs::held& h : jobs_.release()) begin(h.place, h.what, true);
}

[[noreturn]] MANTA_DECL void conductor::leave() {
  using namespace std::chrono_literals;
  leaving_ = true;
  const auto patience_ends = place::clock::now() + 20s;
  while (places_.is_under_way() && place::clock::now() < patience_ends) wait_and_handle();
  study_.flush();
  study_.flush_outputs();
  study_.finish_outputs("the run had to end; started again, the experiment goes on");
  throw cancelled("manta: tune: the experiment was left because the run has to end; " +
                  (options_.folder.empty() ? "with a folder it could be continued"
                                           : "started again, it goes on in " + options_.folder));
}

}  // namespace manta::tune::detail
