// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/tune/output/summary.hpp"
#include "manta/tune/study_outputs.hpp"

namespace manta::tune::detail {

MANTA_DECL void study_outputs::begin(const std::vector<any_output>& all, const output_context& context) {
  for (const any_output& o : all) all_.push_back(o.clone());
  all_.emplace_back(summary_file());
  for (const any_output& o : all_) o->begin(context);
}

MANTA_DECL std::string study_outputs::host_of(int rank) const {
  const auto at = hosts_.find(rank);
  return at == hosts_.end() ? "" : at->second;
}

MANTA_DECL void study_outputs::opened(int rank, const std::string& host, double now) {
  hosts_[rank] = host;
  places_.push_back(rank);
  for (const any_output& o : all_) o->opened(rank, now);
}

MANTA_DECL void study_outputs::closed(int rank, double now) {
  const auto at = std::find(places_.begin(), places_.end(), rank);
  if (at == places_.end()) return;
  places_.erase(at);
  for (const any_output& o : all_) o->closed(rank, now);
}

MANTA_DECL void study_outputs::close_all(double now) {
  while (!places_.empty()) closed(places_.back(), now);
}

MANTA_DECL void study_outputs::add(const trial_record& r) {
  for (const any_output& o : all_) o->add(r);
}

MANTA_DECL void study_outputs::report(const trial_record& r, const metrics& m, double seconds) {
  for (const any_output& o : all_) o->report(r, m, seconds);
}

MANTA_DECL void study_outputs::decide(const trial_record& r, std::string_view what, std::string_view why) {
  if (why.empty()) return;
  for (const any_output& o : all_) o->decision(r, what, why);
}

MANTA_DECL void study_outputs::end(const trial_record& r) {
  for (const any_output& o : all_) o->end(r);
}

MANTA_DECL void study_outputs::flush(const std::vector<trial_record>& all) {
  for (const any_output& o : all_) {
    o->flush();
    o->refresh(all);
  }
}

MANTA_DECL void study_outputs::finish(const std::vector<trial_record>& all, const std::string& why) {
  for (const any_output& o : all_) o->finish(all, why);
}

}  // namespace manta::tune::detail
