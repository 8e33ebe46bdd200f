// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of importance.hpp.
#pragma once

#include <algorithm>

#include "manta/tune/importance.hpp"

namespace manta::tune {

MANTA_DECL std::vector<std::pair<std::string, double>> parameter_importance(const space& where,
                                                                            const std::vector<trial_record>& trials,
                                                                            bool best_may_fail) {
  fanova_options o;
  o.best_may_fail = best_may_fail;
  return parameter_importance(where, fanova(where, trials, o));
}

MANTA_DECL std::vector<std::pair<std::string, double>> parameter_importance(const space& where,
                                                                            const std::vector<effect>& effects) {
  std::vector<std::pair<std::string, double>> shares;
  if (effects.empty()) return shares;
  for (const parameter& p : where.parameters()) {
    const bool is_searched = p.where.type() == domain::kind::choice || p.where.type() == domain::kind::number;
    if (!is_searched && !p.where.is_closed()) continue;
    double share = 0;
    for (const effect& e : effects) {
      if (std::find(e.parameters.begin(), e.parameters.end(), p.name) != e.parameters.end())
        share += e.share / static_cast<double>(e.parameters.size());
    }
    shares.emplace_back(p.name, share);
  }
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return shares;
}

}  // namespace manta::tune
