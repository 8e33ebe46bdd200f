// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The outputs of an experiment as one, and the places that outputs were told of.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "manta/tune/output/output.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune::detail {

class study_outputs {
 public:
  /// Begins copies of the outputs: an experiment does not change the outputs that it was given.
  MANTA_DECL void begin(const std::vector<any_output>& all, const output_context& context);

  MANTA_DECL void opened(int rank, const std::string& host, double now);
  /// The machine of a rank; empty if it is not known.
  MANTA_DECL std::string host_of(int rank) const;
  /// Nothing happens if the rank had not been opened.
  MANTA_DECL void closed(int rank, double now);
  /// All places of an earlier run of the program.
  MANTA_DECL void close_all(double now);

  MANTA_DECL void add(const trial_record& r);
  MANTA_DECL void report(const trial_record& r, const metrics& m, double seconds);
  /// Nothing happens if there is no `why`.
  MANTA_DECL void decide(const trial_record& r, std::string_view what, std::string_view why);
  MANTA_DECL void end(const trial_record& r);

  MANTA_DECL void flush(const std::vector<trial_record>& all);
  MANTA_DECL void finish(const std::vector<trial_record>& all, const std::string& why);

 private:
  std::vector<any_output> all_;
  std::vector<int> places_;  ///< ranks on which trials may run
  std::map<int, std::string> hosts_;
};

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/study_outputs.ipp"
#endif
