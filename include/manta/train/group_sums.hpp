// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Sums over all members of what their samples gave, known to all members: so nothing of it is lost with one of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "manta/train/exchange.hpp"
#include "manta/train/pass.hpp"
#include "manta/train/source.hpp"

namespace manta::train::detail {

/// Metrics travel as numbers alone, in the order of a list of names that all members have. A name that is new to one of
/// them costs a further exchange.
class group_sums {
 public:
  /// Collective. `more`: further numbers that are summed in the same call, in place.
  MANTA_DECL sums over_all(exchange& e, const sums& mine, std::span<double> more);

 private:
  /// Collective: adds the names that one member or another has and the list has not.
  void agree_on_names(exchange& e, const sums& mine);
  void add_up(exchange& e, const sums& mine, std::span<const double> more);

  std::vector<std::string> names_;
  std::vector<double> numbers_;
};

}  // namespace manta::train::detail

#ifndef MANTA_COMPILED
#include "manta/train/group_sums.ipp"
#endif
