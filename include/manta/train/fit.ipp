// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definition of trainer::fit (fit.hpp).
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/output/append_file.hpp"
#include "manta/progress.hpp"
#include "manta/this_task.hpp"
#include "manta/train/fit.hpp"
#include "manta/train/fit_log.hpp"
#include "manta/train/step_check.hpp"
#include "manta/train/trainer_core.hpp"

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

  /// What ought to fall from epoch to epoch.
  [[nodiscard]] double falling(const epoch_result& e) const { return -sign_ * e.watched()[name_]; }
  /// Whether it is better than all before. A value that is NaN is not.
  bool is_better(const epoch_result& e) {
    const double value = -falling(e);
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
    if (!bar_) {
      bar_.emplace("training", samples_ * static_cast<std::uint64_t>(o.epochs));
      bar_->skip(shown_ = at - std::min(at, r.all.samples));  // of epochs before this run
    }
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
  const bool is_wanted = o.best.empty() && (o.restore_best || o.keep > 0) && !o.checkpoint.empty();
  return is_wanted ? o.checkpoint + ".best" : o.best;
}

inline void check_fit(const fit_options& o) {
  if (o.epochs < 1) throw error(base::text("manta: train: fit: .epochs is {}; at least one is needed", o.epochs));
  if (o.patience < 0)
    throw error(base::text("manta: train: fit: .patience is {}; give 0 to train all epochs", o.patience));
  if (!(o.least_change >= 0) || !base::is_finite(o.least_change))
    throw error(base::text("manta: train: fit: .least_change is {}; it is a difference from 0", o.least_change));
  if (o.keep < 0)
    throw error(base::text("manta: train: fit: .keep is {}; give the number of epochs whose states stay", o.keep));
  if (o.keep > 0 && o.checkpoint.empty())
    throw error("manta: train: fit: .keep keeps states beside .checkpoint, which is empty; name a file");
  for (const callback& c : o.callbacks) {
    if (c.every < 1)
      throw error(
          base::text("manta: train: fit: .every of a callback is {}; give the number of steps from 1", c.every));
  }
  const std::string best = best_file_of(o);
  if (!best.empty() && best == o.checkpoint)
    throw error(base::text("manta: train: fit: .checkpoint and .best are the same file, {}; give each its own", best));
  if (!o.checkpoint.empty()) output::check_replaceable(o.checkpoint);
  if (!best.empty()) output::check_replaceable(best);
}

/// The states after the last epochs, in files beside the checkpoint that have the epoch's number.
class kept_states {
 public:
  explicit kept_states(const fit_options& o) : checkpoint_(o.checkpoint), most_(o.keep) {
    if (most_ > 0 && o.fresh) remove_up_to(std::numeric_limits<std::uint64_t>::max());
  }
  /// After the checkpoint was written at the end of an epoch.
  void add(std::uint64_t epoch) const {
    if (most_ <= 0) return;
    const std::string name = base::text("{}.{}", checkpoint_, epoch);
    std::error_code linked, copied;
    std::filesystem::remove(name, linked);
    std::filesystem::create_hard_link(checkpoint_, name, linked);  // no bytes are written twice where this works
    if (linked) std::filesystem::copy_file(checkpoint_, name, copied);
    if (linked && copied) throw error(base::text("manta: cannot write {}: {}", name, copied.message()));
    if (epoch > static_cast<std::uint64_t>(most_)) remove_up_to(epoch - static_cast<std::uint64_t>(most_));
  }

 private:
  /// Removes the states after epochs up to this one.
  void remove_up_to(std::uint64_t last) const {
    const std::filesystem::path own(checkpoint_), folder = own.has_parent_path() ? own.parent_path() : ".";
    const std::string begin = own.filename().string() + ".";
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
      const std::string name = entry.path().filename().string();
      const std::string number = name.starts_with(begin) ? name.substr(begin.size()) : "";
      std::uint64_t epoch = 0;
      const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), epoch);
      if (number.empty() || code != std::errc() || end != number.data() + number.size() || epoch > last) continue;
      std::filesystem::remove(entry.path(), none);
    }
  }

  std::string checkpoint_;
  int most_;
};

inline void trainer_core::check_watched(const fit_options& o) {
  const std::string& name = o.maximise.empty() ? o.minimise : o.maximise;
  if (name.empty() || name == "loss") return;
  const summary s = glance();
  if (!s.metrics.contains(name))
    throw error(base::text("manta: train: fit: {} is \"{}\", which no epoch has; they have {}",
                           o.maximise.empty() ? ".minimise" : ".maximise", name, s.names()));
}

