// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Whole trainings in one call of a trainer: epochs with validation, early stopping, checkpoints, progress, callbacks.
//
//   train::history h = trainer.fit({.epochs = 20, .maximise = "accuracy", .patience = 3, .checkpoint = "state"});
//   std::cout << h.ended << "; the best epoch was " << h.best().training.epoch << '\n';
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "manta/error.hpp"
#include "manta/nn/schedule.hpp"
#include "manta/train/callback.hpp"
#include "manta/train/source.hpp"
#include "manta/train/state.hpp"
#include "manta/train/summary.hpp"

namespace manta::train {

struct fit_options {
  int epochs = 1;             ///< epochs in all: a training that goes on from a checkpoint makes those that are missing
  std::string minimise = "";  ///< what makes an epoch the best: "loss", or a metric; "": the loss, unless
  std::string maximise = "";  ///< a metric is to be maximised
  int patience = 0;           ///< end after this number of epochs without a better one; 0: never
  double least_change = 0;    ///< amount by which an epoch has to be better to count as better
  bool restore_best = false;  ///< the trainer has, at the end, the state after the best epoch, not the last
  std::string checkpoint = "";  ///< a file that is written after each epoch. If it is there, training goes on from it
  /// A file for the state after the best epoch; "": with .restore_best or .keep, CHECKPOINT.best
  std::string best = "";
  int keep = 0;        ///< k > 0: also the states after the last k epochs stay, as CHECKPOINT.7 after epoch 7
  bool fresh = false;  ///< begin without a checkpoint that is there; it is replaced after the first epoch
  /// What holds where the recipe says otherwise than the checkpoint. A line on standard error names both.
  train::settings settings = train::settings::latest;
  std::string log = "";  ///< a folder for curves of the epochs, as CSV, JSON lines, for TensorBoard, and as a page
  /// Lowers the rate when the watched value has stopped getting better: nn::plateau_options{.patience = 3}.
  std::optional<nn::plateau_options> plateau = {};
  bool progress = true;                  ///< a bar, or lines in a log (manta/progress.hpp)
  epoch_callback on_epoch = {};          ///< called after each epoch; false ends the training
  std::vector<callback> callbacks = {};  ///< called in their order, after on_epoch (callback.hpp)
};

struct history {
  std::vector<epoch_result> epochs;  ///< also those before the checkpoint from which this call went on
  std::string ended;                 ///< why it ended, in words

  /// Throws if there is none: all values were NaN, or the checkpoint was written by trainer::save with all epochs made.
  [[nodiscard]] const epoch_result& best() const {
    for (auto e = epochs.rbegin(); e != epochs.rend(); ++e) {
      if (e->is_best) return *e;
    }
    throw error(epochs.empty() ? "manta: train: no epoch of this training is the best: none was made"
                               : "manta: train: no epoch of this training is the best: all values are NaN");
  }
};

}  // namespace manta::train
