// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "manta/base/text.hpp"
#include "manta/tune/math.hpp"
#include "manta/tune/objective.hpp"

namespace manta::tune {

MANTA_DECL double bound::excess(double x) const {
  if (is_nan(x)) return infinity;
  const double unit = limit == 0 ? 1 : std::abs(limit);
  return (is_upper ? x - limit : limit - x) / unit;
}

MANTA_DECL std::string bound::text() const {
  return base::text("{} at {} {}", metric, is_upper ? "most" : "least", limit);
}

namespace detail {
inline bound bound_of(const char* who, std::string metric, double limit, bool is_upper) {
  if (metric.empty() || is_nan(limit))
    throw error(base::text("manta: tune: {} needs the name of a metric and a number", who));
  return {std::move(metric), limit, is_upper};
}
}  // namespace detail

MANTA_DECL bound at_least(std::string metric, double limit) {
  return detail::bound_of("at_least", std::move(metric), limit, false);
}
MANTA_DECL bound at_most(std::string metric, double limit) {
  return detail::bound_of("at_most", std::move(metric), limit, true);
}

MANTA_DECL forbidden forbid(std::function<bool(const config&)> test) {
  if (!test) throw error("manta: tune: forbid needs a function of a configuration");
  return {std::move(test)};
}

}  // namespace manta::tune
