// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// One line of training: a trial from its begin on a rank to its last notice. It is
// what stands behind the `trial` that the user's function sees; the runner makes it.
#pragma once

#include <chrono>
#include <functional>

#include "manta/tune/exchange.hpp"

namespace manta::tune::detail {

class training {
 public:
  /// `members`: of the gang that runs the trial, or null. Fetches the checkpoint from which the trial goes on.
  training(exchange& driver, order begin, const team* members);
  training(const training&) = delete;
  training& operator=(const training&) = delete;

  // ---- for the trial, see trial.hpp -----------------------------------------------------------------

  const order& begun_with() const { return begin_; }
  std::uint64_t iteration() const { return iteration_; }
  bool is_restored() const { return from_.has_value(); }
  bool is_over() const { return over_; }
  bool report(const metrics& values);
  /// Keeps a text or a file for the next notice. Of a gang, the first member's count.
  void note(remark r);
  /// `saver` makes the state of a checkpoint. `of_locals`: of what is gone when the function has returned.
  void keep(std::function<void(checkpoint&)> saver, bool of_locals);
  /// The checkpoint with a state that the trial goes on from, or null.
  const checkpoint* source() const;
  void release_source();

  // ---- for the runner -------------------------------------------------------------------------------

  /// The file, in the folder of the experiment, of a checkpoint that is made now. Makes its folder.
  static std::string new_file(const order& o, std::uint64_t iteration);

  /// The function has returned before its time: the trial goes on from its last checkpoint another time.
  void interrupt() { over_ = pauses_ = true; }
  /// The trial ends here and begins again as this.
  std::optional<order> take_next() { return std::exchange(next_, std::nullopt); }
  /// Reports that the driver has not been told.
  std::vector<reported> take_pending() { return std::exchange(pending_, {}); }
  std::vector<remark> take_remarks() { return std::exchange(remarks_, {}); }
  /// The last notice.
  notice farewell();

 private:
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds batch_time{50};

  double seconds_at(clock::time_point now) const;
  /// This member's part of the checkpoint. If a part was lost with its rank, no member has one: all read the file,
  /// or begin anew.
  void fetch_source(const team* members);

  order talk(notice n);
  bool handle(order o);

  /// Locals are gone when the function has returned: so the state at each report may be the one to be saved at the end.
  bool remembers() const { return begin_.save_at_end && keeps_locals_; }
  void make_checkpoint();
  void add_checkpoint(notice& n);

  exchange& driver_;
  order begin_;
  bool in_gang_;
  int member_;
  clock::time_point start_, last_exchange_;
  double seconds_before_ = 0, silent_until_ = 0;
  std::uint64_t iteration_ = 0;
  std::optional<checkpoint> from_;
  std::function<void(checkpoint&)> saver_;
  bool keeps_locals_ = false;
  checkpoint last_;  ///< the state at the last report, if it remembers
  std::vector<reported> pending_;
  std::vector<remark> remarks_;
  bool over_ = false, pauses_ = false;
  std::optional<order> next_;
  std::optional<checkpoint> made_;
  bool keeps_nothing_ = false;  ///< a checkpoint was wanted, and there was nothing to save
  std::string file_;
};

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/training.ipp"
#endif
