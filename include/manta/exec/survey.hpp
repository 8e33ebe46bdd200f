// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Rank 0 asks all ranks for their reports (account/rank_report.hpp). The questions
// leave at once, the answers come when the ranks look around, also by their
// helpers. A rank that does not answer in time is left out.
#pragma once

#include <cstdint>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/exec/account/rank_report.hpp"
#include "manta/graph/node.hpp"

namespace manta::exec {

struct rank_parts;

class survey {
 public:
  explicit survey(rank_parts& all) : all_(all) {}
  survey(const survey&) = delete;
  survey& operator=(const survey&) = delete;

  /// Asks. Another survey must not be under way.
  MANTA_DECL void begin(report_detail detail);
  bool is_under_way() const { return is_under_way_; }
  /// Does somebody wait for the answers, who will collect them?
  bool is_waited_for() const { return is_waited_for_; }
  /// Have all ranks answered, or is the time over?
  MANTA_DECL bool is_complete(std::int64_t now_ns) const;
  /// Waits for the answers, and runs other tasks meanwhile.
  MANTA_DECL void wait();
  /// Ends the survey: gives what has come to the reader.
  MANTA_DECL void collect(report_reader& reader);

  /// The report of this rank, now.
  MANTA_DECL wire::buffer own_report(report_detail detail);

 private:
  static constexpr std::int64_t patience_ns = 2'000'000'000;

  rank_parts& all_;
  bool is_under_way_ = false, is_waited_for_ = false;
  report_detail detail_ = report_detail::brief;
  std::int64_t due_ns_ = 0;
  std::vector<graph::node*> tickets_;  // by rank; null: this rank, or a dead one
};

}  // namespace manta::exec
