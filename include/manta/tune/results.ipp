// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of results.hpp.
#pragma once

#include <algorithm>

#include "manta/output/append_file.hpp"
#include "manta/tune/importance.hpp"
#include "manta/tune/output/files.hpp"
#include "manta/tune/results.hpp"

namespace manta::tune {

MANTA_DECL results::results(const study& s)
    : trials_(s.trials()),
      sign_(s.maximised() ? -1 : 1),
      metric_(s.metric()),
      folder_(s.options().folder),
      why_(s.stopping()) {
  if (s.best() != nullptr) best_ = s.best()->id;
}

MANTA_DECL const trial_record& results::best() const {
  if (best_) return trials_[*best_];
  const std::size_t failed = count(status::failed);
  const auto is_failed = [](const trial_record& t) { return t.state == status::failed; };
  std::string text = "manta: tune: no trial has a best \"" + metric_ + "\": ";
  if (trials_.empty()) text += "none was begun";
  else if (failed < trials_.size()) text += "none of " + std::to_string(trials_.size()) + " has reported it";
  else text += failed == 1 ? "the only one failed" : "all " + std::to_string(failed) + " failed";
  if (failed > 0) {
    const trial_record& t = *std::find_if(trials_.begin(), trials_.end(), is_failed);
    text += (failed < trials_.size() ? ", and " + std::to_string(failed) + " failed" : "") + "; trial " +
            std::to_string(t.id) + ": " + t.why;
    if (std::any_of(trials_.begin(), trials_.end(),
                    [&](const trial_record& f) { return is_failed(f) && is_finite(f.best_loss); }))
      text += "; .best_may_fail = true lets what they reported before that count";
    if (!folder_.empty())
      text += "; when that is mended, .retry_failed = true starts the failed trials of " + folder_ +
              " again, .fresh = true replaces them";
  }
  if (!why_.empty()) text += "; the experiment stopped: " + why_;
  throw error(text);
}

MANTA_DECL checkpoint results::best_checkpoint() const {
  const trial_record& t = best();
  if (t.best_checkpoint_file.empty()) {
    throw error("manta: tune: trial " + std::to_string(t.id) +
                " has no checkpoint on disk; give the experiment a folder, "
                "and .checkpoints = {.every = 1} or {.at_end = true}");
  }
  return checkpoint::read(folder_ + "/" + t.best_checkpoint_file);
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

MANTA_DECL std::string results::to_csv() const {
  std::vector<std::string> parameters, reported;
  const auto note = [](std::vector<std::string>& all, const std::string& name) {
    if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  };
  for (const trial_record& t : trials_) {
    for (const auto& entry : t.parameters) note(parameters, entry.first);
    for (const auto& entry : t.best) note(reported, entry.first);
  }
  std::string out = "trial,state,at,seconds";
  for (const auto& name : parameters) csv::append_cell(out += ',', "config/" + name);
  for (const auto& name : reported) csv::append_cell(out += ',', name);
  out += ",why\n";
  for (const trial_record& t : trials_) {
    append_number(out, static_cast<std::int64_t>(t.id));
    out += std::string(",") + name_of(t.state) + ',';
    append_number(out, t.at);
    out += ',';
    append_number(out, t.seconds);
    for (const auto& name : parameters) {
      out += ',';
      if (const value* v = t.parameters.find(name))
        csv::append_cell(out, v->is_text() ? v->as<std::string>() : v->text());
    }
    for (const auto& name : reported) {
      out += ',';
      if (const double* x = t.best.find(name)) append_number(out, *x);
    }
    csv::append_cell(out += ',', t.why);
    out += '\n';
  }
  return out;
}

MANTA_DECL void results::to_csv(const std::string& path) const { manta::output::replace_file(path, to_csv()); }

}  // namespace manta::tune
