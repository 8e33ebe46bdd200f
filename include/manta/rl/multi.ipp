// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>

#include "manta/base/hash.hpp"
#include "manta/base/text.hpp"
#include "manta/manta.hpp"
#include "manta/output/bytes.hpp"
#include "manta/output/saved_state.hpp"
#include "manta/rl/base/sentences.hpp"
#include "manta/rl/environments/spaces.hpp"
#include "manta/rl/multi.hpp"
#include "manta/rl/multi/multi_setup.ipp"
#include "manta/rl/policies/evaluation_parts.hpp"
#include "manta/rl/workers/worker_states.hpp"

namespace manta::rl {

MANTA_DECL multi::multi(const any_game& g, const multi_options& o) : game_(g), told_(o), seed_(o.seed) {
  detail::require_one(".workers", o.workers);
  detail::require_one(".environments", o.environments);
  detail::require_one(".fragment", o.fragment, " step");
  setting_.environments = o.environments;
  setting_.map = o.map;
  if (o.central_values) setting_.central = detail::size_of_whole(g, o.seed);
  add_policies();
  put_setting();
  start_workers();
}
MANTA_DECL multi::~multi() = default;

inline void multi::add_policies() {
  std::uint64_t learning = 0;
  for (const auto& [name, p] : told_.policies) {
    detail::require_new_name(setting_.policies, name);
    detail::seated_policy s{.name = name, .learns = p.learns(), .frozen = p.frozen()};
    learners_.emplace_back();
    if (p.learns()) {
      const ppo_options its = detail::told_by_multi(name, p.learning(), told_, learning++);
      s.spaces = detail::spaces_of(game_, told_, name);
      s.model = its.model;
      s.seed = its.seed;
      s.collection = its.collection;
      learners_.back() = detail::make_learner(s, its, setting_.central);
    } else {
      detail::require_frozen(name, p.frozen(), game_);
    }
    setting_.policies.push_back(std::move(s));
  }
  masked_.resize(learners_.size());
  if (setting_.policies.empty())
    throw error("manta: rl: multi has no policies; name at least one: .policies = {{\"walker\", rl::ppo_options{}}}");
  detail::require_seats(game_, setting_);
}

inline void multi::put_setting() {
  ++setting_.version;
  put_ = put(setting_);  // once to each node
}

inline void multi::start_workers() {
  workers_.clear();
  workers_ = detail::start_workers<detail::multi_worker>(game_, seed_, told_.environments, told_.workers);
}

template <class F>
void multi::each_learner(F&& f) const {
  for (std::size_t i = 0; i < learners_.size(); ++i) {
    if (learners_[i]) f(i, *learners_[i]);
  }
}

inline std::vector<multi_fragment> multi::gather() {
  detail::multi_rollout how{told_.fragment, steps_ / static_cast<std::uint64_t>(told_.environments), {}};
  std::vector<policy::weights> weights;
  each_learner([&](std::size_t, policy_learner& l) {
    how.of_policies.push_back(l.next_rollout());
    weights.push_back(l.weights());
  });
  const auto all = put(weights);  // once to each node
  return detail::answers(workers_, [&](const auto& w) { return async<&detail::multi_worker::run>(w, put_, all, how); });
}

inline void multi::learn(std::vector<multi_fragment> parts, multi_report& r) {
  std::size_t k = 0;
  each_learner([&](std::size_t i, policy_learner& l) {
    const fragment all = detail::join_fragments(parts, k++);
    report& its = r.policies[setting_.policies[i].name];
    const auto count = static_cast<std::uint64_t>(all.observations.cols());
    masked_[i] = masked_[i] || all.masks.rows() > 0;
    its.steps = l.steps() + count;
    if (count == 0) return;
    detail::say_where(detail::of_policy(setting_.policies[i].name), [&] {
      l.learn(all, its);
      for (const std::span<const float> part : l.parameters()) {
        if (!detail::all_finite(part)) detail::fail_diverged("a parameter of the networks is");
      }
    });
    l.count_lesson();
    // The filters change for the next fragments: these were sampled and learnt with the same.
    l.learn_moments(all.seen, all.gains);
    l.count_steps(count);
  });
}

inline void multi::iterate(multi_report& r) {
  auto begin = std::chrono::steady_clock::now();
  std::vector<multi_fragment> parts = gather();
  r.sample_seconds = detail::since(begin);
  begin = std::chrono::steady_clock::now();
  std::vector<multi_episode> episodes;
  for (multi_fragment& part : parts) std::ranges::move(part.episodes, std::back_inserter(episodes));
  learn(std::move(parts), r);
  r.learn_seconds = detail::since(begin);
  steps_ += static_cast<std::uint64_t>(told_.environments) * static_cast<std::uint64_t>(told_.fragment);
  tally_.count(std::move(episodes), names());
}

MANTA_DECL multi_report multi::train() {
  const auto begin = std::chrono::steady_clock::now();
  multi_report r;
  detail::say_where(base::text("multi, iteration {}", iteration_ + 1), [&] { iterate(r); });
  r.iteration = ++iteration_;
  r.steps = steps_;
  for (const std::string& name : names()) r.policies[name];
  tally_.write(r);
  r.seconds = detail::since(begin);
  return r;
}

MANTA_DECL multi_report multi::evaluate(int episodes, const evaluate_options& o) const {
  const auto begin = std::chrono::steady_clock::now();
  if (o.environment) throw error("manta: rl: multi plays in its own game: leave out .environment");
  detail::multi_setting all = setting_;
  each_learner([&](std::size_t i, const policy_learner& l) {
    detail::seated_policy& p = all.policies[i];
    p = {.name = p.name, .frozen = frozen(trained_policy(l.acting()), {.explore = o.explore})};
  });
  multi_report r = detail::play_episodes(game_, all, o.seed.value_or(seed_), episodes);
  r.iteration = iteration_;
  r.seconds = r.sample_seconds = detail::since(begin);
  return r;
}

MANTA_DECL std::vector<std::string> multi::names() const {
  std::vector<std::string> all;
  for (const detail::seated_policy& p : setting_.policies) all.push_back(p.name);
  return all;
}

inline std::size_t multi::number_of(const std::string& policy) const {
  const auto& all = setting_.policies;
  const auto found = std::ranges::find(all, policy, &detail::seated_policy::name);
  if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
  throw error(base::text("manta: rl: there is no policy \"{}\"; there are {}", policy, detail::names_of(all)));
}

MANTA_DECL trained_policy multi::trained(const std::string& policy) const {
  const std::size_t i = number_of(policy);
  if (!learners_[i]) {
    const frozen_policy& f = setting_.policies[i].frozen;
    if (f.player())
      throw error(base::text("manta: rl: the policy \"{}\" is {}, which was not trained", policy, f.player().name()));
    return f.trained();
  }
  const acting_policy now = learners_[i]->acting();
  if (!masked_[i]) return trained_policy(now);
  const any_environment& e = now.environment();  // whoever acts by this policy has to say what is allowed
  return trained_policy(
      {spaces(e.observations(), e.actions(), true).with_name(e.name()), now.network(), now.filter(), now.choice()});
}

MANTA_DECL std::string multi::snapshot(const std::string& policy) {
  frozen_policy copy = frozen(trained(policy));
  int number = 1;
  const auto name = [&] { return base::text("{}-{}", policy, number); };
  while (std::ranges::find(setting_.policies, name(), &detail::seated_policy::name) != setting_.policies.end())
    ++number;
  setting_.policies.push_back({.name = name(), .frozen = std::move(copy)});
  learners_.emplace_back();
  masked_.push_back(0);
  put_setting();
  return setting_.policies.back().name;
}

MANTA_DECL void multi::map(own_policy_map m) {
  std::swap(setting_.map, m);
  try {
    detail::require_seats(game_, setting_);
  } catch (...) {
    std::swap(setting_.map, m);
    throw;
  }
  put_setting();
}

// --- checkpoints

/// The state of a training.
struct multi::saved {
  any_game game;
  std::string description;  ///< description of the policies that the options name
  std::uint64_t seed = 0, iteration = 0, steps = 0;
  detail::multi_setting setting;
  std::vector<std::string> learners;  ///< learners by policy
  std::vector<char> masked;
  detail::seat_tally tally;
  std::vector<std::string> games;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(game, description, seed, iteration, steps, setting, learners, masked, tally, games);
  }
};

