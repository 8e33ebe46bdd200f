// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cereal/types/vector.hpp>

#include "manta/output/bytes.hpp"
#include "manta/tune/repeats.hpp"

namespace manta::tune::detail {

MANTA_DECL void repeats::begin(const std::string& clock) {
  runs_.assign(runs_.size(), {});
  clock_ = clock;
}

MANTA_DECL void repeats::begin(const std::string& clock, const std::string& written) {
  begin(clock);
  std::vector<char> ended;
  std::vector<metrics> last;
  manta::output::unpack(written, ended, last);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    runs_[i].has_ended = ended.at(i) != 0;
    runs_[i].last = last.at(i);
  }
}

MANTA_DECL std::string repeats::written() const {
  std::vector<char> ended;
  std::vector<metrics> last;
  for (const run& each : runs_) {
    ended.push_back(each.has_ended ? 1 : 0);
    last.push_back(each.next ? each.next->values : each.last);
  }
  return manta::output::pack(ended, last);
}

MANTA_DECL void repeats::report(std::size_t which, reported r) { runs_[which].next = std::move(r); }
MANTA_DECL void repeats::end(std::size_t which) { runs_[which].has_ended = true; }

MANTA_DECL std::optional<reported> repeats::take() {
  std::optional<reported> all;
  for (const run& each : runs_) {
    if (!each.next) continue;
    if (!all) all.emplace();
    const bool is_first = all->iteration == 0 || each.next->iteration < all->iteration;
    if (is_first) all->iteration = each.next->iteration;
    all->seconds = std::max(all->seconds, each.next->seconds);
  }
  if (!all) return std::nullopt;
  std::vector<metrics> values;
  for (run& each : runs_) {
    if (each.next && each.next->iteration == all->iteration) {
      each.last = std::move(each.next->values);
      each.next.reset();
    }
    if (!each.last.empty()) values.push_back(each.last);
  }
  all->values = mean_of(values, clock_);
  return all;
}

}  // namespace manta::tune::detail
