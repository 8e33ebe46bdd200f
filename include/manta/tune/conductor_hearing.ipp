// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the conductor does with the notices of runners, with their loss and their silence, and with checkpoints.
#pragma once

#include <algorithm>

#include "manta/tune/conductor.hpp"

namespace manta::tune::detail {

MANTA_DECL void conductor::wait_and_handle() {
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

MANTA_DECL void conductor::greet() {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    place& p = places_[i];
    if (p.placed || p.gone || !p.greeting.wait_for(std::chrono::seconds(0))) continue;
    try {
      p.rank = p.greeting.get();
    } catch (const manta::error&) {  // it could not be constructed, or its rank has died
      if (++unplaced_ > 3) throw;
      p.gone = true;
      add_runner();
      return;
    }
    p.placed = p.idle = true;
    study_.opened(p.rank, now());
    unplaced_ = 0;
    p.work = p.who->work();
  }
}

MANTA_DECL void conductor::hear(std::size_t i, future<answers> call) {
  place& p = places_[i];
  const auto before = std::exchange(p.heard, clock::now());
  std::vector<notice> all;
  try {
    for (const notice& n : call.get()) all.push_back(n);
  } catch (const task_failed& e) {  // the trial has said that its runner is broken, or has broken it
    const bool hung = options_.isolate && clock::now() - before >= options_.silence;
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
      if (runs(t) && !answered) fail(i, t, n.text);
      awaited_.erase(t);
      free(i);
      break;
  }
  for (const notice& other : all) {
    if (&other != &n && other.what == notice::kind::failed && runs(t)) fail(i, t, other.text);
  }
  retry_deferred();
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
  table_.line("trial " + std::to_string(t) + " " + what);
}

MANTA_DECL void conductor::lost(std::size_t i, std::string why, cause c) {
  place& p = places_[i];
  p.gone = true;
  study_.closed(p.rank, now());
  try {
    if (p.work.valid() && p.work.wait_for(std::chrono::seconds(1))) p.work.get();
  } catch (const rank_lost& e) {  // by what the trial did
    c = cause::crash;
    why = e.what();
  } catch (const manta::error&) {  // the same
  }
  p.who = nullptr;
  const trial_number t = *p.trial;
  awaited_.erase(t);
  if (!p.has_begun && options_.isolate) saved_.erase(t);  // perhaps that is what is lost; there may be a file
  if (runs(t)) fail(i, t, why, c);
  add_runner();
  retry_deferred();
}

MANTA_DECL std::string conductor::silence_text() const {
  return "has not reported for " + number_text(options_.silence.count()) + " s";
}

MANTA_DECL void conductor::look_at_clock() {
  const auto time = clock::now();
  if (options_.silence < std::chrono::duration<double>::max() && !options_.isolate) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      place& p = places_[i];
      if (p.gone || !p.trial || !p.call.valid() || time - p.heard < options_.silence) continue;
      const trial_number t = *p.trial;
      if (runs(t)) fail(i, t, silence_text() + ": its rank is given up until it does");
      awaited_.erase(t);
      study_.closed(p.rank, now());
      p.gone = true;  // whatever it does, nobody listens; when it reports at last, it is told to end
      abandon(p);
      add_runner();
      retry_deferred();
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
  for (notice& n : all) s.parts.push_back(n.made.valid() ? std::move(n.made) : places_[i].who->take());
  if (study_.needs_checkpoint(t)) saved_[t] = std::move(s);
  if (!all.front().file.empty()) study_.checkpointed(t, all.front().made_at, all.front().file, now());
}

MANTA_DECL void conductor::release() {
  for (const trial_number t : study_.take_released()) {
    if (study_.trial(t).state == status::failed) say(t, "failed: " + study_.trial(t).why);
    saved_.erase(t);
    last_silence_.erase(t);
    failed_at_.erase(t);
  }
}

MANTA_DECL void conductor::retry_deferred() {
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

}  // namespace manta::tune::detail