inline std::string multi::description() const {
  std::string text = told_.central_values ? base::text("central values of {} numbers, ", setting_.central) : "";
  for (std::size_t i = 0; i < told_.policies.size(); ++i) {
    const detail::seated_policy& p = setting_.policies[i];
    text += base::text("{}\"{}\" {}", i == 0 ? "" : ", ", p.name,
                       learners_[i] ? learners_[i]->description() : p.frozen.description());
  }
  return text;
}

MANTA_DECL std::string multi::save_to_bytes() {
  saved all{game_, description(), seed_, iteration_, steps_, setting_, {}, masked_, tally_, {}};
  all.setting.version = 0;  // which says nothing beyond this process
  for (const auto& l : learners_) all.learners.push_back(l ? l->state() : std::string());
  all.games = detail::states_of(workers_);
  return output::pack(all);
}

MANTA_DECL void multi::load_from_bytes(const std::string& bytes, const load_options& o) {
  saved all;
  try {
    output::unpack(bytes, all);
  } catch (const std::exception& e) {
    throw error(base::text("manta: rl: the checkpoint cannot be read: {}", e.what()));
  }
  const auto refuse = [](const std::string& its, const std::string& mine) {
    throw error(
        base::text("manta: rl: the checkpoint is of {}; this training's are {}. Nothing was changed", its, mine));
  };
  if (o.episodes == go_on) {
    if (!all.game.makes_as(game_)) refuse("the game " + all.game.call(), game_.call());
    detail::require_environments(all.games.size(), told_.environments);
  }
  if (all.description != description()) refuse("the policies " + all.description, description());
  for (std::size_t i = 0; i < learners_.size() && i < all.learners.size(); ++i) {
    if (learners_[i]) learners_[i]->restore(all.learners[i]);
  }
  const std::uint64_t version = setting_.version;
  setting_.policies = std::move(all.setting.policies);
  setting_.map = all.setting.map;
  setting_.version = version;
  learners_.resize(setting_.policies.size());
  masked_ = std::move(all.masked);
  if (o.episodes == go_on) seed_ = all.seed;
  iteration_ = all.iteration;
  steps_ = all.steps;
  tally_ = std::move(all.tally);
  put_setting();
  start_workers();
  if (o.episodes == go_on) {
    detail::restore_states(workers_, all.games);
  } else {
    tally_.forget_last();
    detail::begin_at(workers_, steps_ / static_cast<std::uint64_t>(told_.environments));
  }
}

MANTA_DECL void multi::save(const std::string& path) { output::write_state(path, "multi", save_to_bytes()); }
MANTA_DECL void multi::load(const std::string& path, const load_options& o) {
  load_from_bytes(output::read_state(path, "multi"), o);
}

}  // namespace manta::rl
