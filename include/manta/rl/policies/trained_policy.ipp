// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of trained_policy.hpp. The bytes of a policy are the first value of every checkpoint.
#pragma once

#include <algorithm>
#include <ostream>
#include <utility>

#include "manta/output/bytes.hpp"
#include "manta/output/saved_state.hpp"
#include "manta/rl/policies/trained_policy.hpp"

namespace manta::rl {

MANTA_DECL std::ostream& operator<<(std::ostream& out, const action& a) {
  const char* separator = "";
  for (const float number : a.numbers()) out << std::exchange(separator, " ") << number;
  return out;
}

MANTA_DECL void trained_policy::fail(Eigen::Index i, const std::string& what) const {
  const bool is_alone = features_.cols() == 1;
  throw error("manta: rl: act: " +
              (is_alone ? "the observation" : "observation " + std::to_string(i) + " of those given") + what);
}

MANTA_DECL void trained_policy::read_observation(Eigen::Index i, const std::vector<float>& observation) {
  const space& from = observations();
  if (std::ssize(observation) != from.size())
    fail(i, " has " + std::to_string(observation.size()) + " numbers; the policy takes " + std::to_string(from.size()) +
                " (" + from.text() + ")");
  if (!from.contains(observation))
    fail(i, " is " + detail::text_of(observation) + ", which is not in the observation space " + from.text());
  from.flatten(observation, features_.col(i).data());
}

MANTA_DECL void trained_policy::read_mask(Eigen::Index i, const std::vector<float>& mask,
                                          detail::masks& allowed) const {
  if (mask.empty()) {
    if (needs_masks())
      fail(i, " needs a mask too, act(observation, mask): the environment " + environment() + " masks actions");
    return;
  }
  if (allowed.rows() == 0) allowed = detail::masks::Ones(detail::mask_size(actions()), features_.cols());
  const std::span<unsigned char> its(allowed.col(i).data(), static_cast<std::size_t>(allowed.rows()));
  try {
    detail::write_mask(mask, its);
    detail::check_mask(actions(), its);
  } catch (const error& e) {
    fail(i, std::string(": ") + e.what());
  }
}

MANTA_DECL std::vector<std::vector<float>> trained_policy::best_actions(
    const std::vector<std::vector<float>>& observations, const std::vector<std::vector<float>>& masks) {
  if (observations.empty()) return {};
  features_.resize(this->observations().features(), std::ssize(observations));
  detail::masks allowed;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    read_observation(static_cast<Eigen::Index>(i), observations[i]);
    read_mask(static_cast<Eigen::Index>(i), masks.empty() ? std::vector<float>() : masks[i], allowed);
  }
  const nn::matrix<float>& chosen = policy_.actions(features_, allowed);
  std::vector<std::vector<float>> actions;
  for (Eigen::Index i = 0; i < chosen.cols(); ++i)
    actions.emplace_back(chosen.col(i).data(), chosen.col(i).data() + chosen.rows());
  return actions;
}

MANTA_DECL std::vector<std::vector<float>> trained_policy::act(const std::vector<std::vector<float>>& observations,
                                                               const std::vector<std::vector<float>>& masks,
                                                               std::vector<std::vector<float>>& memories) {
  const std::size_t count = observations.size();
  if (masks.size() != count || memories.size() != count)
    throw error("manta: rl: act was given " + std::to_string(count) + " observations, " + std::to_string(masks.size()) +
                " masks and " + std::to_string(memories.size()) + " memories; give as many of each");
  const auto index = [](std::size_t i) { return static_cast<Eigen::Index>(i); };
  nn::matrix<float> known = policy_.memories(index(count));
  known.setZero();
  for (std::size_t i = 0; i < count; ++i) {
    if (memories[i].empty()) continue;
    if (std::ssize(memories[i]) != known.rows())
      throw error("manta: rl: the memory of an episode has " + std::to_string(memories[i].size()) +
                  " numbers; the policy needs " + std::to_string(known.rows()) + ", those that the step before gave");
    std::copy(memories[i].begin(), memories[i].end(), known.col(index(i)).data());
  }
  policy_.set_memories(known);
  std::vector<std::vector<float>> chosen = best_actions(observations, masks);
  known = policy_.memories(index(count));
  for (std::size_t i = 0; i < count; ++i)
    memories[i].assign(known.col(index(i)).data(), known.col(index(i)).data() + known.rows());
  return chosen;
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
    throw error(std::string("manta: rl: the checkpoint has no policy that can be read: ") + e.what());
  }
  return policy;
}
MANTA_DECL trained_policy load_policy(const std::string& path) {
  return load_policy_from_bytes(output::read_state(path, "rl"));
}

}  // namespace manta::rl
