// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definition of trainer::fit (fit.hpp).
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>

#include "manta/base/number.hpp"
#include "manta/error.hpp"
#include "manta/output/append_file.hpp"
#include "manta/progress.hpp"
#include "manta/this_task.hpp"
#include "manta/train/fit.hpp"
#include "manta/train/trainer.hpp"

namespace manta::train::detail {

/// Which epoch was the best so far, and how long ago that was.
class best_epoch {
 public:
  explicit best_epoch(const fit_options& o)
      : name_(!o.maximise.empty()   ? o.maximise
              : !o.minimise.empty() ? o.minimise
                                    : "loss"),
        sign_(o.maximise.empty() ? -1 : 1),
        least_change_(o.least_change) {
    if (!o.maximise.empty() && !o.minimise.empty())
      throw error("manta: train: fit: both .minimise and .maximise are given; choose one");
  }

  /// Whether it is better than all before. A value that is NaN is not.
  bool is_better(const epoch_result& e) {
    const double value = sign_ * e.watched()[name_];
    const bool better = !base::is_nan(value) && (!best_ || value > *best_ + least_change_);
    if (better) best_ = value;
    epochs_since_ = better ? 0 : epochs_since_ + 1;
    return better;
  }
  [[nodiscard]] int epochs_since() const { return epochs_since_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
  double sign_, least_change_;
  std::optional<double> best_;
  int epochs_since_ = 0;
};

/// Progress of all epochs together, in samples.
class fit_bar {
 public:
  /// What the epoch under way gave up to now.
  void show(const fit_options& o, const pass_result& r) {
    if (!o.progress) return;
    const bool is_complete = r.left == 0;
    if (samples_ == 0) samples_ = r.all.samples + r.left;
    const std::uint64_t epoch = r.epoch - (is_complete ? 1 : 0), at = epoch * samples_ + samples_ - r.left;
    if (!bar_) bar_.emplace("training", samples_ * static_cast<std::uint64_t>(o.epochs));
    bar_->set("epoch", static_cast<double>(epoch + 1));
    bar_->set("loss", summary_of(r, 0).loss);
    bar_->advance(at - std::min(at, shown_));
    shown_ = at;
  }

 private:
  std::optional<progress<>> bar_;
  std::uint64_t samples_ = 0, shown_ = 0;
};

/// The file for the state after the best epoch; "" if none is wanted.
inline std::string best_file_of(const fit_options& o) {
  return o.best.empty() && o.restore_best && !o.checkpoint.empty() ? o.checkpoint + ".best" : o.best;
}

inline void check_fit(const fit_options& o) {
  if (o.epochs < 1)
    throw error("manta: train: fit: .epochs is " + std::to_string(o.epochs) + "; at least one is needed");
  if (o.patience < 0)
    throw error("manta: train: fit: .patience is " + std::to_string(o.patience) + "; give 0 to train all epochs");
  const std::string best = best_file_of(o);
  if (!best.empty() && best == o.checkpoint)
    throw error("manta: train: fit: .checkpoint and .best are the same file, " + best + "; give each its own");
  if (!o.checkpoint.empty()) output::check_replaceable(o.checkpoint);
  if (!best.empty()) output::check_replaceable(best);
}

inline void trainer_core::check_watched(const fit_options& o) {
  const std::string& name = o.maximise.empty() ? o.minimise : o.maximise;
  if (name.empty() || name == "loss") return;
  const summary s = glance();
  if (!s.metrics.contains(name))
    throw error("manta: train: fit: " + std::string(o.maximise.empty() ? ".minimise" : ".maximise") + " is \"" + name +
                "\", which no epoch has; they have " + s.names());
}

/// Throws if the run has to end. What was reached is written first.
inline void leave_if_the_run_ends(const fit_options& o, const std::function<void()>& save_checkpoint) {
  if (!this_task::stop_requested()) return;
  if (o.checkpoint.empty())
    throw cancelled("manta: train: the run has to end, and fit has no .checkpoint: what was trained is lost");
  save_checkpoint();
  throw cancelled("manta: train: the run has to end; the training is in " + o.checkpoint +
                  ", from which a later start goes on");
}

inline state trainer_core::state_with(const history& h) {
  train::state s = state();
  s.history = output::pack(h.epochs);
  return s;
}

inline history trainer_core::load_with_history(const std::string& path) {
  const train::state s = read(path);
  history h;
  if (!s.history.empty()) output::unpack(s.history, h.epochs);
  restore(s);
  return h;
}

inline summary trainer_core::train_epoch(const fit_options& o, fit_bar& bar,
                                         const std::function<void()>& save_checkpoint) {
  const auto begin = std::chrono::steady_clock::now();
  pass_result whole = train_some(1);
  const std::uint64_t samples = whole.all.samples + whole.left;
  while (whole.left > 0) {
    bar.show(o, whole);
    leave_if_the_run_ends(o, save_checkpoint);
    whole = train_some(piece_of_epoch(samples), std::move(whole));
  }
  bar.show(o, whole);
  return summary_of(whole, seconds_since(begin));
}

MANTA_DECL history trainer_core::fit(const fit_options& o, bool validates) {
  check_fit(o);
  check_watched(o);
  history h;
  if (!o.checkpoint.empty() && std::filesystem::exists(o.checkpoint)) h = load_with_history(o.checkpoint);
  const std::string best_file = best_file_of(o);
  best_epoch best(o);
  for (epoch_result& e : h.epochs) e.is_best = best.is_better(e);
  const auto save_checkpoint = [&] { write(state_with(h), o.checkpoint); };
  const auto enough = [&](std::uint64_t done) {
    if (done >= static_cast<std::uint64_t>(o.epochs)) h.ended = "all epochs are made";
    if (o.patience > 0 && best.epochs_since() >= o.patience)
      h.ended = best.name() + " was not better in " + std::to_string(o.patience) + " epochs";
    return !h.ended.empty();
  };

  fit_bar bar;
  train::state best_state;
  for (std::uint64_t done = state().epoch; !enough(done);) {
    epoch_result e;
    e.training = train_epoch(o, bar, save_checkpoint);
    if (validates) e.validation = validate();
    e.is_best = best.is_better(e);
    done = e.training.epoch;
    h.epochs.push_back(e);
    if (!o.checkpoint.empty() || (e.is_best && (o.restore_best || !best_file.empty()))) {
      train::state s = state_with(h);
      if (e.is_best && !best_file.empty()) write(s, best_file);
      if (!o.checkpoint.empty()) write(s, o.checkpoint);
      if (e.is_best && o.restore_best) best_state = std::move(s);
    }
    if (!o.on_epoch(e)) h.ended = "on_epoch said so";
    if (h.ended.empty() && !enough(done)) leave_if_the_run_ends(o, save_checkpoint);
  }
  if (o.restore_best && best_state.model.empty() && std::filesystem::exists(best_file)) best_state = read(best_file);
  if (!best_state.model.empty()) restore(best_state);
  return h;
}

}  // namespace manta::train::detail
