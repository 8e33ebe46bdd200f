// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of trainer.hpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "manta/capacity.hpp"
#include "manta/insist.hpp"
#include "manta/options.hpp"
#include "manta/run.hpp"
#include "manta/train/trainer.hpp"

namespace manta::train::detail {

using manta::detail::sentence;

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

inline void check_options(const options& o) {
  const auto refuse = [](const std::string& what) { throw error("manta: train: " + what); };
  if (o.workers < 1) refuse(".workers is " + std::to_string(o.workers) + "; at least one is needed");
  if (o.batch < 1) refuse(".batch is " + std::to_string(o.batch) + "; at least one sample is needed");
  if (o.accumulate < 1) refuse(".accumulate is " + std::to_string(o.accumulate) + "; at least one part is needed");
  if (!(o.clip >= 0)) refuse(".clip is " + std::to_string(o.clip) + "; it is a norm, or 0");
  if (o.average_every < 0)
    refuse(".average_every is " + std::to_string(o.average_every) + "; it is a number of steps, or 0");
  if (o.average_every > 0 && o.exchange != wire::as_is)
    refuse(".average_every exchanges no gradients, so .exchange has to stay as it is");
}

/// The trainers of this process.
inline std::vector<trainer_core*>& trainers() {
  static std::vector<trainer_core*> all;
  return all;
}

constexpr int most_deaths = 4;

inline void trainer_core::give_up() const {
  throw rank_lost("manta: train: the ranks of " + std::to_string(most_deaths) +
                  " workers have died one after the other, and none got beyond step " + std::to_string(good_.step) +
                  ": the recipe seems to end its process there. The trainer has the state before that step, which "
                  "save() writes; find out how the processes ended from the lines above");
}

/// A call of a trainer: it counts as busy meanwhile, and no other parks it. After a death it is done again from the
/// good state.
template <class Call>
auto trainer_core::call(Call&& c) {
  struct guard {
    bool& flag;
    explicit guard(bool& f) : flag(f) { flag = true; }
    ~guard() { flag = false; }
  } const busy(is_busy_);
  static std::uint64_t uses = 0;
  last_use_ = ++uses;
  good_since_ = std::chrono::steady_clock::now();
  bool has_died = false;
  int deaths_here = 0;  // without progress in between
  const auto progress = [&] { return std::pair(good_.epoch, good_.step); };
  auto at_last_death = progress();
  for (;;) {
    try {
      wake();
      if (std::exchange(has_died, false)) {
        before_.seconds_lost += seconds_since(good_since_);
        good_since_ = std::chrono::steady_clock::now();
      }
      return c();
    } catch (const rank_lost&) {
      if (!manta::detail::launcher_recovers()) throw;
    } catch (const actor_died&) {
      if (!manta::detail::launcher_recovers()) throw;
    }
    has_died = true;
    bury();
    deaths_here = progress() == at_last_death ? deaths_here + 1 : 1;
    at_last_death = progress();
    if (deaths_here == most_deaths) give_up();
  }
}

MANTA_DECL trainer_core::trainer_core(learner_name what, const options& o) : what_(std::move(what)), options_(o) {
  check_options(o);
  trainers().push_back(this);
  try {
    call([] {});
  } catch (...) {
    std::erase(trainers(), this);
    throw;
  }
}
MANTA_DECL trainer_core::~trainer_core() { std::erase(trainers(), this); }

inline void trainer_core::wake() {
  if (has_workers_) return;
  make_room();
  start_workers();
  if (was_started_) sentence(async<&worker::restore>(workers_, parked_, false));
  was_started_ = true;
  parked_ = {};
}

inline void trainer_core::bury() {
  workers_ = {};
  has_workers_ = false;
  lost_a_rank_ = true;
  ++before_.deaths;
  std::optional<survivor> furthest = furthest_survivor(ranks_, number_, good_);
  if (furthest) {
    furthest->pass.deaths = before_.deaths;
    furthest->pass.seconds_lost = before_.seconds_lost + furthest->seconds;
    before_ = std::move(furthest->pass);
    good_ = std::move(furthest->at);
    good_since_ = std::chrono::steady_clock::now();
  }
  if (good_.model.empty()) was_started_ = false;  // nothing has been trained: new workers begin by the seed
  parked_ = good_;
}

inline void trainer_core::remember() {
  if (!manta::detail::launcher_recovers()) return;
  good_ = sentence(async<&worker::save>(workers_));
  good_since_ = std::chrono::steady_clock::now();
}

inline void trainer_core::start_workers() {
  // After a death there may be fewer ranks than were asked for.
  for (int n = options_.workers;; --n) {
    try {
      workers_ =
          spawn<worker>({.cpus = options_.cpus, .gpus = options_.gpus, .resources = options_.resources, .ranks = n},
                        what_, options_, number_);
      break;
    } catch (const unschedulable&) {
      if (n == 1 || !lost_a_rank_) throw;
    }
  }
  try {
    const per_rank<int> ranks = sentence(async<&worker::open>(workers_));
    ranks_.assign(ranks.begin(), ranks.end());
  } catch (...) {
    workers_ = {};
    throw;
  }
  has_workers_ = true;
}

inline void trainer_core::park() {
  try {
    parked_ = sentence(async<&worker::save>(workers_));
  } catch (const rank_lost&) {
    if (!manta::detail::launcher_recovers()) throw;
    bury();
  } catch (const actor_died&) {
    if (!manta::detail::launcher_recovers()) throw;
    bury();
  }
  workers_ = {};  // the last handle: the workers end
  has_workers_ = false;
}

/// The ranks that live and run tasks; rank 0 is the last one.
inline int ranks_for_workers() {
  const auto all = capacity();
  const auto runs = [](const rank_resources& r) { return r.node >= 0 && r.runs_tasks; };
  return std::max(1, static_cast<int>(std::count_if(all.begin(), all.end(), runs)));
}

inline void trainer_core::make_room() {
  for (;;) {
    int free = ranks_for_workers();
    trainer_core* longest_idle = nullptr;
    for (trainer_core* t : trainers()) {
      if (!t->has_workers_) continue;
      free -= static_cast<int>(t->ranks_.size());
      if (!t->is_busy_ && (!longest_idle || t->last_use_ < longest_idle->last_use_)) longest_idle = t;
    }
    if (free >= options_.workers || !longest_idle) return;
    longest_idle->park();
  }
}

inline void trainer_core::train_piece(std::uint64_t steps) {
  const auto begin = std::chrono::steady_clock::now();
  pass_result r = sentence(async<&worker::train>(workers_, steps, before_));
  const double training = seconds_since(begin);
  remember();
  before_ = std::move(r);
  constexpr double least_ratio = 50;  // so that states cost 2 % at most
  if (steps >= piece_ && steps < whole_epoch / 2 && training < least_ratio * (seconds_since(begin) - training))
    piece_ = 2 * steps;
}

inline std::uint64_t trainer_core::piece_of_epoch(std::uint64_t samples) const {
  constexpr std::uint64_t pieces = 200;
  const std::uint64_t some = std::max<std::uint64_t>(1, samples / static_cast<std::uint64_t>(options_.batch) / pieces);
  // Workers that differ until they agree after a piece give a result that depends on the pieces: no clock may set them.
  const bool may_vary = ranks_.size() == 1 || (options_.average_every == 0 && options_.exchange == wire::as_is);
  return may_vary ? std::max(some, piece_) : some;
}

inline pass_result trainer_core::train_some(std::uint64_t steps, pass_result before) {
  before_ = std::move(before);
  struct position {
    std::uint64_t epoch, step;
  };
  std::optional<position> begin;
  return call([&] {
    if (good_.model.empty()) remember();
    if (!begin) begin = position{good_.epoch, good_.step};
    const bool is_alone = ranks_.size() == 1 && manta::detail::launcher_recovers();
    for (bool is_last = false; !is_last && good_.epoch == begin->epoch;) {  // the last step may be made already
      const std::uint64_t left = steps - (good_.step - begin->step);
      is_last = !is_alone || left <= piece_;
      train_piece(is_last ? left : piece_);
    }
    return before_;
  });
}
MANTA_DECL summary trainer_core::train(std::uint64_t steps) {
  const auto begin = std::chrono::steady_clock::now();
  const pass_result r = train_some(steps);
  return summary_of(r, seconds_since(begin));
}
MANTA_DECL summary trainer_core::validate() {
  return call([&] {
    const auto begin = std::chrono::steady_clock::now();
    const pass_result r = joined(sentence(async<&worker::validate>(workers_)));
    return summary_of(r, seconds_since(begin));
  });
}
inline summary trainer_core::glance() {
  return call([&] { return summary_of(sentence(async<&worker::glance>(workers_)), 0); });
}
MANTA_DECL state trainer_core::state() {
  if (!has_workers_ && was_started_) return parked_;
  return call([&] { return sentence(async<&worker::save>(workers_)); });
}
MANTA_DECL void trainer_core::restore(const train::state& s) {
  call([&] {
    sentence(async<&worker::restore>(workers_, s, false));
    remember();
  });
}

inline void trainer_core::write(const train::state& s, const std::string& path) {
  output::write_state(path, "train", output::pack(s));
}
MANTA_DECL void trainer_core::save(const std::string& path) { write(state(), path); }
inline state trainer_core::read(const std::string& path) {
  train::state s;
  try {
    output::unpack(output::read_state(path, "train"), s);
  } catch (const cereal::Exception& e) {
    throw error("manta: train: the checkpoint " + path + " cannot be read: " + e.what());
  }
  return s;
}
MANTA_DECL void trainer_core::load(const std::string& path) { restore(read(path)); }
MANTA_DECL std::string trainer_core::model() {
  return call([&] { return sentence(async<&worker::model>(workers_)); });
}
MANTA_DECL void trainer_core::rate(double r) {
  call([&] {
    sentence(async<&worker::rate>(workers_, r));
    remember();
  });
}

}  // namespace manta::train::detail
