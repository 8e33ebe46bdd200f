// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What multi.ipp is made of: what the options of a training of several policies have to satisfy, and what they tell
// each policy; how the fragments of workers are joined; and how episodes are played for an evaluation.
#pragma once

#include <algorithm>
#include <set>

#include "manta/base/hash.hpp"
#include "manta/base/text.hpp"
#include "manta/manta.hpp"
#include "manta/rl/base/sentences.hpp"
#include "manta/rl/environments/spaces.hpp"
#include "manta/rl/multi.hpp"
#include "manta/rl/policies/evaluation_parts.hpp"

namespace manta::rl::detail {

inline std::string names_of(const std::vector<seated_policy>& all) {
  std::string names;
  for (const seated_policy& p : all) names += (names.empty() ? "\"" : ", \"") + p.name + '"';
  return names;
}

inline std::string of_policy(const std::string& name) { return base::text("policy \"{}\"", name); }

inline void require_new_name(const std::vector<seated_policy>& all, const std::string& name) {
  if (name.empty()) throw error("manta: rl: a policy has no name; .policies = {{\"walker\", rl::ppo_options{}}}");
  if (std::ranges::find(all, name, &seated_policy::name) != all.end())
    throw error(base::text("manta: rl: two policies have the name \"{}\"; give each its own", name));
}

/// What a policy learns by: the game's figures are those of all.
inline ppo_options told_by_multi(const std::string& name, ppo_options o, const multi_options& all,
                                 std::uint64_t number) {
  const ppo_options standard;
  const auto require_standard = [&](const char* option, int given, int its) {
    if (given != its)
      throw error(
          base::text("manta: rl: the policy \"{}\" has {} = {}; all policies of multi have the same: give it "
                     "beside .policies",
                     name, option, given));
  };
  require_standard(".workers", o.workers, standard.workers);
  require_standard(".environments", o.environments, standard.environments);
  require_standard(".fragment", o.fragment, standard.fragment);
  o.workers = all.workers;
  o.environments = all.environments;
  o.fragment = all.fragment;
  if (o.seed == 0) o.seed = number == 0 ? all.seed : base::mix(all.seed ^ (number << 32U));
  return o;
}

/// The first episodes that maps are asked about before a training.
inline constexpr std::uint64_t asked_episodes = 1000;

/// The spaces of the seats from which a policy acts.
inline any_environment spaces_of(const any_game& g, const multi_options& o, const std::string& name) {
  const rl::seats& seats = g.seats();
  std::set<int> its;
  if (seats.are_alike()) {
    its.insert(0);
  } else if (o.map) {
    const std::unique_ptr<policy_map> map = o.map.make();
    for (int i = 0; i < seats.size(); ++i) {
      for (std::uint64_t episode = 0; episode < asked_episodes && !its.contains(i); ++episode) {
        if ((*map)(i, episode) == name) its.insert(i);
      }
    }
  } else {
    for (int i = 0; i < seats.size(); ++i) {
      if (seats[i].name == name || o.policies.size() == 1) its.insert(i);
    }
  }
  if (its.empty())
    throw error(
        base::text("manta: rl: the policy \"{}\" acts from no seat{}, and seats of {} have different spaces, so "
                   "its own are not known; let .map name it",
                   name, o.map ? base::text(" in the first {} episodes", asked_episodes) : std::string(), g.name()));
  const seat& first = seats[*its.begin()];
  for (const int i : its) {
    if (!(seats[i].observations == first.observations) || !(seats[i].actions == first.actions))
      throw error(
          base::text("manta: rl: the policy \"{}\" acts from the seats {} and {}, whose spaces differ: {} and "
                     "{}, {} and {}; give each a policy of its own",
                     name, *its.begin(), i, first.observations.text(), seats[i].observations.text(),
                     first.actions.text(), seats[i].actions.text()));
  }
  return spaces(first.observations, first.actions).with_name(g.name());
}

inline std::unique_ptr<policy_learner> make_learner(const seated_policy& p, const ppo_options& o, int central) {
  std::unique_ptr<policy_learner> learner;
  say_where(of_policy(p.name), [&] { learner = std::make_unique<ppo_learner>(p.spaces, o, central); });
  for (const auto* net : {&learner->its_policy().actor(), &learner->its_policy().critic()})
    refuse_memory(*net, o.model, "multi");
  return learner;
}

inline void require_frozen(const std::string& name, const frozen_policy& p, const any_game& g) {
  if (p.player()) return;
  if (!p.trained())
    throw error(
        base::text("manta: rl: the policy \"{}\" is frozen, and nothing was given: rl::frozen(\"file\"), or "
                   "rl::frozen(algorithm.trained())",
                   name));
  if (p.trained().remembers())
    throw error(
        base::text("manta: rl: the policy \"{}\" has a memory (.lstm, .attention), and cannot act in games; "
                   "train one without",
                   name));
  const seated_policy its{.name = name, .frozen = p};
  for (int i = 0; i < g.seats().size(); ++i) {
    if (fits(its, g.seats()[i])) return;
  }
  const seat& s = g.seats()[0];
  throw error(
      base::text("manta: rl: the policy \"{}\", which was trained in {}, fits no seat of {}: it takes {} and acts "
                 "in {}; seat 0 has {} and {}",
                 name, p.trained().environment(), g.name(), p.trained().observations().text(),
                 p.trained().actions().text(), s.observations.text(), s.actions.text()));
}

/// Each seat has a policy in the first episodes.
inline void require_seats(const any_game& g, const multi_setting& s) {
  const seat_order order(g, s);
  try {
    for (int i = 0; i < g.seats().size(); ++i) {
      for (std::uint64_t episode = 0; episode < asked_episodes; ++episode) (void)order.policy_of(i, episode);
    }
  } catch (const std::exception& e) {
    throw error(base::text("manta: rl: {}: {}", g.name(), e.what()));
  }
}

/// The numbers of the state of the whole, as the game tells it when an episode begins.
inline int size_of_whole(const any_game& g, std::uint64_t seed) {
  live_game first(g);
  first.begin(random(seed));
  if (!first.whole().empty()) return static_cast<int>(first.whole().size());
  int all = 0;
  for (int i = 0; i < g.seats().size(); ++i) all += g.seats()[i].observations.features();
  return all;
}

/// The fragments of a policy, one of each worker, as one.
inline fragment join_fragments(std::vector<multi_fragment>& parts, std::size_t policy) {
  std::vector<fragment> its;
  Eigen::Index rows = 0;
  for (multi_fragment& part : parts) {
    its.push_back(std::move(part.of_policies[policy]));
    rows = std::max(rows, its.back().masks.rows());
  }
  for (fragment& f : its) {  // masks travel where something is forbidden
    if (f.masks.rows() < rows) f.masks.setOnes(rows, f.observations.cols());
  }
  return join(std::move(its));
}

/// A task: the first episodes of the games first, .., first + count - 1.
inline std::vector<multi_episode> play_seats(const any_game& g, const multi_setting& s, std::uint64_t seed, int first,
                                             int count) {
  constexpr int longest = 100'000;
  seat_lanes lanes(g, seed, first, count);
  lanes.sit_by(s);
  lanes.begin();
  seat_actors actors = make_actors(s, lanes, seed);
  std::vector<multi_episode> episodes;
  for (std::uint64_t step = 0; std::ssize(episodes) < count; ++step) {
    actors.choose(lanes, step);
    for (int i = 0; i < count; ++i) {
      live_game& game = lanes.game(i);
      if (game.is_over()) continue;
      if (step == longest && g.time_limit() == 0)
        game.fail("the episode has not ended; give the game a limit by with_time_limit(steps)");
      lanes.step(i);
      if (game.is_over()) episodes.push_back(lanes.result(i));
    }
  }
  return episodes;
}

/// Episodes by tasks, whose number depends on that of the episodes alone.
inline multi_report play_episodes(const any_game& g, multi_setting s, std::uint64_t seed, int episodes) {
  if (episodes < 1) throw error("manta: rl: evaluate needs at least one episode");
  s.environments = episodes;
  const auto setting = put(s);
  std::vector<future<std::vector<multi_episode>>> parts;
  for (const auto& [first, count] : shares(episodes, (episodes + 31) / 32))
    parts.push_back(async<play_seats>(g, setting, seed ^ evaluation_purpose, first, count));
  std::vector<std::string> names;
  multi_report r;
  for (const seated_policy& p : s.policies) {
    names.push_back(p.name);
    r.policies[p.name];
  }
  seat_tally tally(0);
  for (std::vector<multi_episode>& part : sentences(parts)) {
    for (const multi_episode& e : part) r.steps += e.length;
    tally.count(std::move(part), names);
  }
  tally.write(r);
  return r;
}

}  // namespace manta::rl::detail
