// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/algorithms/apex_worker.hpp"
#include "manta/rl/base/sentences.hpp"

namespace manta::rl::detail {

MANTA_DECL apex_worker::apex_worker(const any_environment& e, std::uint64_t seed, int first, int count,
                                    const apex_setting& s)
    : acts_(e, seed, first, count, s.exploration, s.collection),
      setting_(s),
      next_(static_cast<std::uint64_t>(first)) {}

inline std::vector<float> apex_worker::errors_of(const transitions& t, const normaliser& filter, double reward_scale) {
  q_network& net = setting_.net;
  std::vector<float> errors(t.size());
  filter.apply(t.next, filtered_);
  const nn::matrix<float>& later = allowed_outputs(net.forward(filtered_), t.next_masks, allowed_);
  for (std::size_t k = 0; k < errors.size(); ++k)
    errors[k] = t.rewards[k] * static_cast<float>(reward_scale) +
                t.discounts[k] * later.col(static_cast<Eigen::Index>(k)).maxCoeff();
  filter.apply(t.observations, filtered_);
  const nn::matrix<float>& now = net.forward(filtered_);
  for (std::size_t k = 0; k < errors.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    errors[k] -= now(static_cast<Eigen::Index>(t.actions(0, i)), i);
  }
  return errors;
}

MANTA_DECL off_policy_news apex_worker::run(const policy::weights& w, const apex_orders& o) {
  const std::span<float> parameters = setting_.net.net().parameters();
  if (w.parameters.size() != parameters.size())
    throw error(base::text("manta: rl: a network of {} parameters got {}", parameters.size(), w.parameters.size()));
  std::ranges::copy(w.parameters, parameters.begin());
  off_policy_orders how = o.how;
  how.net = setting_.net.net();
  how.filter = w.filter;
  auto [made, news] = acts_.run(how);
  if (made.size() == 0) return std::move(news);
  const std::vector<float> errors = errors_of(made, normaliser(w.filter), o.reward_scale);
  const actor<replay>& memory = o.memories[next_++ % o.memories.size()];
  const auto send = [&] { return async<&replay::add_rated>(memory, made, errors); };
  answer(send(), send);
  return std::move(news);
}

}  // namespace manta::rl::detail