/// Throws if the run has to end. What was reached is written first.
inline void leave_if_the_run_ends(const fit_options& o, const std::function<void()>& save_checkpoint) {
  if (!this_task::stop_requested()) return;
  if (o.checkpoint.empty())
    throw cancelled("manta: train: the run has to end, and fit has no .checkpoint: what was trained is lost");
  save_checkpoint();
  throw cancelled(base::text(
      "manta: train: the run has to end; the training is in {}, from which a later start goes on", o.checkpoint));
}

inline state trainer_core::state_with(const history& h) {
  train::state s = state();
  s.history = output::pack(h.epochs);
  return s;
}

inline history trainer_core::go_on_from(const fit_options& o) {
  history h;
  differed_.clear();
  if (o.checkpoint.empty() || o.fresh || !std::filesystem::exists(o.checkpoint)) return h;
  const train::state s = read_checkpoint(o.checkpoint);
  try {
    differed_ = restore_from(s, o.settings, o.checkpoint);
  } catch (const rank_lost&) {
    throw;
  } catch (const error& e) {
    throw error(
        base::text("{}: the file is {}, from which fit would go on. Give another .checkpoint, or .fresh = true to "
                   "begin anew",
                   e.what(), o.checkpoint));
  }
  if (!s.history.empty()) output::unpack(s.history, h.epochs);
  return h;
}

inline void trainer_core::check_finished(const fit_options& o, const history& h) const {
  if (h.ended.empty() || differed_.empty()) return;
  std::string all;
  for (const std::string& name : differed_) all += (all.empty() ? "" : ", ") + name;
  throw error(
      base::text("manta: train: fit: the training in {} has ended ({}), with other settings than this one ({}): "
                 "nothing would be trained. Give another .checkpoint, .fresh = true to begin anew, or more {}",
                 o.checkpoint, h.ended, all, o.patience > 0 ? ".epochs and .patience" : ".epochs"));
}

/// Throws if the epoch gave no finite loss of the validation. The files are those of the epochs before.
inline void check_validation(const fit_options& o, const epoch_result& e, const history& h) {
  const double loss = e.validation.loss;
  if (e.validation.samples == 0 || base::is_finite(loss)) return;
  const std::string before = h.epochs.empty() ? "" : base::text(" (before it was {})", h.epochs.back().validation.loss);
  const std::string file = o.checkpoint.empty() ? "" : base::text(", and {} is as it was", o.checkpoint);
  throw error(base::text(
      "manta: train: fit: the loss of the validation became {} after epoch {}{}; nothing was written{}. Look whether "
      "the validation data are finite, try a smaller rate, or clip the gradients",
      kind_of_odd(loss), e.training.epoch, before, file));
}

/// Calls functions of the program. Where tasks of theirs were not started, because the run has to end, it ends as fit
/// ends it by itself.
template <class F>
auto let_call(const fit_options& o, const std::function<void()>& save_checkpoint, F&& f) {
  try {
    return f();
  } catch (const cancelled&) {
    leave_if_the_run_ends(o, save_checkpoint);
    throw;
  }
}
/// Calls a member of all callbacks, in their order; "" or, in words, which of them ends the training.
template <class... Arguments>
std::string call_back(const fit_options& o, auto member, const Arguments&... arguments) {
  std::string ended;
  for (std::size_t i = 0; i < o.callbacks.size(); ++i) {
    if (!(o.callbacks[i].*member)(arguments...)) ended = base::text("callback {} said so", i);
  }
  return ended;
}
/// Calls `.on_epoch` of the options, and then those of the callbacks.
inline std::string call_back_on_epoch(const fit_options& o, const epoch_result& e) {
  const bool goes_on = o.on_epoch(e);
  const std::string ended = call_back(o, &callback::on_epoch, e);
  return ended.empty() && !goes_on ? "on_epoch said so" : ended;
}
/// Calls those that want to be called after a batch.
inline std::string call_back_on_batch(const fit_options& o, const summary& so_far) {
  std::string ended;
  for (std::size_t i = 0; i < o.callbacks.size(); ++i) {
    const callback& c = o.callbacks[i];
    if (so_far.step % static_cast<std::uint64_t>(c.every) == 0 && !c.on_batch(so_far))
      ended = base::text("callback {} said so", i);
  }
  return ended;
}
/// The steps from this one on until a callback wants to be called; at most `most`.
inline std::uint64_t steps_to_callback(const fit_options& o, std::uint64_t step, std::uint64_t most) {
  for (const callback& c : o.callbacks) {
    const auto every = static_cast<std::uint64_t>(c.every);
    if (c.on_batch) most = std::min(most, every - step % every);
  }
  return most;
}

