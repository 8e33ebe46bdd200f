// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cereal/types/utility.hpp>

#include "manta/base/text.hpp"
#include "manta/manta.hpp"
#include "manta/rl/base/require.hpp"
#include "manta/rl/policies/evaluation.hpp"
#include "manta/rl/policies/evaluation_parts.hpp"

namespace manta::rl::detail {

MANTA_DECL evaluation evaluation_of(const acting_policy& p, const evaluate_options& o, std::uint64_t seed) {
  evaluation how{o.environment ? o.environment : p.environment(), o.seed.value_or(seed), o.explore};
  if (p.plans()) how.columns = 1;
  const any_environment &mine = p.environment(), &its = how.environment;
  const auto require_same = [&](const char* what, const space& wanted, const space& given, bool is_same) {
    if (is_same) return;
    throw error(
        base::text("manta: rl: evaluate: {} of the environment {} are {}; those of the policy, which was trained "
                   "in {}, are {}",
                   what, its.name(), given.text(), mine.name(), wanted.text()));
  };
  require_same("observations", mine.observations(), its.observations(),
               mine.observations().features() == its.observations().features());
  require_same("actions", mine.actions(), its.actions(), mine.actions() == its.actions());
  return how;
}

/// A task: the first episodes of the environments first, .., first + count - 1.
inline evaluated evaluate_part(const acting_policy& shared, const evaluation& how, int first, int count) {
  acting_policy policy = shared;
  acting_policy::draw numbers{how.seed ^ evaluation_purpose, static_cast<std::uint64_t>(first), 0};
  return play(how.environment, how.seed, first, count, [&](const vector_environment& e) -> const nn::matrix<float>& {
    const nn::matrix<float>& actions = policy.actions(e, how.explores ? &numbers : nullptr);
    ++numbers.step;
    return actions;
  });
}

MANTA_DECL report join_evaluation(const std::vector<evaluated>& parts, std::uint64_t iteration) {
  report r;
  std::vector<episode> episodes;
  for (const evaluated& part : parts) {
    episodes.insert(episodes.end(), part.episodes.begin(), part.episodes.end());
    r.seconds += part.seconds;
  }
  for (const episode& e : episodes) r.steps += e.length;
  r.iteration = iteration;
  r.episodes = episodes.size();
  r.sample_seconds = r.seconds;
  summarise(episodes, r);
  return r;
}

MANTA_DECL future<report> start_evaluation(const future<acting_policy>& policy, const evaluation& how, int episodes,
                                           std::uint64_t iteration) {
  return in_parts(episodes, how.columns, iteration,
                  [&](int first, int count) { return async<evaluate_part>(policy, how, first, count); });
}

MANTA_DECL std::vector<std::string> draw_episode(acting_policy policy, const evaluation& how, int longest) {
  const any_environment& e = how.environment;
  vector_environment one(e, how.seed ^ evaluation_purpose, 0, 1);
  acting_policy::draw numbers{how.seed ^ evaluation_purpose, 0, 0};
  one.play_once();
  one.reset();
  std::vector<std::string> frames{one.text(0)};
  if (frames.back().empty()) return {};
  for (; std::ssize(frames) <= longest && one.playing() > 0; ++numbers.step) {
    one.step(policy.actions(one, how.explores ? &numbers : nullptr));
    frames.push_back(one.text(0));
  }
  return frames;
}

MANTA_DECL void summarise(const std::vector<episode>& episodes, report& r) {
  if (episodes.empty()) return;
  double sum = 0, length = 0;
  r.min_return = r.max_return = episodes.front().total;
  for (const episode& e : episodes) {
    sum += e.total;
    length += static_cast<double>(e.length);
    r.min_return = std::min(r.min_return, e.total);
    r.max_return = std::max(r.max_return, e.total);
  }
  r.mean_return = sum / static_cast<double>(episodes.size());
  r.mean_length = length / static_cast<double>(episodes.size());
  std::map<std::string, int> counts;
  for (const episode& e : episodes) {
    for (const auto& [name, value] : e.figures) {
      r.figures[name] += value;
      ++counts[name];
    }
  }
  for (const auto& [name, count] : counts) r.figures[name] /= count;
}

}  // namespace manta::rl::detail
