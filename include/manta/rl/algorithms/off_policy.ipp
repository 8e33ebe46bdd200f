// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cereal/types/utility.hpp>
#include <chrono>
#include <exception>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/manta.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/algorithms/off_policy.hpp"
#include "manta/rl/base/sentences.hpp"
#include "manta/rl/workers/worker_states.hpp"

namespace manta::rl {

MANTA_DECL off_policy::off_policy(std::unique_ptr<off_policy_learner> l)
    : algorithm(l->name(), l->environment(), l->told().seed), learner_(std::move(l)) {
  const off_policy_options& o = learner_->told();
  if (o.replay_rank >= manta::size())
    throw error(base::text("manta: rl: .replay_rank is {}; the ranks are 0 to {}, and -1 stands for the learner's",
                           o.replay_rank, manta::size() - 1));
  memory_ = spawn<replay>({.cpus = 0, .rank = o.replay_rank < 0 ? manta::rank() : o.replay_rank},
                          environment_.observations(), make_distribution(environment_.actions())->size(),
                          static_cast<std::size_t>(o.replay_size), o.replay_alpha, environment_.mask_size());
  start_workers();
}

inline void off_policy::start_workers() {
  const off_policy_options& o = learner_->told();
  workers_.clear();
  workers_ = detail::start_workers<detail::off_policy_worker>(environment_, seed_, o.environments, o.workers,
                                                              o.exploration, o.collection);
}

MANTA_DECL void off_policy::iterate(report& r) {
  const off_policy_options& o = learner_->told();
  auto begin = std::chrono::steady_clock::now();
  const std::uint64_t before = steps();
  sample();
  r.sample_seconds = detail::since(begin);
  begin = std::chrono::steady_clock::now();
  const auto each = static_cast<std::uint64_t>(o.steps_per_update);
  if (steps() >= static_cast<std::uint64_t>(o.learning_starts) && detail::sentence(async<&replay::size>(memory_)) > 0)
    learn(static_cast<int>(steps() / each - before / each) * o.updates, r);
  r.learn_seconds = detail::since(begin);
}

inline void off_policy::sample() {
  using detail::off_policy_news, detail::sentence;
  const off_policy_options& o = learner_->told();
  const auto orders = put(detail::off_policy_orders{
      learner_->network(), learner_->planner(), learner_->filter(), learner_->randomness(), steps(), o.discount,
      o.fragment, o.n_step, steps() / static_cast<std::uint64_t>(o.environments)});  // once a node
  struct call {
    future<transitions> made;
    future<off_policy_news> told;
  };
  std::vector<call> calls(workers_.size());
  const auto begin = [&](std::size_t i) {
    auto [made, told] = unpack(async<&detail::off_policy_worker::run>(workers_[i], orders));
    calls[i] = {made, told};
  };
  const auto news_of = [&](std::size_t i) -> off_policy_news {
    std::exception_ptr problem;
    try {
      return sentence(calls[i].told);
    } catch (...) {
      problem = std::current_exception();
    }
    try {
      (void)calls[i].made.get();  // it has failed likewise, which is known then
    } catch (const error&) {
    }
    std::rethrow_exception(problem);
  };
  for (std::size_t i = 0; i < calls.size(); ++i) begin(i);
  const std::vector<off_policy_news> news = detail::values_of(calls.size(), [&](std::size_t i) {
    bool is_lost = false;
    return manta::detail::insist([&] {
      if (std::exchange(is_lost, true)) begin(i);
      return news_of(i);
    });
  });
  std::vector<episode> episodes;
  for (const off_policy_news& n : news) {
    learner_->learn_moments(n.seen, n.gains);
    episodes.insert(episodes.end(), n.episodes.begin(), n.episodes.end());
  }
  // In the order of the environments. Transitions that lay on a rank that has died since are made again.
  for (std::size_t i = 0; i < calls.size(); ++i)
    detail::answer(async<&replay::add>(memory_, calls[i].made), [&] {
      begin(i);
      (void)news_of(i);
      return async<&replay::add>(memory_, calls[i].made);
    });
  const auto count = static_cast<std::uint64_t>(o.fragment) * static_cast<std::uint64_t>(o.environments);
  learner_->count_steps(count);
  count_steps(count);
  count_episodes(std::move(episodes));
}

inline void off_policy::learn(int count, report& r) {
  if (count == 0) return;
  const off_policy_options& o = learner_->told();
  const auto draw = [&](std::uint64_t ahead) {
    return async<&replay::draw>(memory_, o.batch, learner_->importance(),
                                random(seed_, learner_->updates() + ahead, 7));
  };
  const bool has_priorities = o.replay_alpha > 0;
  std::map<std::string, double> figures;
  std::vector<float> errors(static_cast<std::size_t>(o.batch));
  future<replay::sample> next = draw(0);
  for (int i = 0; i < count; ++i) {
    replay::sample s = detail::sentence(next);
    const std::vector<std::size_t> which = s.which;
    if (!has_priorities && i + 1 < count) next = draw(1);  // is drawn while the learner works
    learner_->learn(std::move(s), errors, figures);
    if (!has_priorities) continue;
    async<&replay::set_priorities>(memory_, which, errors);
    if (i + 1 < count) next = draw(0);
  }
  for (const auto& [name, sum] : figures) r.learner[name] = sum / count;
}

MANTA_DECL std::string off_policy::state() {
  return output::pack(learner_->state(), detail::sentence(async<&replay::state>(memory_)), detail::states_of(workers_));
}

MANTA_DECL void off_policy::restore(const std::string& bytes, start_of_episodes episodes) {
  std::string learner, memory;
  std::vector<std::string> states;
  output::unpack(bytes, learner, memory, states);
  if (episodes == go_on) detail::require_environments(states.size(), learner_->told().environments);
  learner_->restore(learner);
  detail::sentence(async<&replay::restore>(memory_, memory));
  start_workers();
  if (episodes == go_on) {
    detail::restore_states(workers_, states);
  } else {
    detail::begin_at(workers_, steps() / static_cast<std::uint64_t>(learner_->told().environments));
  }
}

}  // namespace manta::rl
