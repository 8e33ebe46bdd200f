// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What an experiment has found.
//
//   const tune::results r = tune::run<train>(space, {...});
//   double lr = r.best().parameters["lr"];
//   r.to_csv("trials.csv");
#pragma once

#include "manta/tune/checkpoint.hpp"
#include "manta/tune/importance.hpp"
#include "manta/tune/output/files.hpp"
#include "manta/tune/study.hpp"

namespace manta::tune {

class results {
 public:
  explicit results(const study& s)
      : trials_(s.trials()), sign_(s.maximised() ? -1 : 1), metric_(s.metric()), folder_(s.options().folder),
        why_(s.stopping()) {
    if (s.best() != nullptr) best_ = s.best()->id;
  }

  std::size_t size() const { return trials_.size(); }
  auto begin() const { return trials_.begin(); }
  auto end() const { return trials_.end(); }
  const trial_record& operator[](std::size_t trial) const { return trials_.at(trial); }

  bool has_best() const { return best_.has_value(); }
  /// The trial that has reported the best value. Throws if none has reported one, and says why trials failed.
  const trial_record& best() const {
    if (best_) return trials_[*best_];
    std::string reason;
    for (const trial_record& t : trials_) {
      if (t.state == status::failed && reason.empty()) reason = "; trial " + std::to_string(t.id) + ": " + t.why;
    }
    throw error("manta: tune: no trial has reported \"" + metric_ + "\"" + reason);
  }
  /// Of the metric.
  double best_value() const { return sign_ * best().best_loss; }
  double value_of(const trial_record& t) const { return sign_ * t.best_loss; }
  /// The checkpoint nearest to the best trial's best value that is on disk. Throws if there is none.
  checkpoint best_checkpoint() const {
    const trial_record& t = best();
    if (t.best_checkpoint_file.empty()) {
      throw error("manta: tune: trial " + std::to_string(t.id) + " has no checkpoint on disk; give the experiment a folder, "
                  "and .checkpoints = {.every = 1} or {.at_end = true}");
    }
    return checkpoint::read(folder_ + "/" + t.best_checkpoint_file);
  }

  std::size_t count(status s) const {
    return static_cast<std::size_t>(
        std::count_if(trials_.begin(), trials_.end(), [&](const trial_record& t) { return t.state == s; }));
  }
  /// Why the experiment stopped before all trials had been run; empty if it did not.
  const std::string& stopped_because() const { return why_; }
  std::vector<std::pair<std::string, double>> importance(const space& where) const {
    return parameter_importance(where, trials_);
  }

  /// A row for each trial: number, state, reports, value, configuration, all metrics of its best report.
  std::string to_csv() const {
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
        if (const value* v = t.parameters.find(name)) csv::append_cell(out, v->is_text() ? v->as<std::string>() : v->text());
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
  void to_csv(const std::string& path) const { replace_file(path, to_csv()); }

 private:
  std::vector<trial_record> trials_;
  std::optional<trial_number> best_;
  double sign_;
  std::string metric_, folder_, why_;
};

}  // namespace manta::tune
