// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of random_search.hpp.
#pragma once

#include "manta/tune/random_search.hpp"

namespace manta::tune {

MANTA_DECL void random_search::begin(const space& where, std::uint64_t seed) {
  space_ = where;
  seed_ = seed;
  asked_ = 0;
  grids_.clear();
  for (const parameter& p : where.parameters()) {
    if (p.where.is_grid()) grids_.push_back(p);
  }
}

MANTA_DECL std::size_t random_search::combinations() const {
  std::size_t n = 1;
  for (const parameter& p : grids_) n *= p.where.options().size();
  return n;
}

MANTA_DECL std::optional<config> random_search::ask(trial_number) {
  random r(seed_, asked_);
  std::size_t rest = asked_++ % combinations();
  std::map<std::string, value> fixed;  // the last grid changes fastest
  for (std::size_t i = grids_.size(); i-- > 0;) {
    const auto& options = grids_[i].where.options();
    fixed[grids_[i].name] = options[rest % options.size()];
    rest /= options.size();
  }
  return space_.make(
      [&](const parameter& p, const config& before) {
        const auto at = fixed.find(p.name);
        return at != fixed.end() ? at->second : p.where.draw(before, r);
      },
      r);
}

MANTA_DECL void grid_search::begin(const space& where, std::uint64_t seed) {
  points_.clear();
  asked_ = 0;
  const cube all(where, "grid_search");
  std::vector<std::vector<double>> marks;
  for (const parameter& p : all.axes()) marks.push_back(marks_of(p.where));
  std::size_t count = 1;
  for (const auto& m : marks) count *= m.size();
  if (count > 10'000'000) throw error("manta: grid_search: this grid has more than ten million points; make it coarser");
  random dependent(seed);
  std::vector<double> u(marks.size());
  std::map<std::string, bool> seen;
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t rest = k;
    for (std::size_t i = marks.size(); i-- > 0;) {
      u[i] = marks[i][rest % marks[i].size()];
      rest /= marks[i].size();
    }
    config c = all.at(u, dependent);
    if (seen.emplace(c.text(), true).second) points_.push_back(std::move(c));
  }
}

MANTA_DECL std::optional<config> grid_search::ask(trial_number) {
  if (asked_ == points_.size()) return std::nullopt;
  return points_[asked_++];
}

MANTA_DECL std::vector<double> grid_search::marks_of(const domain& d) const {
  std::size_t levels = d.options().size();
  if (d.type() == domain::kind::number) {
    levels = options_.per_parameter;
    const double steps = d.step() > 0 && !d.is_normal() ? std::floor((d.high() - d.low()) / d.step() + 1e-9) + 1 : 0;
    if (steps > 0 && steps <= static_cast<double>(levels)) {
      std::vector<double> marks;
      for (double k = 0; k < steps; ++k) marks.push_back(d.position(value(d.low() + k * d.step())));
      return marks;
    }
  }
  std::vector<double> marks;
  for (std::size_t i = 0; i < levels; ++i) {
    // ends included for bounded numbers; the middles of equally probable parts for what has no end
    const bool ends = d.type() == domain::kind::number && !d.is_normal() && levels > 1;
    marks.push_back(ends ? static_cast<double>(i) / static_cast<double>(levels - 1)
                         : (static_cast<double>(i) + 0.5) / static_cast<double>(levels));
  }
  return marks;
}

}  // namespace manta::tune
