// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/text.hpp"
#include "manta/output/append_file.hpp"
#include "manta/tune/fanova.hpp"
#include "manta/tune/front.hpp"
#include "manta/tune/output/files.hpp"
#include "manta/tune/results.hpp"

namespace manta::tune {

MANTA_DECL results::results(const study& s)
    : trials_(s.trials()),
      objectives_(s.objectives()),
      limits_(s.limits()),
      folder_(s.options().folder),
      why_(s.stopping()),
      end_(s.ended_because()) {
  if (s.best() != nullptr) best_ = s.best()->id;
}

MANTA_DECL const trial_record& results::best() const {
  if (objectives_.size() > 1) {
    throw error(
        base::text("manta: tune: the experiment has {} objectives, which no single trial is the best of; "
                   "results.front() has the trials among which to choose",
                   objectives_.size()));
  }
  if (best_) return trials_[*best_];
  throw error(detail::why_no_best(*this, folder_.empty() ? "" : folder_, limits_) +
              (why_.empty() ? "" : "; the experiment stopped: " + why_));
}

namespace detail {
/// The trial that is nearest to the constraints, of those that have reported and break one.
inline std::string nearest_text(const results& r, const std::vector<bound>& limits) {
  const trial_record* nearest = nullptr;
  for (const trial_record& t : r) {
    if (!t.best.empty() && !t.is_feasible() && (nearest == nullptr || t.violation() < nearest->violation()))
      nearest = &t;
  }
  if (nearest == nullptr) return {};
  std::string text = base::text("none keeps the constraints; trial {} comes nearest:", nearest->id);
  for (const bound& b : limits) {
    const double* x = nearest->best.find(b.metric);
    text += base::text(" {} is wanted, and it is {};", b.text(), x == nullptr ? "missing" : number_text(*x));
  }
  text.pop_back();
  return text;
}
}  // namespace detail

MANTA_DECL std::string detail::why_no_best(const results& r, const std::string& folder,
                                           const std::vector<bound>& limits) {
  const std::size_t failed = r.count(status::failed);
  const auto is_failed = [](const trial_record& t) { return t.state == status::failed; };
  std::string text = base::text("manta: tune: no trial has a best \"{}\": ", r.objectives().front().metric);
  if (r.size() == 0) text += "none was begun";
  else if (const std::string nearest = nearest_text(r, limits); !nearest.empty()) return text + nearest;
  else if (failed < r.size()) text += base::text("none of {} has reported it", r.size());
  else text += failed == 1 ? "the only one failed" : base::text("all {} failed", failed);
  if (failed == 0) return text;
  const trial_record& t = *std::find_if(r.begin(), r.end(), is_failed);
  if (failed < r.size()) text += base::text(", and {} failed", failed);
  text += base::text("; trial {}: {}", t.id, t.why);
  const auto had_reported = [&](const trial_record& f) { return is_failed(f) && is_finite(f.best_loss); };
  if (std::any_of(r.begin(), r.end(), had_reported))
    text += "; .best_may_fail = true lets what they reported before that count";
  if (!folder.empty())
    text += base::text(
        "; when that is mended, .retry_failed = true starts the failed trials of {} again, .fresh = true "
        "replaces them",
        folder);
  return text;
}

MANTA_DECL std::vector<trial_number> results::front() const {
  if (objectives_.size() == 1) return best_ ? std::vector<trial_number>{*best_} : std::vector<trial_number>{};
  std::vector<trial_number> all, front;
  std::vector<loss_vector> points;
  for (const trial_record& t : trials_) {
    if (t.state == status::failed || t.best_losses.empty() || !t.is_feasible()) continue;
    all.push_back(t.id);
    points.push_back(t.best_losses);
  }
  const std::vector<std::size_t> ranks = front_ranks(points);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (ranks[i] == 0) front.push_back(all[i]);
  }
  std::stable_sort(front.begin(), front.end(),
                   [&](trial_number a, trial_number b) { return trials_[a].best_losses < trials_[b].best_losses; });
  return front;
}

MANTA_DECL double results::hypervolume(const std::vector<double>& from) const {
  if (from.size() != objectives_.size()) {
    throw error(
        base::text("manta: tune: results::hypervolume: a point has a value for each of the {} objectives, not {}",
                   objectives_.size(), from.size()));
  }
  loss_vector reference;
  for (std::size_t k = 0; k < from.size(); ++k) reference.push_back(objectives_[k].flipped(from[k]));
  std::vector<loss_vector> points;
  for (const trial_number t : front())
    points.push_back(objectives_.size() == 1 ? loss_vector{trials_[t].best_loss} : trials_[t].best_losses);
  return tune::hypervolume(points, reference);
}

