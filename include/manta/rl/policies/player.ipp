// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/manta.hpp"
#include "manta/rl/base/sentences.hpp"
#include "manta/rl/policies/evaluation.hpp"
#include "manta/rl/policies/evaluation_parts.hpp"
#include "manta/rl/policies/player.hpp"

namespace manta::rl {

namespace detail {

MANTA_DECL void act_by_players(const std::vector<std::unique_ptr<player>>& players, const own_player& kind,
                               const vector_environment& now, const acting_policy::draw& numbers,
                               nn::matrix<float>& actions) {
  const any_environment& e = now.kind();
  for (Eigen::Index i = 0; i < actions.cols(); ++i) {
    if (now.is_over(static_cast<std::size_t>(i))) continue;
    const auto column = [i](auto& of) { return std::span(of.col(i).data(), static_cast<std::size_t>(of.rows())); };
    random its(numbers.seed, numbers.first + static_cast<std::uint64_t>(i), (std::uint64_t(1) << 63U) + numbers.step);
    players[static_cast<std::size_t>(i)]->act(column(now.observations()), its, column(actions));
    if (!e.actions().contains(column(actions)) || !is_allowed(e.actions(), mask_of(now.masks(), i), column(actions)))
      now.fail(i, kind.name() + " took the action " + text_of(column(actions)) + "; actions are " + e.actions().text() +
                      (now.masks().rows() > 0 ? " that the mask allows" : ""));
  }
}

/// A task: the first episodes of the environments first, .., first + count - 1.
inline evaluated play_part(const any_environment& e, const own_player& kind, std::uint64_t seed, int first, int count) {
  std::vector<std::unique_ptr<player>> players;
  for (int i = 0; i < count; ++i) players.push_back(kind.make(e.observations(), e.actions()));
  nn::matrix<float> actions(e.actions().size(), count);
  acting_policy::draw numbers{seed, static_cast<std::uint64_t>(first), 0};
  return play(e, seed, first, count, [&](const vector_environment& now) -> const nn::matrix<float>& {
    act_by_players(players, kind, now, numbers, actions);
    ++numbers.step;
    return actions;
  });
}

}  // namespace detail

MANTA_DECL report evaluate(const any_environment& e, const own_player& p, int episodes, std::uint64_t seed) {
  const auto begin = std::chrono::steady_clock::now();
  report r = detail::sentence(detail::in_parts(
      episodes, 32, 0, [&](int first, int count) { return async<detail::play_part>(e, p, seed, first, count); }));
  r.seconds = detail::since(begin);
  return r;
}

}  // namespace manta::rl
