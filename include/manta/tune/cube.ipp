// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/tune/cube.hpp"

namespace manta::tune {

namespace detail {
MANTA_DECL std::vector<double> position_of(const std::vector<parameter>& axes, const config& c) {
  std::vector<double> u(axes.size(), 0.5);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (const value* v = c.find(axes[i].name)) u[i] = axes[i].where.position(*v);
  }
  return u;
}
}  // namespace detail

MANTA_DECL cube::cube(const space& where, const std::string& who) : space_(where) {
  if (where.is_program()) {
    throw error("manta: " + who +
                " needs a space with a fixed list of parameters; write the list, with .when for "
                "conditions, or search a space defined by running with tpe or random_search");
  }
  axes_ = where.searched();
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    axis_of_[axes_[i].name] = i;
    is_conditional_ = is_conditional_ || axes_[i].where.is_conditional();
  }
}

MANTA_DECL std::vector<double> cube::settled(std::vector<double> u, random& dependent) const {
  if (!is_conditional_) return u;
  const config c = at(u, dependent);
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (!c.contains(axes_[i].name)) u[i] = 0.5;
  }
  return u;
}

MANTA_DECL config cube::at(const std::vector<double>& u, random& dependent) const {
  return space_.make([&](const parameter& p, const config&) { return p.where.at(u[axis_of_.at(p.name)]); }, dependent);
}

}  // namespace manta::tune
