// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A trial as the function that is tuned sees it.
//
//   void train(const tune::config& c, tune::trial& trial) {
//     model m(c["lr"]);
//     trial.keep(m);                                  // saved when needed; restored if there is a checkpoint
//     while (trial.iteration() < 100) {
//       m.train_one_epoch();
//       if (!trial.report({{"loss", m.loss()}})) return;
//     }
//   }
#pragma once

#include <functional>

#include "manta/tune/checkpoint.hpp"
#include "manta/tune/metrics.hpp"
#include "manta/tune/searcher.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

namespace detail {
class training;
struct access;
}  // namespace detail

class trial {
 public:
  explicit trial(detail::training& line) : line_(line) {}
  trial(const trial&) = delete;
  trial& operator=(const trial&) = delete;

  MANTA_DECL trial_number id() const;
  MANTA_DECL const config& parameters() const;
  /// Reports made by this trial, those before the checkpoint that it continues from included.
  MANTA_DECL std::uint64_t iteration() const;
  /// Whether the trial goes on from a checkpoint.
  MANTA_DECL bool restored() const;
  /// With .repeats, which of the runs of the trial this one is: 0, 1, ...
  MANTA_DECL int repeat() const;
  /// For random numbers: derived from the experiment's seed, the trial and the repeat.
  MANTA_DECL std::uint64_t seed() const;
  /// A folder of this trial, and of this repeat, for files of its own; made if it is not there. Throws if the
  /// experiment has none.
  MANTA_DECL std::string folder() const;

  /// Names what has to be saved, by cereal: whenever a checkpoint is made these are, as they are at that report. If the
  /// trial continues from a checkpoint, they are set to what it holds now. To be called once, before the first report.
  template <class... T>
    requires(sizeof...(T) > 0)
  void keep(T&... state) {
    save_by([&](checkpoint& c) { c.pack(state...); }, true);
    if (const checkpoint* const from = source()) from->unpack(state...);
    release_source();
  }

  /// Says that checkpoints need to hold nothing but the number of reports: the function has files of its own for its
  /// state, in folder(), and reads them when restored() is true.
  MANTA_DECL void keep();

  /// Reports metrics to the experiment; false: the trial must end now, by returning. Waits for the answer, while other
  /// work of this rank may run, unless the scheduler and the rules need no report before a later one; then the report
  /// may be sent with a later one. In a gang all members call it, it always waits, and the first member's values count.
  MANTA_DECL bool report(const metrics& values);
  MANTA_DECL bool report(std::string_view metric, double value);

  /// Tells a text about this trial, such as the commit of a program: it stands in the page, and in results as notes. Of
  /// the same name the last one counts. It travels with the next report, or with the end of the trial.
  MANTA_DECL void note(std::string name, std::string text);
  /// Makes a file part of the trial: the page links it, and shows it if it is a picture. A path that is not absolute
  /// is one in folder(); a file from elsewhere is copied there. Throws if there is no such file, or no folder.
  MANTA_DECL void attach(const std::string& path);

  /// Whether the trial should end; report returns the opposite.
  MANTA_DECL bool should_end() const;

 private:
  friend struct detail::access;

  /// `of_locals`: what is saved is gone when the function has returned.
  MANTA_DECL void save_by(std::function<void(checkpoint&)> saver, bool of_locals);
  /// The checkpoint that it goes on from, or null.
  MANTA_DECL const checkpoint* source() const;
  MANTA_DECL void release_source();
  /// The experiment's.
  MANTA_DECL const std::string& metric() const;

  detail::training& line_;
};

/// Access to private members for trainable.hpp; not for users.
struct detail::access {
  static void save_by(trial& t, std::function<void(checkpoint&)> saver) { t.save_by(std::move(saver), false); }
  static const checkpoint* source(const trial& t) { return t.source(); }
  static void release_source(trial& t) { t.release_source(); }
  static const std::string& metric(const trial& t) { return t.metric(); }
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/trial.ipp"
#endif
