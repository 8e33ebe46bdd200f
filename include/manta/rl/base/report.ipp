// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <ostream>

#include "manta/rl/base/report.hpp"

namespace manta::rl {

MANTA_DECL std::ostream& operator<<(std::ostream& out, const report& r) {
  const auto number = [](double x) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.4g", x);
    return std::string(digits);
  };
  out << "iteration " << r.iteration << ", " << r.steps << " steps, " << r.episodes << " episodes";
  if (r.mean_return > no_return) {
    out << ": return " << number(r.mean_return) << " (" << number(r.min_return) << " to " << number(r.max_return)
        << "), length " << number(r.mean_length);
  } else {
    out << ": none has ended";
  }
  for (const auto* part : {&r.figures, &r.learner}) {
    for (const auto& [name, value] : *part) out << ", " << name << ' ' << number(value);
  }
  return out;
}

MANTA_DECL double detail::since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace manta::rl
