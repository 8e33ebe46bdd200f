// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What trainer::fit writes about its epochs (fit_options::log):
//
//   FOLDER/progress.csv, FOLDER/result.jsonl    a row for each epoch
//   FOLDER/events.out.tfevents.*                tensorboard --logdir FOLDER
//   FOLDER/report.html                          curves of loss, metrics, rate and speed; reloads itself meanwhile
#pragma once

#include <string>

#include "manta/output/csv.hpp"
#include "manta/output/json_lines.hpp"
#include "manta/output/tensorboard.hpp"
#include "manta/train/fit.hpp"

namespace manta::train::detail {

class fit_log {
 public:
  /// Makes the folder, and writes the epochs of an earlier start, from which fit goes on. `all` has to live as long as
  /// this. Throws manta::error where a file cannot be written, as add does.
  MANTA_DECL fit_log(const std::string& folder, const history& all);
  fit_log(const fit_log&) = delete;
  fit_log& operator=(const fit_log&) = delete;
  /// The page says that nothing runs any more.
  MANTA_DECL ~fit_log();

  /// The last epoch of the history has ended. `running`: further ones follow.
  MANTA_DECL void add(bool running);

 private:
  void write_row(const epoch_result& e);
  void write_page(bool running) const;

  std::string folder_;
  const history& all_;
  bool is_running_ = false;  ///< so says the page
  output::csv csv_;
  output::json_lines lines_;
  output::tensorboard events_;
};

}  // namespace manta::train::detail

#ifndef MANTA_COMPILED
#include "manta/train/fit_log.ipp"
#endif
