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
#include "manta/rl/trained_policy.hpp"

namespace manta::rl {

MANTA_DECL std::ostream& operator<<(std::ostream& out, const action& a) {
  const char* separator = "";
  for (const float number : a.numbers()) out << std::exchange(separator, " ") << number;
  return out;
}

MANTA_DECL std::vector<std::vector<float>> trained_policy::best_actions(
    const std::vector<std::vector<float>>& observations, const detail::masks& allowed) {
  if (observations.empty()) return {};
  for (Eigen::Index i = 0; i < allowed.cols(); ++i) detail::check_mask(actions(), detail::mask_of(allowed, i));
  if (allowed.rows() == 0) need_mask();
  const space& from = this->observations();
  features_.resize(from.features(), std::ssize(observations));
  for (std::size_t i = 0; i < observations.size(); ++i) {
    if (std::ssize(observations[i]) != from.size())
      throw error("manta: rl: an observation has " + std::to_string(observations[i].size()) +
                  " numbers; the policy takes " + std::to_string(from.size()) + " (" + from.text() + ")");
    from.flatten(observations[i], features_.col(static_cast<Eigen::Index>(i)).data());
  }
  const nn::matrix<float>& chosen = policy_.actions(features_, allowed);
  std::vector<std::vector<float>> actions;
  for (Eigen::Index i = 0; i < chosen.cols(); ++i)
    actions.emplace_back(chosen.col(i).data(), chosen.col(i).data() + chosen.rows());
  return actions;
}

/// Throws if the environment masks actions.
MANTA_DECL void trained_policy::need_mask() const {
  if (policy_.environment().mask_size() > 0)
    throw error("manta: rl: the environment " + environment() +
                " masks actions, so act needs the mask too: act(observation, mask)");
}

MANTA_DECL std::vector<std::vector<float>> trained_policy::act(const std::vector<std::vector<float>>& observations,
                                                               const std::vector<std::vector<float>>& masks,
                                                               std::vector<std::vector<float>>& memories) {
  const std::size_t count = observations.size();
  if (masks.size() != count || memories.size() != count)
    throw error("manta: rl: act was given " + std::to_string(count) + " observations, " + std::to_string(masks.size()) +
                " masks and " + std::to_string(memories.size()) + " memories; give as many of each");
  const auto index = [](std::size_t i) { return static_cast<Eigen::Index>(i); };
  detail::masks allowed;
  nn::matrix<float> known = policy_.memories(index(count));
  known.setZero();
  for (std::size_t i = 0; i < count; ++i) {
    if (masks[i].empty()) {
      need_mask();
    } else {
      if (allowed.rows() == 0) allowed = detail::masks::Ones(detail::mask_size(actions()), index(count));
      detail::write_mask(masks[i], {allowed.col(index(i)).data(), static_cast<std::size_t>(allowed.rows())});
    }
    if (memories[i].empty()) continue;
    if (std::ssize(memories[i]) != known.rows())
      throw error("manta: rl: the memory of an episode has " + std::to_string(memories[i].size()) +
                  " numbers; the policy needs " + std::to_string(known.rows()) + ", those that the step before gave");
    std::copy(memories[i].begin(), memories[i].end(), known.col(index(i)).data());
  }
  policy_.set_memories(known);
  std::vector<std::vector<float>> chosen = best_actions(observations, allowed);
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
