// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of trained_policy.hpp. The bytes of a policy are the first value of every checkpoint.
#pragma once

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
  if (allowed.rows() == 0 && policy_.environment().mask_size() > 0)
    throw error("manta: rl: the environment " + environment() +
                " masks actions, so act needs the mask too: act(observation, mask)");
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
