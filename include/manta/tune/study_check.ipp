// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a study looks at before the first trial, so that mistakes are found then, and what it does about those that show later.
#pragma once

#include <algorithm>
#include <set>

#include "manta/error.hpp"
#include "manta/tune/study.hpp"

namespace manta::tune {

MANTA_DECL void study::check_options() {
  if (options_.minimise.empty() == options_.maximise.empty()) {
    throw error("manta: tune: say what to optimise: give .minimise or .maximise the name of a metric, not both");
  }
  if (options_.retries < 0) throw error("manta: tune: retries must not be negative");
  const checkpoint_options& kept = options_.checkpoints;
  if (!kept.minimise.empty() && !kept.maximise.empty()) {
    throw error(
        "manta: tune: checkpoints are kept by .minimise or by .maximise, not by both; without them, by the "
        "experiment's metric");
  }
  if (!options_.scheduler || !options_.searcher) throw error("manta: tune: searcher and scheduler must not be empty");
  std::set<std::string> looked_at = {kept.minimise, kept.maximise};
  for (const stop_rule& rule : options_.stop) looked_at.insert(rule.metric());
  for (const std::string& name : {metric_, options_.clock}) {
    if (metrics::is_column(name)) throw error("manta: tune: \"" + name + "\" is a column of tune's own; give the metric another name");
    looked_at.erase(name);  // trials that do not report it fail
  }
  looked_at.erase("");
  unreported_.assign(looked_at.begin(), looked_at.end());
  try_space();
}

MANTA_DECL void study::try_space() const {
  random r(options_.seed, 0, 0x7472696564ULL);
  std::vector<std::string> unseen;
  for (const parameter& p : space_.parameters()) {
    const auto& all = p.where.conditions();
    if (std::any_of(all.begin(), all.end(), [](const condition& c) { return c.name.empty(); })) unseen.push_back(p.name);
  }
  for (int i = 0; i < 64 || (i < 5000 && !unseen.empty()); ++i) {
    const config c = space_.draw(r);
    std::erase_if(unseen, [&](const std::string& name) { return c.contains(name); });
  }
  if (unseen.empty()) return;
  throw error("manta: tune: \"" + unseen.front() + "\" is in none of 5000 configurations drawn at random: the function that is its condition, "
              "or that of a parameter that it needs, does not hold");
}

MANTA_DECL void study::complete_first() {
  for (std::size_t i = 0; i < options_.first.size(); ++i) {
    random r(options_.seed, i, 0x666972737475ULL);
    try {
      first_.push_back(space_.complete(options_.first[i], r));
    } catch (const error& e) {
      throw error("manta: tune: .first[" + std::to_string(i) + "]: " + std::string(e.what()).substr(7));
    }
  }
}

MANTA_DECL std::size_t study::limit() {
  if (options_.trials == 0) return ~std::size_t{0};
  // Points of .first come on top of a grid: it is gone through whatever they are. Those that are its points are not repeated.
  if (const auto count = searcher_.count()) {
    std::size_t all = *count;
    if (!first_.empty()) {
      any_searcher rest = searcher_.clone();
      for (std::size_t i = 0; i < first_.size(); ++i) rest.add(i, first_[i]);
      all = rest.count().value_or(0) + first_.size();
    }
    return options_.trials > 1 ? std::min(options_.trials, all) : all;
  }
  const std::size_t combinations = searcher_.combinations();
  std::size_t more = combinations > 1 ? first_.size() : 0;
  if (more > 0 && points_.size() == combinations) {
    std::set<std::string> different;
    for (const config& c : first_) more -= different.insert(c.text()).second;
  }
  return options_.trials * combinations + more;
}

MANTA_DECL void study::break_off(const char* who) {
  is_broken_ = true;
  if (!stopping_.empty()) return;
  try {
    std::rethrow_exception(thrown_);
  } catch (const std::exception& e) {
    stopping_ = std::string(who) + " threw: " + base::text_of(e);
  } catch (...) {
    stopping_ = std::string(who) + " threw something that is not a std::exception";
  }
}

MANTA_DECL void study::miss_metrics(const trial_record& r) {
  if (unreported_.empty() || !stopping_.empty()) return;
  is_broken_ = true;
  stopping_ = "a rule of .stop or .checkpoints looks at \"" + unreported_.front() + "\", which nobody has reported; trial " + std::to_string(r.id) +
              " reported " + r.last.names() + ": mend the name, or report it in each trial";
}

}  // namespace manta::tune
