// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/capacity.hpp"
#include "manta/insist.hpp"
#include "manta/options.hpp"
#include "manta/output/saved_state.hpp"
#include "manta/run.hpp"
#include "manta/train/told_lines.hpp"
#include "manta/train/trainer_core.hpp"

namespace manta::train::detail {

using manta::detail::sentence;

inline void check_options(const options& o) {
  const auto refuse = [](const std::string& what) { throw error("manta: train: " + what); };
  if (o.workers < 1) refuse(base::text(".workers is {}; at least one is needed", o.workers));
  if (o.batch < 1) refuse(base::text(".batch is {}; at least one sample is needed", o.batch));
  if (o.accumulate < 1) refuse(base::text(".accumulate is {}; at least one part is needed", o.accumulate));
  if (!(o.clip >= 0) || base::is_nan(o.clip)) refuse(base::text(".clip is {}; it is a norm, or 0", o.clip));
  if (o.average_every < 0) refuse(base::text(".average_every is {}; it is a number of steps, or 0", o.average_every));
  if (o.average_every > 0 && o.exchange != wire::as_is)
    refuse(".average_every exchanges no gradients, so .exchange has to stay as it is");
}

/// The trainers of this process.
inline std::vector<trainer_core*>& trainers() {
  static std::vector<trainer_core*> all;
  return all;
}

constexpr int most_deaths = 4;

/// What a file of a trainer says that it is; the number grows when what it has changes.
inline constexpr const char* checkpoint_kind = "train 3";
inline void write_checkpoint(const std::string& path, const state& s) {
  output::write_state(path, checkpoint_kind, output::pack(s));
}

inline void trainer_core::give_up() const {
  throw rank_lost(base::text(
      "manta: train: the ranks of {} workers have died one after the other, and none got beyond step {}: the recipe "
      "seems to end its process there. The trainer has the state before that step, which save() writes; find out how "
      "the processes ended from the lines above",
      most_deaths, good_.step));
}

/// A call of a trainer: it counts as busy meanwhile, and no other parks it. After a death it is done again from
/// the good state.
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
  if (was_started_) sentence(async<&worker::restore>(workers_, parked_, taken::all));
  was_started_ = true;
  parked_ = {};
}

inline void trainer_core::bury() {
  workers_ = {};
  has_workers_ = false;
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

/// The ranks that can be workers with these options, rank 0 included.
inline int ranks_that_suit(const options& o) {
  const auto suits = [&](const rank_resources& r) {
    bool has_all = r.node >= 0 && r.cpus >= o.cpus && r.gpus >= o.gpus;
    for (const auto& each : o.resources) has_all = has_all && r.resources.of(each.name) >= each.units;
    return has_all;
  };
  const auto all = capacity();
  return static_cast<int>(std::count_if(all.begin(), all.end(), suits));
}

inline void trainer_core::refuse_workers() const {
  const int suit = ranks_that_suit(options_);
  const bool asks_for_more =
      options_.cpus > 1 || options_.gpus > 0 || options_.resources.begin() != options_.resources.end();
  const std::string can = suit == 1 ? "1 rank can be a worker" : base::text("{} ranks can be workers", suit);
  throw unschedulable(base::text(
      "manta: train: .workers is {}, and {}{}; start the program with mpirun -n {}, or ask for fewer workers",
      options_.workers, can, asks_for_more ? " with what .cpus, .gpus and .resources ask for" : "",
      options_.workers + 1));
}

/// Whether fewer workers than were asked for are enough: there were as many ranks, and some have died, maybe before
/// this trainer began.
inline bool has_lost_workers(const options& o) {
  const auto all = capacity();
  const bool has_dead = std::any_of(all.begin(), all.end(), [](const rank_resources& r) { return r.node < 0; });
  return has_dead && o.workers <= static_cast<int>(all.size());
}

inline void trainer_core::start_workers() {
  if (options_.workers > 1 && !data_.block.valid()) data_ = start_reading(what_);
  for (int n = options_.workers;; --n) {
    try {
      workers_ =
          spawn<worker>({.cpus = options_.cpus, .gpus = options_.gpus, .resources = options_.resources, .ranks = n},
                        what_, options_, number_);
      break;
    } catch (const unschedulable&) {
      if (n == 1 || !has_lost_workers(options_)) refuse_workers();
    }
  }
  try {
    const per_rank<opened> all = sentence(async<&worker::open>(workers_, data_));
    ranks_.clear();
    for (const opened& each : all) ranks_.push_back(each.rank);
    opened_ = all[0];
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
    return mean_of(r, seconds_since(begin));
  });
}
inline summary trainer_core::glance() {
  return call([&] { return summary_of(sentence(async<&worker::glance>(workers_)), 0); });
}
MANTA_DECL state trainer_core::state() {
  if (!has_workers_ && was_started_) return parked_;
  return call([&] { return sentence(async<&worker::save>(workers_)); });
}
MANTA_DECL void trainer_core::restore(const train::state& s, settings hold) { restore_from(s, hold, "the state"); }

inline std::vector<std::string> trainer_core::restore_from(const train::state& s, settings hold,
                                                           const std::string& name) {
  if (s.optimizer != opened_.optimizer && hold != settings::recipe)
    throw error(
        base::text("manta: train: the checkpoint's optimiser is {}, and the recipe's {}. Nothing was changed; "
                   "train::settings::recipe takes the model alone",
                   base::demangle(s.optimizer.c_str()), base::demangle(opened_.optimizer.c_str())));
  const told_difference difference = compare_told(s, opened_.told, options_.seed, hold, name);
  call([&] {
    sentence(async<&worker::restore>(workers_, s, difference.recipe_holds ? taken::moments : taken::all));
    remember();
  });
  for (const std::string& line : difference.lines) std::fprintf(stderr, "%s\n", line.c_str());
  return difference.names;
}

MANTA_DECL void trainer_core::save(const std::string& path) { write_checkpoint(path, state()); }
MANTA_DECL void trainer_core::load(const std::string& path, settings hold) {
  restore_from(read_checkpoint(path), hold, path);
}

MANTA_DECL void require_own_rate(bool recipe_has_schedule, const std::string& reason) {
  if (recipe_has_schedule)
    throw error(
        base::text("manta: train: the recipe's learning_rate() sets the rate in each step, and {}: take one of "
                   "them away",
                   reason));
}
MANTA_DECL state read_checkpoint(const std::string& path) {
  train::state s;
  try {
    output::unpack(output::read_state(path, checkpoint_kind), s);
  } catch (const cereal::Exception& e) {
    throw error(base::text("manta: train: the checkpoint {} cannot be read: {}", path, e.what()));
  }
  return s;
}
MANTA_DECL std::unique_ptr<any_trainer> start_trainer(learner_name what, const options& o) {
  return std::make_unique<trainer_core>(std::move(what), o);
}

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
