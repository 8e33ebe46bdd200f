// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/tune/patience_stopping.hpp"

namespace manta::tune {

MANTA_DECL patience_stopping::patience_stopping(options o) : options_(std::move(o)) {
  if (options_.reports == 0 || is_nan(options_.least + options_.grace) || options_.least < 0 || options_.grace < 0)
    throw error("manta: patience_stopping needs reports >= 1, least >= 0 and grace >= 0");
}

MANTA_DECL void patience_stopping::begin(const space& where, std::uint64_t seed, std::size_t trials) {
  if (!has_inside()) return;
  options_.inside = options_.inside.clone();  // a copy of this object must not change the one inside
  options_.inside->begin(where, seed, trials);
}
MANTA_DECL void patience_stopping::resize(std::size_t trials) {
  if (has_inside()) options_.inside->resize(trials);
}
MANTA_DECL void patience_stopping::add(trial_number t, const config& c) {
  running_[t] = {};
  if (has_inside()) options_.inside->add(t, c);
}

MANTA_DECL verdict patience_stopping::report(trial_number t, double at, double loss) {
  course& c = running_.at(t);
  if (at > c.last) {  // else a retried trial comes by again
    c.last = at;
    const bool improves = loss < c.best - options_.least;
    c.waited = improves ? 0 : c.waited + 1;
    if (improves) c.best = loss;
  }
  verdict v = ask_inside(t, c, at, loss);
  if (v.what == verdict::kind::stop) {  // what has come to its end need not wait
    running_.erase(t);
    return v;
  }
  if (v.change) c = {};  // it goes on as another one
  if (!c.is_condemned || c.waited < options_.reports || at < options_.grace) return v;
  const std::string why =
      base::text("{} reports have not improved {} by more than {}{}", c.waited, detail::number_text(c.best),
                 detail::number_text(options_.least), c.why.empty() ? "" : "; " + c.why);
  running_.erase(t);
  return verdict::stop(why);
}

MANTA_DECL verdict patience_stopping::ask_inside(trial_number t, course& c, double at, double loss) {
  if (!has_inside()) c.is_condemned = true;
  if (c.is_condemned) return verdict::go_on();
  verdict v = options_.inside->report(t, at, loss);
  if (v.what != verdict::kind::stop || v.why.starts_with("reached")) return v;
  c.is_condemned = true;
  c.why = std::move(v.why);
  return verdict::go_on();
}

MANTA_DECL void patience_stopping::complete(trial_number t) {
  const auto c = running_.find(t);
  if (has_inside() && c != running_.end() && !c->second.is_condemned) options_.inside->complete(t);
}
MANTA_DECL void patience_stopping::remove(trial_number t) {
  const auto c = running_.find(t);
  if (has_inside() && (c == running_.end() || !c->second.is_condemned)) options_.inside->remove(t);
  running_.erase(t);
}

MANTA_DECL action patience_stopping::next(bool may_add) {
  if (has_inside()) {
    action a = options_.inside->next(may_add);
    if (a.change) running_[a.trial] = {};
    return a;
  }
  return may_add ? action::add() : action::nothing();
}

MANTA_DECL double patience_stopping::silent_until(trial_number t) const {
  const auto c = running_.find(t);
  if (c == running_.end()) return 0;
  if (has_inside() && !c->second.is_condemned) return options_.inside->silent_until(t);
  // Each report may be one without an improvement.
  const double last = is_finite(c->second.last) ? c->second.last : 0;
  return std::max(options_.grace,
                  last + static_cast<double>(options_.reports - std::min(options_.reports, c->second.waited)));
}

MANTA_DECL std::vector<trial_number> patience_stopping::take_dropped() {
  return has_inside() ? options_.inside->take_dropped() : std::vector<trial_number>{};
}
MANTA_DECL std::string patience_stopping::nothing_kept() {
  return has_inside() ? options_.inside->nothing_kept() : "its place in the search is that of a new trial";
}
MANTA_DECL std::string patience_stopping::remark(double longest) const {
  if (has_inside()) return options_.inside->remark(longest);
  const double least = std::max(options_.grace, static_cast<double>(options_.reports) + 1);
  if (longest <= 0 || longest >= least) return {};
  return base::text(
      "patience_stopping: trials end at {}, before any has made {} reports without an improvement; give "
      "a smaller .reports",
      detail::number_text(longest), options_.reports);
}

}  // namespace manta::tune
