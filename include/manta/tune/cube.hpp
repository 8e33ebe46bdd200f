// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A space as the unit cube: one coordinate for each parameter that is searched.
// For searchers that work on vectors. Conditional parameters have their
// coordinate whether they apply or not.
#pragma once

#include <map>

#include "manta/tune/space.hpp"

namespace manta::tune {

class cube {
 public:
  cube() = default;
  /// Throws if the space is defined by running: `who` needs to know its parameters beforehand.
  cube(const space& where, const std::string& who) : space_(where) {
    if (where.is_program()) {
      throw error("manta: " + who + " needs a space with a fixed list of parameters; write the list, with .when for "
                  "conditions, or search a space defined by running with tpe or random_search");
    }
    for (const parameter& p : where.parameters()) {
      if (p.where.type() != domain::kind::choice && p.where.type() != domain::kind::number) continue;
      axis_of_[p.name] = axes_.size();
      axes_.push_back(p);
    }
  }

  std::size_t dimensions() const { return axes_.size(); }
  const std::vector<parameter>& axes() const { return axes_; }

  /// The configuration at a point. Dependent parameters draw from `dependent`.
  config at(const std::vector<double>& u, random& dependent) const {
    return space_.make([&](const parameter& p, const config&) { return p.where.at(u[axis_of_.at(p.name)]); }, dependent);
  }
  /// The point of a configuration; the middle for parameters that it does not have.
  std::vector<double> position(const config& c) const {
    std::vector<double> u(axes_.size(), 0.5);
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (const value* v = c.find(axes_[i].name)) u[i] = axes_[i].where.position(*v);
    }
    return u;
  }

 private:
  space space_;
  std::vector<parameter> axes_;
  std::map<std::string, std::size_t> axis_of_;
};

}  // namespace manta::tune
