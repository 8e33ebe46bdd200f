// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <numeric>
#include <string>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/environments/action_mask.hpp"

namespace manta::rl::detail {

MANTA_DECL std::vector<int> choices_of(const space& actions) {
  if (const discrete* d = actions.as_discrete()) return {d->n};
  if (const multi_discrete* m = actions.as_multi_discrete()) return m->n;
  if (const multi_binary* m = actions.as_multi_binary()) return std::vector<int>(static_cast<std::size_t>(m->n), 2);
  return {};
}

MANTA_DECL std::vector<int> starts_of(const space& actions) {
  if (const discrete* d = actions.as_discrete()) return {d->start};
  const multi_discrete* m = actions.as_multi_discrete();
  return m != nullptr && !m->start.empty() ? m->start : std::vector<int>(choices_of(actions).size());
}

MANTA_DECL int choice_count(const space& actions) {
  if (const discrete* d = actions.as_discrete()) return d->n;
  if (const multi_discrete* m = actions.as_multi_discrete()) return std::accumulate(m->n.begin(), m->n.end(), 0);
  if (const multi_binary* m = actions.as_multi_binary()) return 2 * m->n;
  return 0;
}

MANTA_DECL int mask_size(const space& actions) {
  const int choices = choice_count(actions);
  if (choices == 0)
    throw error(
        base::text("manta: rl: actions of the space {} cannot be masked: only those of rl::discrete, "
                   "rl::multi_discrete and rl::multi_binary are choices",
                   actions.text()));
  return choices;
}

MANTA_DECL void check_mask_size(std::size_t got, std::size_t expected) {
  if (got != expected)
    throw error(
        base::text("the action mask has {} numbers; it needs one for each choice, which are {}", got, expected));
}

MANTA_DECL void check_mask(const space& actions, mask_view m) {
  const std::vector<int> choices = choices_of(actions);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const mask_view part = m.first(static_cast<std::size_t>(choices[i]));
    m = m.subspan(part.size());
    if (std::count(part.begin(), part.end(), 0) == std::ssize(part))
      throw error(base::text("the action mask allows no action{}, though the episode goes on",
                             choices.size() > 1 ? base::text(" in part {}", i) : std::string()));
  }
}

MANTA_DECL void forbid(mask_view m, float* outputs) {
  constexpr float never = -1e30f;  // finite, so that its product with a probability of 0 is 0
  for (std::size_t i = 0; i < m.size(); ++i) {
    if (m[i] == 0) outputs[i] = never;
  }
}

MANTA_DECL const nn::matrix<float>& allowed_outputs(const nn::matrix<float>& outputs, const action_masks& m,
                                                    nn::matrix<float>& kept) {
  if (m.rows() == 0) return outputs;
  kept = outputs;
  for (Eigen::Index i = 0; i < kept.cols(); ++i) forbid(mask_of(m, i), kept.col(i).data());
  return kept;
}

MANTA_DECL int pick(mask_view part, random& numbers) {
  auto left =
      numbers.index(static_cast<int>(part.size() - static_cast<std::size_t>(std::count(part.begin(), part.end(), 0))));
  std::size_t i = 0;
  while (part[i] == 0 || left-- > 0) ++i;
  return static_cast<int>(i);
}

MANTA_DECL void sample_allowed(const space& actions, mask_view m, random& numbers, float* action) {
  if (m.empty()) return actions.sample(numbers, action);
  const std::vector<int> starts = starts_of(actions);
  auto start = starts.begin();
  for (const int n : choices_of(actions)) {
    *action++ = static_cast<float>(*start++ + pick(m.first(static_cast<std::size_t>(n)), numbers));
    m = m.subspan(static_cast<std::size_t>(n));
  }
}

MANTA_DECL bool is_allowed(const space& actions, mask_view m, std::span<const float> action) {
  if (m.empty()) return true;
  const std::vector<int> starts = starts_of(actions);
  std::size_t part = 0, i = 0;
  for (const int n : choices_of(actions)) {
    if (m[part + static_cast<std::size_t>(static_cast<int>(action[i]) - starts[i])] == 0) return false;
    ++i;
    part += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace manta::rl::detail
