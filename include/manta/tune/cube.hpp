// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A space as the unit cube: one coordinate for each parameter that is searched.
// For searchers that work on vectors. Conditional parameters have their
// coordinate whether they apply or not.
#pragma once

#include <map>

#include "manta/tune/source.hpp"
#include "manta/tune/space.hpp"

namespace manta::tune {

namespace detail {
/// The position of a configuration on these axes, each from 0 to 1; the middle for parameters that it does not have.
MANTA_DECL std::vector<double> position_of(const std::vector<parameter>& axes, const config& c);
}  // namespace detail

class cube {
 public:
  cube() = default;
  /// Throws if the space is defined by running: `who` needs to know its parameters beforehand.
  MANTA_DECL cube(const space& where, const std::string& who);

  std::size_t dimensions() const { return axes_.size(); }
  const std::vector<parameter>& axes() const { return axes_; }

  /// The configuration at a point. Dependent parameters draw from `dependent`.
  MANTA_DECL config at(const std::vector<double>& u, random& dependent) const;
  const class space& where() const { return space_; }
  /// Whether the configuration at the point is not forbidden.
  bool allows(const std::vector<double>& u, random& dependent) const {
    return !space_.forbids_any() || space_.allows(at(u, dependent));
  }
  /// The point of the configuration that the point gives: what does not apply there is in the middle, as in positions
  /// of trials. Nothing changes in a space without conditions.
  MANTA_DECL std::vector<double> settled(std::vector<double> u, random& dependent) const;
  /// The point of a configuration; the middle for parameters that it does not have.
  std::vector<double> position(const config& c) const { return detail::position_of(axes_, c); }

 private:
  space space_;
  std::vector<parameter> axes_;
  std::map<std::string, std::size_t> axis_of_;
  bool is_conditional_ = false;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/cube.ipp"
#endif
