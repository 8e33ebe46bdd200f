// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a trial reports: numbers by name.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manta/tune/named_list.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

class metrics : public named_list<double> {
 public:
  metrics() = default;
  metrics(std::initializer_list<std::pair<std::string_view, double>> entries) : named_list(entries) {}

  /// Throws if there is none of that name.
  MANTA_DECL double operator[](std::string_view name) const;
  MANTA_DECL std::string names() const;
  /// A column that tables of tune have beside the metrics, such as "iteration": no metric may have its name.
  MANTA_DECL static bool is_column(std::string_view name);
};

/// The mean of each metric over runs of one configuration, and beside it the standard error of this mean, by the name
/// standard_error_of(metric), of those that at least two of them have reported. Of the metric `without` there is no
/// standard error.
MANTA_DECL metrics mean_of(const std::vector<metrics>& runs, const std::string& without = {});
/// standard_error/loss
MANTA_DECL std::string standard_error_of(const std::string& metric);

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/metrics.ipp"
#endif
