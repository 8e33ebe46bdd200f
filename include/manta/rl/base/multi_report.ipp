// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <ostream>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/base/multi_report.hpp"

namespace manta::rl {

MANTA_DECL const report& multi_report::operator[](const std::string& policy) const {
  const auto found = policies.find(policy);
  if (found != policies.end()) return found->second;
  std::string names;
  for (const auto& [name, r] : policies) names += (names.empty() ? "\"" : ", \"") + name + '"';
  throw error(base::text("manta: rl: the report has no policy \"{}\"; there are {}", policy, names));
}

MANTA_DECL std::ostream& operator<<(std::ostream& out, const multi_report& r) {
  out << "iteration " << r.iteration << ", " << r.steps << " steps, " << r.episodes << " episodes, length "
      << r.mean_length;
  for (const auto& [name, its] : r.policies) out << "\n  " << name << ": " << its;
  return out;
}

}  // namespace manta::rl
