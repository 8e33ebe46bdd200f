// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The points of spaces that are finite, so that none is run twice while others
// are left: what random_search goes through, and what a study remembers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "manta/tune/source.hpp"
#include "manta/tune/space.hpp"

namespace manta::tune::detail {

/// Goes through all values of the parameters for which `walks` holds, which must be countable, the last one changing
/// fastest. The others are drawn, each time from a copy of `others`. visit(the values walked through, the whole
/// configuration) says whether to go on.
MANTA_DECL void walk(const space& where, const std::function<bool(const domain&)>& walks, const random& others,
                     const std::function<bool(const config& walked, const config& made)>& visit);

/// Points of a space that have been given out.
class points {
 public:
  MANTA_DECL void begin(const space& where);
  /// The number of points; 0: more than can be counted, or infinitely many.
  MANTA_DECL std::size_t size();
  /// Notes that a configuration was tried. If all have been tried, a new round begins with it.
  MANTA_DECL void add(const config& c);
  /// Whether all points have been given out, as they have just been when a round ends.
  MANTA_DECL bool is_complete();
  /// Whether a configuration was tried while others have not been.
  MANTA_DECL bool is_repeated(const config& c);
  /// One that has not been given out, as near as can be; nothing if none was found.
  MANTA_DECL std::optional<config> instead_of(const config& c, random& r);

 private:
  /// More points than this are not counted: they are found by drawing.
  static constexpr std::size_t most = 20'000;

  /// A point with such a parameter never comes twice, or is meant to.
  static bool is_open(const domain& d);
  std::string key_of(const config& c) const;
  void count();
  double distance(const config& a, const config& b) const;

  space space_;
  bool may_repeat_ = false;  ///< not known to be infinite
  bool counted_ = false;
  std::vector<std::pair<std::string, config>> all_;  ///< if they are so few that they have been counted
  std::unordered_set<std::string> given_;
};

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/points.ipp"
#endif
