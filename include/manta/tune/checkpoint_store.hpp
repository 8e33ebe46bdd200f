// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The checkpoints of an experiment on disk: which file a trial would go on from, which files a trial still has to
// write, and which files are removed (checkpoint_files.hpp decides that).
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "manta/tune/checkpoint_files.hpp"
#include "manta/tune/experiment.hpp"
#include "manta/tune/ranking.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/trial_record.hpp"

namespace manta::tune::detail {

class checkpoint_store {
 public:
  MANTA_DECL void begin(const experiment& e, const ranking& by);

  bool contains(const std::string& file) const { return files_.contains(file); }
  /// Notes that the trial would continue from this file; from its beginning if `file` is empty.
  MANTA_DECL void set(trial_record& r, std::uint64_t iteration, const std::string& file);
  /// Notes that the trial has written the file.
  MANTA_DECL void made(trial_record& r, std::uint64_t iteration, const std::string& file);
  /// Notes how good the last file of a trial is, which has reported at the iteration of this file.
  MANTA_DECL void score(trial_record& r);
  /// Writes into the record which file of the trial is the best one.
  MANTA_DECL void note_best(trial_record& r) const;
  /// Notes that the trial has ended and will not continue from its file, or that it will after all.
  MANTA_DECL void release(const trial_record& r);
  MANTA_DECL void claim(const trial_record& r);

  /// Notes that the trial was asked for a file of that iteration.
  MANTA_DECL void owe(trial_number t, std::uint64_t iteration);
  MANTA_DECL void forgive(trial_number t);
  MANTA_DECL std::optional<std::uint64_t> owed(trial_number t) const;

  /// Removes the files that need not be kept any more.
  MANTA_DECL void trim(std::vector<trial_record>& all, trial_number best);
  /// Removes files that were written just before a kill, and that the journal does not know.
  MANTA_DECL void remove_unknown() const;

 private:
  /// The path of a file; a gang has one for each member, a repeated trial one for each run and one more.
  std::string path_of(const std::string& file, int part) const;
  void remove(const std::string& file) const;
  /// The size of a file; 0 if it is missing.
  std::size_t size_of(const std::string& file) const;

  checkpoint_options options_;
  std::string folder_;
  int parts_ = 1;       ///< parts of each checkpoint
  std::string metric_;  ///< metric by which files are compared
  double sign_ = 1;
  checkpoint_files files_;
  std::unordered_map<trial_number, std::uint64_t> owed_;  ///< iterations
};

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/checkpoint_store.ipp"
#endif
