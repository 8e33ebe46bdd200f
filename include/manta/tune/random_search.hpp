// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// random_search draws each configuration independently; grids in the space are
// gone through, so that one sample is one configuration for every combination.
// grid_search goes through a grid over all parameters, numbers included.
#pragma once

#include "manta/tune/cube.hpp"
#include "manta/tune/searcher.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// The default. Configuration k depends on the seed and on k alone. Grids may stand in a space defined by running, and
/// under conditions: a combination is what there is of them.
class random_search {
 public:
  static constexpr bool is_distinct = true;
  MANTA_DECL void begin(const space& where, std::uint64_t seed);
  /// Combinations of the grids; 1 if there are none.
  std::size_t combinations() const { return combinations_.size(); }
  MANTA_DECL std::optional<config> ask(trial_number);
  void tell(trial_number, const outcome&) {}

 private:
  config drawn(const config& fixed, random& r) const;
  /// One of this combination that is allowed; nothing if all attempts are forbidden.
  std::optional<config> allowed_of(const config& fixed, int attempts, random& r) const;
  /// Removes combinations of which nothing that was drawn is allowed.
  void leave_out_forbidden();

  space space_;
  std::vector<config> combinations_ = std::vector<config>(1);
  std::uint64_t seed_ = 0;
  std::uint64_t asked_ = 0;
};

/// Tries all combinations of points of a space with a fixed list of parameters. The points of a parameter are
/// every option of a choice or grid, and every integer and step if there are at most `per_parameter` of them;
/// else `per_parameter` points at equal distances, both ends included. The last parameter changes fastest. The
/// search ends when every combination has been tried. Combinations that differ only in parameters which do not
/// apply are tried once.
class grid_search {
 public:
  struct options {
    std::size_t per_parameter = 5;
  };
  grid_search() = default;
  explicit grid_search(options o) : options_(o) {}

  MANTA_DECL void begin(const space& where, std::uint64_t seed);
  MANTA_DECL std::optional<config> ask(trial_number);
  MANTA_DECL void add(trial_number, const config& c);
  void tell(trial_number, const outcome&) {}
  /// Without those that came from elsewhere.
  std::optional<std::size_t> count() const { return points_.size(); }

 private:
  std::vector<double> marks_of(const domain& d) const;
  std::string key_of(const config& c) const;

  options options_;
  cube cube_;
  std::vector<config> points_;
  std::map<std::string, std::size_t> index_;  ///< index of the points that have not been asked for
  std::size_t asked_ = 0;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/random_search.ipp"
#endif
