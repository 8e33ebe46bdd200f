// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The reports of several runs of one configuration as those of one trial: at each report, the means over the runs, and
// their standard errors. Plain data, without ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "manta/tune/exchange.hpp"
#include "manta/tune/metrics.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune::detail {

/// A run counts with its last report when it has ended before the others. One that has reported waits until all others
/// have come as far.
class repeats {
 public:
  explicit repeats(std::size_t runs) : runs_(runs) {}

  /// `clock` is the metric that has no standard error.
  MANTA_DECL void begin(const std::string& clock);
  /// Goes on with what another object has written.
  MANTA_DECL void begin(const std::string& clock, const std::string& written);
  /// What a later object needs to go on.
  MANTA_DECL std::string written() const;

  MANTA_DECL void report(std::size_t which, reported r);
  MANTA_DECL void end(std::size_t which);
  bool has_ended(std::size_t which) const { return runs_[which].has_ended; }
  /// Whether the run waits for the others.
  bool waits(std::size_t which) const { return runs_[which].next.has_value(); }
  /// Takes the report of all; that of the runs that have come less far, if others are ahead of them.
  /// Nothing when all have ended.
  MANTA_DECL std::optional<reported> take();

 private:
  struct run {
    bool has_ended = false;
    metrics last = {};  ///< metrics of its last report that counts
    std::optional<reported> next = {};
  };

  std::vector<run> runs_;
  std::string clock_;
};

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/repeats.ipp"
#endif
