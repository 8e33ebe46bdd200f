// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of off_policy.hpp.
#pragma once

#include <algorithm>
#include <cereal/types/utility.hpp>
#include <chrono>
#include <exception>
#include <utility>

#include "manta/manta.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/algorithms/off_policy.hpp"
#include "manta/rl/base/sentences.hpp"
#include "manta/rl/policies/box_scale.hpp"
#include "manta/rl/workers/worker_states.hpp"

namespace manta::rl::detail {

MANTA_DECL void require_bounded_actions(const std::string& algorithm, const any_environment& e) {
  const std::string begin = "manta: rl: " + algorithm + " needs actions that are numbers between bounds; those of " +
                            e.name() + " are " + e.actions().text() + ": ";
  const box* const b = e.actions().as_box();
  if (b == nullptr) throw error(begin + "use " + (e.actions().as_discrete() ? "rl::dqn or rl::ppo" : "rl::ppo"));
  if (!box_scale(*b).has_bounds())
    throw error(begin + "give all of them finite bounds in action_space(), or use rl::ppo");
}

MANTA_DECL void move_towards(std::span<float> slow, std::span<const float> net, double part) {
  const auto p = static_cast<float>(part);
  for (std::size_t i = 0; i < slow.size(); ++i) slow[i] += p * (net[i] - slow[i]);
}

MANTA_DECL off_policy::off_policy(std::string name, const any_environment& e, const off_policy_options& o)
    : algorithm(std::move(name), e, o.seed), told_(o), filter_(e.observations().features()), gains_(1) {
  for (const auto& [option, value] : {std::pair(".workers", o.workers),
                                      {".environments", o.environments},
                                      {".fragment", o.fragment},
                                      {".batch", o.batch},
                                      {".n_step", o.n_step},
                                      {".steps_per_update", o.steps_per_update}})
    require_one(option, value);
  if (o.replay_size < o.batch)
    throw error("manta: rl: .replay_size is " + std::to_string(o.replay_size) + ", less than a batch");
  if (o.replay_rank >= manta::size())
    throw error("manta: rl: .replay_rank is " + std::to_string(o.replay_rank) + "; the ranks are 0 to " +
                std::to_string(manta::size() - 1) + ", and -1 stands for the learner's");
  memory_ = spawn<replay>({.cpus = 0, .rank = o.replay_rank < 0 ? manta::rank() : o.replay_rank},
                          e.observations().features(), make_distribution(e.actions())->size(),
                          static_cast<std::size_t>(o.replay_size), o.replay_alpha, e.mask_size());
  start_workers();
}

inline void off_policy::start_workers() {
  workers_.clear();
  workers_ = detail::start_workers<off_policy_worker>(environment_, seed_, told_.environments, told_.workers,
                                                      told_.exploration, told_.collection);
}

MANTA_DECL double off_policy::randomness() const {
  return steps() < static_cast<std::uint64_t>(told_.learning_starts) ? 1 : 0;
}

MANTA_DECL void off_policy::iterate(report& r) {
  auto begin = std::chrono::steady_clock::now();
  const std::uint64_t before = steps();
  sample();
  r.sample_seconds = since(begin);
  begin = std::chrono::steady_clock::now();
  const auto each = static_cast<std::uint64_t>(told_.steps_per_update);
  if (steps() >= static_cast<std::uint64_t>(told_.learning_starts) && sentence(async<&replay::size>(memory_)) > 0)
    learn(static_cast<int>(steps() / each - before / each), r);
  r.learn_seconds = since(begin);
}

inline void off_policy::sample() {
  const auto orders =
      put(off_policy_orders{acting(), filter_, randomness(), steps(), told_.discount, told_.fragment, told_.n_step,
                            steps() / static_cast<std::uint64_t>(told_.environments)});  // once a node
  struct call {
    future<transitions> made;
    future<off_policy_news> told;
  };
  std::vector<call> calls(workers_.size());
  const auto begin = [&](std::size_t i) {
    auto [made, told] = unpack(async<&off_policy_worker::run>(workers_[i], orders));
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
  const std::vector<off_policy_news> news = values_of(calls.size(), [&](std::size_t i) {
    bool is_lost = false;
    return manta::detail::insist([&] {
      if (std::exchange(is_lost, true)) begin(i);
      return news_of(i);
    });
  });
  std::vector<episode> episodes;
  for (const off_policy_news& n : news) {
    if (told_.normalise_observations) {
      for (const moments& m : n.seen) filter_.merge(m);
    }
    for (const moments& m : n.gains) gains_.merge(m);
    episodes.insert(episodes.end(), n.episodes.begin(), n.episodes.end());
  }
  // In the order of the environments. Transitions that lay on a rank that has died since are made again.
  for (std::size_t i = 0; i < calls.size(); ++i)
    answer(async<&replay::add>(memory_, calls[i].made), [&] {
      begin(i);
      (void)news_of(i);
      return async<&replay::add>(memory_, calls[i].made);
    });
  count_steps(static_cast<std::uint64_t>(told_.fragment) * static_cast<std::uint64_t>(told_.environments));
  count_episodes(std::move(episodes));
}

inline void off_policy::learn(int count, report& r) {
  if (count == 0) return;
  const auto draw = [&](int i) {
    return async<&replay::draw>(memory_, told_.batch, importance(),
                                random(seed_, updates_ + static_cast<std::uint64_t>(i), 7));
  };
  const float scale = told_.normalise_rewards ? static_cast<float>(1 / gains_.deviation(0)) : 1;
  const bool has_priorities = told_.replay_alpha > 0;
  std::map<std::string, double> figures;
  std::vector<float> errors(static_cast<std::size_t>(told_.batch));
  const normaliser filter(filter_);
  nn::matrix<float> filtered;
  future<replay::sample> next = draw(0);
  for (int i = 0; i < count; ++i) {
    replay::sample s = sentence(next);
    if (!has_priorities && i + 1 < count) next = draw(1);  // is drawn while the learner works
    for (nn::matrix<float>* m : {&s.drawn.observations, &s.drawn.next}) {
      filter.apply(*m, filtered);
      std::swap(*m, filtered);
    }
    for (float& reward : s.drawn.rewards) reward *= scale;
    random numbers(seed_, updates_, 8);
    update(s, numbers, errors, figures);
    ++updates_;
    if (!has_priorities) continue;
    async<&replay::set_priorities>(memory_, s.which, errors);
    if (i + 1 < count) next = draw(0);
  }
  for (const auto& [name, sum] : figures) r.learner[name] = sum / count;
}

MANTA_DECL std::string off_policy::state() {
  return output::pack(learner_state(), filter_, gains_, updates_, sentence(async<&replay::state>(memory_)),
                      states_of(workers_));
}

MANTA_DECL void off_policy::restore(const std::string& bytes, bool own_settings) {
  std::string learner, memory;
  moments filter, gains;
  std::uint64_t updates = 0;
  std::vector<std::string> states;
  output::unpack(bytes, learner, filter, gains, updates, memory, states);
  require_environments(states.size(), told_.environments);
  restore_learner(learner, own_settings);
  filter_ = std::move(filter);
  gains_ = std::move(gains);
  updates_ = updates;
  sentence(async<&replay::restore>(memory_, memory));
  start_workers();
  restore_states(workers_, states);
}

}  // namespace manta::rl::detail
