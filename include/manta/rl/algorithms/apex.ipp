// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/manta.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/algorithms/apex.hpp"
#include "manta/rl/algorithms/apex_worker.hpp"
#include "manta/rl/base/sentences.hpp"
#include "manta/rl/workers/crew.hpp"

namespace manta::rl {

namespace detail {

class apex_crew : public crew<&apex_worker::run> {
 public:
  using crew::crew;
};

inline dqn_options told_by_apex(const apex_options& o) {
  dqn_options told{.rate = o.rate,
                   .schedule = o.schedule,
                   .follow = o.follow,
                   .copy_every = o.copy_every,
                   .replay_alpha = o.replay_alpha,
                   .replay_beta = o.replay_beta,
                   .epsilon = o.epsilon,
                   .exploration_steps = 0,
                   .dual = o.dual,
                   .dueling = o.dueling,
                   .clip_norm = o.clip_norm,
                   .model = o.model,
                   .exploration = o.exploration,
                   .collection = o.collection,
                   .begin_with = o.begin_with};
  visit_replay_options([](const char*, const auto& from, auto& to) { to = from; }, o, told);
  return told;
}

}  // namespace detail

MANTA_DECL apex::apex(const any_environment& e, const apex_options& o)
    : algorithm("apex", e, o.seed), options_(o), learner_(e, detail::told_by_apex(o), "apex") {
  detail::require_sense(o);
  detail::require_one(".replays", o.replays);
  if (o.replay_size / o.replays < o.batch)
    throw error(base::text("manta: rl: .replay_size is {}; each of {} memories has less than a batch then",
                           o.replay_size, o.replays));
  start_memories();
  crew_ = start_crew();
  crew_->publish(version_, weights());
}
MANTA_DECL apex::~apex() = default;

inline void apex::start_memories() {
  for (int i = 0; i < options_.replays; ++i)
    memories_.push_back(spawn<replay>({.cpus = 0, .spread = true, .restarts = 1000}, environment_.observations(),
                                      make_distribution(environment_.actions())->size(),
                                      static_cast<std::size_t>(options_.replay_size / options_.replays),
                                      options_.replay_alpha, environment_.mask_size()));
}

inline std::unique_ptr<detail::apex_crew> apex::start_crew() const {
  const auto& told = learner_.told();
  return std::make_unique<detail::apex_crew>(
      environment_, seed_,
      detail::apex_crew::settings{.environments = options_.environments, .workers = options_.workers, .in_flight = 2},
      detail::apex_setting{learner_.values(), told.exploration, told.collection});
}

inline detail::apex_orders apex::order() const {
  return {{.net = {},
           .planner = {},
           .filter = {},
           .randomness = options_.epsilon,
           .steps_before = steps(),
           .discount = options_.discount,
           .steps = options_.fragment,
           .n_step = options_.n_step,
           .from = detail::call_history::any_step,
           .ladder = options_.ladder,
           .environments = options_.environments},
          learner_.reward_scale(),
          memories_};
}

inline policy::weights apex::weights() const {
  const std::span<const float> all = learner_.network().parameters();
  return {{all.begin(), all.end()}, learner_.filter()};
}

inline double apex::gather() {
  auto [duty, version, news] = crew_->next(order());
  crew_->keep_busy(order());  // they act while the learner learns
  const std::uint64_t count = news.seen.size() * static_cast<std::uint64_t>(options_.fragment);
  learner_.learn_moments(news.seen, news.gains);
  learner_.count_steps(count);
  count_steps(count);
  count_episodes(std::move(news.episodes));
  return static_cast<double>(version_ - version);
}

inline apex::drawn apex::draw() {
  const std::size_t memory = draws_ % memories_.size();
  const random numbers(seed_, draws_++, 7);
  return {memory, async<&replay::try_draw>(memories_[memory], options_.batch, options_.replay_beta, numbers)};
}

inline replay::sample apex::take(drawn& d) {
  replay::sample s;
  for (std::size_t tries = 0; tries < memories_.size() && s.which.empty(); ++tries) {
    if (tries > 0) d = draw();
    const random numbers(seed_, draws_, 9);
    s = detail::answer(d.call, [&] {
      return async<&replay::try_draw>(memories_[d.memory], options_.batch, options_.replay_beta, numbers);
    });
  }
  return s;
}

inline void apex::learn(int count, std::map<std::string, double>& figures) {
  if (count == 0) return;
  std::vector<float> errors(static_cast<std::size_t>(options_.batch));
  drawn next = draw();
  for (int i = 0; i < count; ++i) {
    drawn now = std::move(next);
    if (i + 1 < count) next = draw();  // travels while the learner works
    replay::sample s = take(now);
    if (s.which.empty()) continue;
    const std::vector<std::size_t> which = s.which;
    drawn_ += which.size();
    learner_.learn(std::move(s), errors, figures);
    if (options_.replay_alpha > 0) async<&replay::set_priorities>(memories_[now.memory], which, errors);
  }
}

MANTA_DECL void apex::iterate(report& r) {
  crew_->guard([&] { take_steps(r); });
}

inline void apex::take_steps(report& r) {
  const auto each = static_cast<std::uint64_t>(options_.steps_per_update);
  const std::uint64_t goal =
      steps() + static_cast<std::uint64_t>(options_.fragment) * static_cast<std::uint64_t>(options_.environments);
  const std::uint64_t updates = learner_.updates();
  std::map<std::string, double> figures;
  double lags = 0;
  int arrivals = 0;
  while (steps() < goal) {
    auto begin = std::chrono::steady_clock::now();
    const std::uint64_t before = steps();
    lags += gather();
    ++arrivals;
    r.sample_seconds += detail::since(begin);
    begin = std::chrono::steady_clock::now();
    if (steps() >= static_cast<std::uint64_t>(options_.learning_starts)) {
      acted_ += steps() - before;
      learn(static_cast<int>(steps() / each - before / each) * options_.updates, figures);
    }
    crew_->publish(version_ = learner_.updates(), weights());
    r.learn_seconds += detail::since(begin);
  }
  const auto taken = static_cast<double>(learner_.updates() - updates);
  for (const auto& [name, sum] : figures) r.learner[name] = sum / taken;
  r.learner["lag"] = lags / arrivals;
  if (acted_ > 0) r.learner["replay_ratio"] = static_cast<double>(drawn_) / static_cast<double>(acted_);
}

MANTA_DECL std::string apex::state() {
  std::string workers = crew_->state();
  return output::pack(learner_.state(),
                      detail::answers(memories_, [](const auto& m) { return async<&replay::state>(m); }), workers,
                      version_, draws_, drawn_, acted_);
}

MANTA_DECL void apex::restore(const std::string& bytes, start_of_episodes episodes) {
  std::string learner, workers;
  std::vector<std::string> memories;
  std::uint64_t version = 0, draws = 0, transitions = 0, acted = 0;
  output::unpack(bytes, learner, memories, workers, version, draws, transitions, acted);
  if (memories.size() != memories_.size())
    throw error(base::text("manta: rl: the checkpoint has {} replay memories; .replays is {}. Nothing was changed",
                           memories.size(), memories_.size()));
  std::unique_ptr<detail::apex_crew> crew = start_crew();
  crew->restore(workers, episodes == go_on);
  learner_.restore(learner);
  for (std::size_t i = 0; i < memories.size(); ++i) {
    const auto call = [&] { return async<&replay::restore>(memories_[i], memories[i]); };
    detail::answer(call(), call);
  }
  crew_ = std::move(crew);
  version_ = version;
  draws_ = draws;
  drawn_ = transitions;
  acted_ = acted;
}

}  // namespace manta::rl
