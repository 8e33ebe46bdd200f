// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the driver of an experiment and a runner tell each other: orders go to the
// runner, notices come back.
#pragma once

#include <optional>

#include "manta/manta.hpp"
#include "manta/tune/checkpoint.hpp"
#include "manta/tune/metrics.hpp"
#include "manta/tune/searcher.hpp"

namespace manta::tune::detail {

/// An order of the driver to a runner. Only an order to begin carries the members from `id` to `silence`.
struct order {
  enum class kind : std::uint8_t { begin, go_on, stop, pause, quit };
  kind what = kind::go_on;
  bool save = false;    ///< go_on: make a checkpoint and tell at once
  bool change = false;  ///< begin, in the middle of a trial: end the function and begin again
  double silent_until = 0;
  trial_number id = 0;
  config parameters;
  std::vector<future<checkpoint>> from;  ///< its parts, as of each member of a gang; empty: the file, or nothing
  std::string from_file;
  std::string metric, clock, folder;
  std::uint64_t seed = 0;
  std::uint64_t save_every = 0;
  bool save_at_end = false;
  int line = 0;               ///< line of training: files of different lines have different names
  double silence = infinity;  ///< seconds without a report until the process of a trial is ended

  int repeat = 0, repeats = 1;            ///< which one of how many runs of the trial it is
  std::optional<checkpoint> source = {};  ///< the checkpoint of `from`, where it has been fetched already

  template <class Archive>
  void serialize(Archive& archive) {
    archive(what, save, change, silent_until);
    if (what == kind::begin) {
      archive(id, parameters, from, from_file, metric, clock, folder, seed, save_every, save_at_end, line, silence);
      archive(repeat, repeats);
    }
  }
};

/// A text about a trial, or, with an empty text, a file in the folder of the experiment.
struct remark {
  std::string name, text;
  bool is_file = false;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, text, is_file);
  }
};

struct reported {
  std::uint64_t iteration = 0;
  double seconds = 0;
  metrics values;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(iteration, seconds, values);
  }
};

/// A notice of a runner to the driver.
struct notice {
  enum class kind : std::uint8_t { report, saved, ended, paused, failed, fatal };
  kind what = kind::report;
  std::vector<reported> reports;
  std::vector<remark> remarks;
  bool has_checkpoint = false;
  bool keeps_nothing = false;  ///< a checkpoint was asked for, but the trial has named nothing that it could hold
  std::vector<future<checkpoint>> made;  ///< its parts; none: the runner has them, and the driver asks for them at once
  int parts = 1;
  std::uint64_t made_at = 0;  ///< iteration
  std::string file;           ///< the checkpoint's file, if the experiment has a folder
  std::string text;           ///< text of a failure

  template <class Archive>
  void serialize(Archive& archive) {
    archive(what, reports, remarks, has_checkpoint, keeps_nothing, made);
    if (has_checkpoint) archive(parts, made_at, file);
    if (what >= kind::failed) archive(text);
  }
};

/// One entry for each member of a gang; one entry, if a trial is no gang.
using answers = per_rank<notice>;

/// Thrown by trial::report when the function goes on after it was told to end; not for catching.
struct trial_is_over {};

/// The connection of a trial to the runner that runs it.
class exchange {
 public:
  virtual ~exchange() = default;
  virtual order next_order() = 0;
  virtual void notify(notice n) = 0;
  /// Keeps the bytes on this rank; the driver fetches them, perhaps by a future in the notice.
  virtual void leave(checkpoint c, notice& n) = 0;
};

}  // namespace manta::tune::detail
