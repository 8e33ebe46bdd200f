// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <set>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/tune/output/output.hpp"
#include "manta/tune/proposals.hpp"

namespace manta::tune::detail {

MANTA_DECL void proposals::begin(const space& where, const experiment& e) {
  searcher_ = e.searcher.clone();
  seed_ = e.seed;
  for (std::size_t i = 0; i < e.first.size(); ++i) {
    random r(seed_, i, 0x666972737475ULL);
    try {
      first_.push_back(where.complete(e.first[i], r));
    } catch (const error& why) {
      throw error(base::text("manta: tune: .first[{}]: {}", i, std::string_view(why.what()).substr(7)));
    }
  }
  only_new_ =
      std::any_of(e.stop_all.begin(), e.stop_all.end(), [](const auto& r) { return r.ends_when_all_is_tried(); });
  points_.begin(where);
  searcher_->begin(where, seed_);
  ranking by;
  by.begin(e);
  if (by.has_several() && searcher_->has_one_objective()) {
    throw error(
        base::text("manta: tune: {} looks at one metric, and the experiment has {}: search with nsga2, tpe or "
                   "bayesian, or name one metric and limit the others by .subject_to; a searcher of your own takes "
                   "them all by tell(trial, const tune::outcome&)",
                   class_name(searcher_->type()), by.objectives().size()));
  }
  learn(where, e.known, by);
}

MANTA_DECL void proposals::learn(const space& where, const std::vector<known_result>& known, const ranking& by) {
  std::size_t outside = 0, other = 0;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const std::optional<config> c = fitted(where, known[i].parameters);
    const std::optional<outcome> o = outcome_of(known[i], by.objectives(), by.limits());
    outside += !c;
    other += c && !o;
    if (!c || !o) continue;
    const trial_number number = ranking::none - 1 - i;  // no trial has it
    searcher_->add(number, *c);
    if (known[i].at > 0 && !o->has_failed()) searcher_->report(number, known[i].at, o->loss);
    searcher_->tell(number, *o);
    if (const auto whole = where.exactly(*c); whole && searcher_->is_distinct()) points_.add(*whole);
  }
  if (known.empty()) return;
  learned_ = base::text("learns from {} of {} known results", known.size() - outside - other, known.size());
  if (outside > 0) learned_ += base::text("; {} lie outside the space", outside);
  if (other > 0) learned_ += base::text("; {} lack a metric of the experiment", other);
  for (const parameter& p : where.searched()) {
    const auto has_it = [&](const known_result& k) { return k.parameters.contains(p.name); };
    if (std::none_of(known.begin(), known.end(), has_it)) learned_ += base::text("; none has \"{}\"", p.name);
  }
}

MANTA_DECL std::size_t proposals::limit(std::size_t trials) {
  if (trials == 0) return ~std::size_t{0};
  // A grid is gone through whatever .first has. Configurations of .first that are not in the grid come on top of it.
  if (const auto count = searcher_->count()) {
    std::size_t all = *count;
    if (!first_.empty()) {
      any_searcher rest = searcher_.clone();
      for (std::size_t i = 0; i < first_.size(); ++i) rest->add(i, first_[i]);
      all = rest->count().value_or(0) + first_.size();
    }
    return trials > 1 ? std::min(trials, all) : all;
  }
  const std::size_t combinations = searcher_->combinations();
  std::size_t more = combinations > 1 ? first_.size() : 0;
  if (more > 0 && points_.size() == combinations) {
    std::set<std::string> different;
    for (const config& c : first_) more -= different.insert(c.text()).second;
  }
  return trials * combinations + more;
}

MANTA_DECL std::optional<config> proposals::next(trial_number t, stop_reason& stop, origin& from) {
  if (from_first_ < first_.size()) {
    const config& c = first_[from_first_++];
    from.is_first = true;
    stop.guarded("the searcher", [&] { searcher_->add(t, c); });
    return c;
  }
  constexpr std::size_t most_asks = 4;
  const bool is_over = searcher_->is_distinct() && points_.is_complete();
  if (is_over && only_new_) return std::nullopt;
  from.is_again = is_over;
  auto c = stop.guarded("the searcher", [&] { return searcher_->ask(t); });
  while (c && searcher_->is_distinct() && points_.is_repeated(*c)) {
    if (from.asks < most_asks) {
      ++from.asks;
      c = stop.guarded("the searcher", [&] { return searcher_->ask(t); });
      continue;
    }
    random r(seed_, t, 0x6f74686572ULL);
    if (auto other = points_.instead_of(*c, r)) {
      from.is_instead = true;
      stop.guarded("the searcher", [&] { searcher_->add(t, *other); });
      c = std::move(other);
    }
    break;
  }
  return c;
}

MANTA_DECL const char* proposals::why_no_more() {
  return points_.is_complete() ? "all configurations of the space have been tried"
                               : "the searcher had nothing more to try";
}

MANTA_DECL void proposals::repeat(trial_number t, const config& said, const origin& from, stop_reason& stop) {
  from_first_ += from.is_first;
  stop.guarded("the searcher", [&] {
    for (std::size_t i = 0; !from.is_first && i < from.asks; ++i) searcher_->again(t, said);
    if (from.is_first || from.is_instead) searcher_->add(t, said);
  });
}

MANTA_DECL void proposals::given(const config& c) {
  if (searcher_->is_distinct()) points_.add(c);
}

MANTA_DECL void proposals::reported(trial_number t, double at, double loss, stop_reason& stop) {
  stop.guarded("the searcher", [&] { searcher_->report(t, at, loss); });
}

MANTA_DECL void proposals::ended(const trial_record& r, stop_reason& stop) {
  stop.guarded("the searcher", [&] { searcher_->tell(r.id, r.result()); });
}

}  // namespace manta::tune::detail
