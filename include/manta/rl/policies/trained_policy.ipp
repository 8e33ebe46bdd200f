// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of trained_policy.hpp. The bytes of a policy are the first value of every checkpoint.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ostream>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/manta.hpp"
#include "manta/output/bytes.hpp"
#include "manta/output/saved_state.hpp"
#include "manta/rl/base/sentences.hpp"
#include "manta/rl/policies/trained_policy.hpp"

namespace manta::rl {

MANTA_DECL std::ostream& operator<<(std::ostream& out, const action& a) {
  const char* separator = "";
  for (const float number : a.numbers()) out << std::exchange(separator, " ") << number;
  return out;
}

MANTA_DECL float action::number() const {
  if (numbers_.size() != 1)
    throw error(
        base::text("manta: rl: the action {} has {} numbers, not one; take it as an Eigen::VectorXf, or its "
                   "numbers()",
                   detail::text_of(numbers_), numbers_.size()));
  return numbers_.front();
}
MANTA_DECL int action::whole_number() const {
  const float x = number();
  if (x != std::floor(x)) throw error(base::text("manta: rl: the action {} is no whole number; take it as a float", x));
  return static_cast<int>(x);
}

MANTA_DECL void trained_policy::fail(Eigen::Index i, const std::string& what) const {
  throw error(features_.cols() == 1 ? base::text("manta: rl: act: the observation{}", what)
                                    : base::text("manta: rl: act: observation {} of those given{}", i, what));
}

MANTA_DECL std::vector<float> trained_policy::numbers_of_parts(const dict_values& parts) const {
  const space& from = observations();
  if (from.as_dict() == nullptr)
    throw error(base::text("manta: rl: act: the observation has parts with names; the policy takes {}", from.text()));
  std::vector<float> numbers(static_cast<std::size_t>(from.size()));
  try {
    detail::write_parts(parts, from, numbers);
  } catch (const error& e) {
    throw error(base::text("manta: rl: act: {}", e.what()));
  }
  return numbers;
}

MANTA_DECL void trained_policy::read_observation(Eigen::Index i, const std::vector<float>& observation) {
  const space& from = observations();
  if (std::ssize(observation) != from.size())
    fail(i, base::text(" has {} numbers; the policy takes {} ({})", observation.size(), from.size(), from.text()));
  if (!from.contains(observation))
    fail(i, base::text(" is {}, which is not in the observation space {}", detail::text_of(observation), from.text()));
  from.flatten(observation, features_.col(i).data());
}

MANTA_DECL void trained_policy::read_mask(Eigen::Index i, const std::vector<float>& mask, action_masks& allowed) const {
  if (mask.empty()) {
    if (needs_masks())
      fail(i, base::text(" needs a mask too, act(observation, mask): the environment {} masks actions", environment()));
    return;
  }
  if (allowed.rows() == 0) allowed = action_masks::Ones(detail::mask_size(actions()), features_.cols());
  const std::span<unsigned char> its(allowed.col(i).data(), static_cast<std::size_t>(allowed.rows()));
  try {
    detail::write_mask(mask, its);
    detail::check_mask(actions(), its);
  } catch (const error& e) {
    fail(i, base::text(": {}", e.what()));
  }
}

MANTA_DECL std::vector<std::vector<float>> trained_policy::actions_for(
    const std::vector<std::vector<float>>& observations, const std::vector<std::vector<float>>& masks,
    const act_options& o) {
  if (observations.empty()) return {};
  features_.resize(this->observations().features(), std::ssize(observations));
  action_masks allowed;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    read_observation(static_cast<Eigen::Index>(i), observations[i]);
    read_mask(static_cast<Eigen::Index>(i), masks.empty() ? std::vector<float>() : masks[i], allowed);
  }
  const nn::matrix<float>& chosen = policy_.actions(features_, allowed, o.explore ? &numbers_ : nullptr);
  numbers_.step += o.explore ? 1 : 0;
  std::vector<std::vector<float>> actions;
  for (Eigen::Index i = 0; i < chosen.cols(); ++i)
    actions.emplace_back(chosen.col(i).data(), chosen.col(i).data() + chosen.rows());
  return actions;
}

MANTA_DECL std::vector<std::vector<float>> trained_policy::act(const std::vector<std::vector<float>>& observations,
                                                               const std::vector<std::vector<float>>& masks,
                                                               std::vector<std::vector<float>>& memories,
                                                               const act_options& o) {
  const std::size_t count = observations.size();
  if (masks.size() != count || memories.size() != count)
    throw error(base::text("manta: rl: act was given {} observations, {} masks and {} memories; give as many of each",
                           count, masks.size(), memories.size()));
  const auto index = [](std::size_t i) { return static_cast<Eigen::Index>(i); };
  nn::matrix<float> known = policy_.memories(index(count));
  known.setZero();
  for (std::size_t i = 0; i < count; ++i) {
    if (memories[i].empty()) continue;
    if (std::ssize(memories[i]) != known.rows())
      throw error(
          base::text("manta: rl: the memory of an episode has {} numbers; the policy needs {}, those that the "
                     "step before gave",
                     memories[i].size(), known.rows()));
    std::copy(memories[i].begin(), memories[i].end(), known.col(index(i)).data());
  }
  policy_.set_memories(known);
  std::vector<std::vector<float>> chosen = actions_for(observations, masks, o);
  known = policy_.memories(index(count));
  for (std::size_t i = 0; i < count; ++i)
    memories[i].assign(known.col(index(i)).data(), known.col(index(i)).data() + known.rows());
  return chosen;
}

MANTA_DECL report evaluate(const any_environment& e, const trained_policy& p, int episodes, const evaluate_options& o) {
  const auto begin = std::chrono::steady_clock::now();
  evaluate_options here = o;
  if (!here.environment) here.environment = e;
  report r = detail::sentence(
      detail::start_evaluation(put(p.acting()), detail::evaluation_of(p.acting(), here, 0), episodes, 0));
  r.seconds = detail::since(begin);
  return r;
}

MANTA_DECL void trained_policy::save(const std::string& path) const {
  output::write_state(path, "rl policy", output::pack(output::pack(*this)));
}

MANTA_DECL trained_policy load_policy_from_bytes(const std::string& bytes) {
  trained_policy policy;
  std::string own;
  try {
    output::unpack(bytes, own);
    output::unpack(own, policy);
  } catch (const std::exception& e) {
    throw error(base::text("manta: rl: the checkpoint has no policy that can be read: {}", e.what()));
  }
  return policy;
}
MANTA_DECL trained_policy load_policy(const std::string& path) {
  return load_policy_from_bytes(output::read_state(path, "rl"));
}

}  // namespace manta::rl
