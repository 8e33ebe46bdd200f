// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>

#include "manta/tune/metrics.hpp"

namespace manta::tune {

MANTA_DECL double metrics::operator[](std::string_view name) const {
  if (const double* x = find(name)) return *x;
  throw error("manta: \"" + std::string(name) + "\" was not reported; there is " + names());
}

MANTA_DECL std::string metrics::names() const {
  std::string all;
  for (const entry& e : *this) all += (all.empty() ? "\"" : ", \"") + e.first + "\"";
  return all.empty() ? "nothing" : all;
}

MANTA_DECL bool metrics::is_column(std::string_view name) {
  constexpr std::string_view columns[] = {"iteration", "seconds", "trial", "state", "at", "why", "config"};
  return std::find(std::begin(columns), std::end(columns), name) != std::end(columns) || name.starts_with("config/");
}

MANTA_DECL std::string standard_error_of(const std::string& metric) { return "standard_error/" + metric; }

MANTA_DECL metrics mean_of(const std::vector<metrics>& runs, const std::string& without) {
  metrics all, errors;
  for (const metrics& first : runs) {
    for (const auto& [name, ignored] : first) {
      if (all.find(name) != nullptr) continue;
      std::vector<double> values;
      for (const metrics& m : runs) {
        if (const double* x = m.find(name)) values.push_back(*x);
      }
      const auto n = static_cast<double>(values.size());
      double sum = 0, squares = 0;
      for (const double x : values) sum += x;
      const double mean = sum / n;
      for (const double x : values) squares += (x - mean) * (x - mean);
      if (values.size() > 1 && name != without) errors.set(standard_error_of(name), std::sqrt(squares / (n - 1) / n));
      // The mean of equal values is this value, without errors of rounding.
      const bool is_equal = std::all_of(values.begin(), values.end(), [&](double x) { return x == values.front(); });
      all.set(name, is_equal ? values.front() : mean);
    }
  }
  for (const auto& [name, x] : errors) all.set(name, x);
  return all;
}

}  // namespace manta::tune
