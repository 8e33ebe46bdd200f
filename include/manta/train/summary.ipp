// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <ostream>

#include "manta/error.hpp"
#include "manta/train/summary.hpp"

namespace manta::train {

MANTA_DECL double summary::operator[](std::string_view name) const {
  if (name == "loss") return loss;
  const auto found = metrics.find(std::string(name));
  if (found != metrics.end()) return found->second;
  throw error("manta: train: the summary has no metric \"" + std::string(name) + "\"; it has " + names());
}

MANTA_DECL std::string summary::names() const {
  std::string all = "loss";
  for (const auto& [metric, value] : metrics) all += ", " + metric;
  return all;
}

MANTA_DECL std::ostream& operator<<(std::ostream& out, const summary& s) {
  const auto number = [](double x) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.4g", x);
    return std::string(digits);
  };
  if (s.step > 0) out << "epoch " << s.epoch << ": ";  // not of an evaluation
  out << "loss " << number(s.loss);
  for (const auto& [name, value] : s.metrics) out << ", " << name << ' ' << number(value);
  out << ", " << s.samples << " samples in " << number(s.seconds) << " s";
  if (s.deaths == 0) return out;
  return out << ", of which " << s.deaths << (s.deaths == 1 ? " death of a worker" : " deaths of workers") << " cost "
             << number(s.seconds_lost) << " s";
}

}  // namespace manta::train