MANTA_DECL double results::standard_error_of(const trial_record& t) const {
  const double* const x = t.best.find(tune::standard_error_of(objectives_.front().metric));
  return x == nullptr ? std::nan("") : *x;
}

MANTA_DECL checkpoint results::checkpoint_of(const trial_record& t, int repeat) const {
  if (t.best_checkpoint_file.empty()) {
    throw error(
        base::text("manta: tune: trial {} has no checkpoint on disk; give the experiment a folder, and .checkpoints "
                   "= {.every = 1} or {.at_end = true}",
                   t.id));
  }
  return checkpoint::read(checkpoint::part_of(folder_ + "/" + t.best_checkpoint_file, repeat));
}

MANTA_DECL std::string results::folder_of(const trial_record& t) const {
  if (folder_.empty()) throw error("manta: tune: results::folder_of: the experiment has no folder; give it one");
  return trial_folder(folder_, t.id);
}

MANTA_DECL std::size_t results::count(status s) const {
  return static_cast<std::size_t>(
      std::count_if(trials_.begin(), trials_.end(), [&](const trial_record& t) { return t.state == s; }));
}

MANTA_DECL std::vector<std::pair<std::string, double>> results::importance(const space& where) const {
  return parameter_importance(where, trials_);
}

MANTA_DECL std::vector<effect> results::effects(const space& where, const fanova_options& o) const {
  return fanova(where, trials_, o);
}

namespace detail {
/// The names in all of the lists, in the order in which they came.
template <class Member>
std::vector<std::string> names_in(const std::vector<trial_record>& trials, Member member) {
  std::vector<std::string> names;
  for (const trial_record& t : trials) {
    for (const auto& entry : t.*member) {
      if (std::find(names.begin(), names.end(), entry.first) == names.end()) names.push_back(entry.first);
    }
  }
  return names;
}
}  // namespace detail

MANTA_DECL std::string results::to_csv() const {
  const std::vector<std::string> parameters = detail::names_in(trials_, &trial_record::parameters),
                                 reported = detail::names_in(trials_, &trial_record::best),
                                 notes = detail::names_in(trials_, &trial_record::notes);
  const std::vector<trial_number> best_ones = front();
  std::string out = "trial,state,at,seconds,begin,end,rank,host";
  for (const auto& name : parameters) csv::append_cell(out += ',', "config/" + name);
  for (const auto& name : reported) csv::append_cell(out += ',', name);
  for (const auto& name : notes) csv::append_cell(out += ',', "note/" + name);
  if (!limits_.empty()) out += ",feasible";
  if (objectives_.size() > 1) out += ",front";
  out += ",why\n";
  const auto number = [&](double x) { append_number(out += ',', x); };
  const auto in_microseconds = [](double seconds) { return std::floor(1e6 * seconds + 1e-3) / 1e6; };  // as in the log
  for (const trial_record& t : trials_) {
    append_number(out, static_cast<std::int64_t>(t.id));
    (out += ',') += name_of(t.state);
    number(t.at);
    number(t.seconds);
    number(in_microseconds(t.began));
    number(in_microseconds(t.ran.empty() ? t.began : t.ran.back().end));
    out += ',';
    if (!t.ran.empty() && t.ran.back().rank >= 0) append_number(out, static_cast<std::int64_t>(t.ran.back().rank));
    csv::append_cell(out += ',', t.host);
    for (const auto& name : parameters) {
      out += ',';
      if (const value* v = t.parameters.find(name))
        csv::append_cell(out, v->is_text() ? v->as<std::string>() : v->text());
    }
    for (const auto& name : reported) {
      out += ',';
      if (const double* x = t.best.find(name)) append_number(out, *x);
    }
    for (const auto& name : notes) {
      const std::string* text = t.notes.find(name);
      csv::append_cell(out += ',', text == nullptr ? "" : *text);
    }
    if (!limits_.empty()) out += t.best.empty() ? "," : t.is_feasible() ? ",1" : ",0";
    if (objectives_.size() > 1)
      out += std::find(best_ones.begin(), best_ones.end(), t.id) != best_ones.end() ? ",1" : ",0";
    csv::append_cell(out += ',', t.why);
    out += '\n';
  }
  return out;
}

MANTA_DECL void results::to_csv(const std::string& path) const { manta::output::replace_file(path, to_csv()); }

}  // namespace manta::tune
