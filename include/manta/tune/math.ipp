// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/tune/math.hpp"

namespace manta::tune {

MANTA_DECL double normal_density(double z) { return std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi); }

MANTA_DECL double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

MANTA_DECL double normal_quantile(double p) {
  if (is_nan(p) || p <= 0) return -infinity;
  if (p >= 1) return infinity;
  if (p > 0.5) return -normal_quantile(1 - p);  // the residual below is exact in the lower tail only
  double z = 0;
  if (p < 0.02425) {
    const double q = std::sqrt(-2 * std::log(p));
    z = (((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838e+00) * q -
           2.549732539343734e+00) *
              q +
          4.374664141464968e+00) *
             q +
         2.938163982698783e+00) /
        ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996e+00) * q +
          3.754408661907416e+00) *
             q +
         1);
  } else {
    const double q = p - 0.5;
    const double r = q * q;
    z = (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
           1.383577518672690e+02) *
              r -
          3.066479806614716e+01) *
             r +
         2.506628277459239e+00) *
        q /
        (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
           6.680131188771972e+01) *
              r -
          1.328068155288572e+01) *
             r +
         1);
  }
  const double density = normal_density(z);
  if (density <= 0) return z;
  const double u = (normal_cdf(z) - p) / density;
  return z - u / (1 + z * u / 2);
}

MANTA_DECL double sorted_quantile(const std::vector<double>& ascending, double q) {
  if (ascending.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double at = q * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 >= ascending.size()) return ascending.back();
  const double fraction = at - static_cast<double>(below);
  return ascending[below] + (fraction > 0 ? fraction * (ascending[below + 1] - ascending[below]) : 0);
}

MANTA_DECL double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return sorted_quantile(numbers, 0.5);
}

MANTA_DECL double integer_power(double base, int exponent) {
  double power = 1;
  for (; exponent > 0; --exponent) power *= base;
  return power;
}

MANTA_DECL int integer_log(double x, double base) {
  int k = 0;
  for (double power = base; power <= x * (1 + 1e-12); power *= base) ++k;
  return k;
}

}  // namespace manta::tune
