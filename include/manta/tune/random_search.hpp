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
  void tell(trial_number, double) {}

 private:
  space space_;
  std::vector<config> combinations_ = std::vector<config>(1);
  std::uint64_t seed_ = 0;
  std::uint64_t asked_ = 0;
};

/// Every option of choices and grids, every integer and step if there are at most `per_parameter` of them, else and for
/// other numbers so many points evenly spread over the domain, both ends included. The last parameter changes fastest.
/// Ends when all have been asked for, or came from elsewhere; those that differ only in parameters which do not apply
/// are asked for once. Needs a space with a fixed list of parameters.
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
  void tell(trial_number, double) {}
  /// Without those that came from elsewhere.
  std::optional<std::size_t> count() const { return points_.size(); }

 private:
  std::vector<double> marks_of(const domain& d) const;
  std::string key_of(const config& c) const;

  options options_;
  cube cube_;
  std::vector<config> points_;
  std::map<std::string, std::size_t> index_;  ///< of the points that have not been asked for
  std::size_t asked_ = 0;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/random_search.ipp"
#endif
