// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a trial reports: numbers by name.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "manta/tune/named_list.hpp"

namespace manta::tune {

class metrics : public named_list<double> {
 public:
  metrics() = default;
  metrics(std::initializer_list<std::pair<std::string_view, double>> entries) : named_list(entries) {}

  /// Throws if there is none of that name.
  double operator[](std::string_view name) const {
    if (const double* x = find(name)) return *x;
    throw error("manta: \"" + std::string(name) + "\" was not reported; there is " + names());
  }
  std::string names() const {
    std::string all;
    for (const entry& e : *this) all += (all.empty() ? "\"" : ", \"") + e.first + "\"";
    return all.empty() ? "nothing" : all;
  }
};

}  // namespace manta::tune