inline std::optional<summary> trainer_core::train_epoch(const fit_options& o, fit_bar& bar, history& h,
                                                        const std::function<void()>& save_checkpoint) {
  const auto begin = std::chrono::steady_clock::now();
  pass_result whole = train_some(1);
  const std::uint64_t samples = whole.all.samples + whole.left;
  for (;;) {
    bar.show(o, whole);
    h.ended =
        let_call(o, save_checkpoint, [&] { return call_back_on_batch(o, summary_of(whole, seconds_since(begin))); });
    if (whole.left == 0) return summary_of(whole, seconds_since(begin));
    if (!h.ended.empty()) return std::nullopt;
    leave_if_the_run_ends(o, save_checkpoint);
    whole = train_some(steps_to_callback(o, whole.step, piece_of_epoch(samples)), std::move(whole));
  }
}

/// The state after the best epoch goes to its file and to `best`, that after each epoch to the checkpoint, as the
/// options want them.
inline void trainer_core::keep_states(const fit_options& o, const history& h, const kept_states& kept,
                                      train::state& best) {
  const std::string best_file = best_file_of(o);
  const epoch_result& e = h.epochs.back();
  const bool is_wanted = e.is_best && (o.restore_best || !best_file.empty());
  if (o.checkpoint.empty() && !is_wanted) return;
  train::state s = state_with(h);
  if (e.is_best && !best_file.empty()) write_checkpoint(best_file, s);
  if (!o.checkpoint.empty()) write_checkpoint(o.checkpoint, s), kept.add(e.training.epoch);
  if (e.is_best && o.restore_best) best = std::move(s);
}

MANTA_DECL history trainer_core::fit(const fit_options& o, bool validates) {
  check_fit(o);
  check_watched(o);
  history h = go_on_from(o);
  const kept_states kept(o);
  best_epoch best(o);
  std::optional<nn::plateau> plateau;
  if (o.plateau) plateau.emplace(*o.plateau);
  for (epoch_result& e : h.epochs) {
    e.is_best = best.is_better(e);
    if (plateau) (void)plateau->next(best.falling(e), e.training.rate);
  }
  const auto save_checkpoint = [&] { write_checkpoint(o.checkpoint, state_with(h)); };
  const auto enough = [&](std::uint64_t done) {
    if (done >= static_cast<std::uint64_t>(o.epochs)) h.ended = "all epochs are made";
    if (o.patience > 0 && best.epochs_since() >= o.patience)
      h.ended = base::text("{} was not better in {} epochs", best.name(), o.patience);
    return !h.ended.empty();
  };

  fit_bar bar;
  std::optional<fit_log> log;
  if (!o.log.empty()) log.emplace(o.log, h);
  train::state best_state;
  std::uint64_t done = state().epoch;
  if (enough(done)) check_finished(o, h);
  while (!enough(done)) {
    h.ended = let_call(o, save_checkpoint, [&] { return call_back(o, &callback::on_epoch_begin, done); });
    if (!h.ended.empty()) break;
    const std::optional<summary> training = train_epoch(o, bar, h, save_checkpoint);
    if (!training) {
      if (!o.checkpoint.empty()) save_checkpoint();
      break;
    }
    epoch_result e{.training = *training, .validation = {}};
    if (validates) e.validation = validate();
    check_validation(o, e, h);
    e.is_best = best.is_better(e);
    done = e.training.epoch;
    h.epochs.push_back(e);
    if (plateau) {
      const double lower = plateau->next(best.falling(e), e.training.rate);
      if (lower != e.training.rate) rate(lower);
    }
    keep_states(o, h, kept, best_state);
    h.ended = let_call(o, save_checkpoint, [&] { return call_back_on_epoch(o, e); });
    const bool goes_on = h.ended.empty() && !enough(done);
    if (log) log->add(goes_on);
    if (goes_on) leave_if_the_run_ends(o, save_checkpoint);
  }
  if (o.restore_best && best_state.model.empty() && !o.fresh && std::filesystem::exists(best_file_of(o)))
    best_state = read_checkpoint(best_file_of(o));
  if (!best_state.model.empty()) restore(best_state, settings::checkpoint);
  for (const callback& c : o.callbacks) {
    if (c.on_end) c.on_end(h);
  }
  return h;
}

}  // namespace manta::train::detail
