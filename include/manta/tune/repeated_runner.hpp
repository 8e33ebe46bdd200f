// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The actor that runs each trial several times at once on its rank: to the driver the runs are one trial, whose
// reports are the means. Each run is a line of training, with a function of its own on a stack or a thread of its own.
// The lines go from report to report together, so that a checkpoint holds all of them at one report: a part for each,
// and a last part with what has to be known of them as one.
#pragma once

#include "manta/tune/repeats.hpp"
#include "manta/tune/runner.hpp"

namespace manta::tune::detail {

class repeated_runner {
 public:
  /// `isolated`: it is in a child process of the rank, where functions run on threads, one at a time.
  repeated_runner(const body_name& what, std::uint64_t repeats, bool isolated);

  whereabouts greet() { return lines_.front().loop->greet(); }
  /// Inside this call runs one of the lines, if they are not isolated.
  void work(std::uint64_t which) { lines_[which].loop->work(); }
  answers tell(order o) { return tell_from(std::move(o), {}); }
  /// With the parts of the checkpoint that the trial goes on from.
  answers tell_from(order o, std::vector<checkpoint> source);
  /// The next part of the last checkpoint.
  checkpoint take();

 private:
  using clock = std::chrono::steady_clock;
  using numbers = std::vector<std::size_t>;  ///< numbers of lines

  struct line {
    std::unique_ptr<trial_loop> loop;
    bool runs = false;      ///< its function has not returned
    bool has_part = false;  ///< `part` is as of now
    checkpoint part = {};   ///< part of a checkpoint; of a line that has ended, its last state if it was saved
  };

  notice begin(order o, std::vector<checkpoint> source);
  /// The checkpoint from which the trial goes on: all of its parts, or none.
  std::vector<checkpoint> source_of(const order& o, std::vector<checkpoint> fetched) const;
  notice follow(const order& o);
  notice quit();
  /// The lines that run; without those that wait for others, if so.
  numbers running(bool with_waiting) const;
  /// Gives each of these lines its order, and takes what they say into one notice.
  template <class OrderOf>
  notice round(const numbers& to, OrderOf order_of);
  template <class OrderOf>
  std::vector<notice> hear(const numbers& to, OrderOf order_of);
  /// Takes what a line says, and returns what it is.
  notice::kind take_notice(std::size_t k, notice& said, notice& all);
  /// Ends the lines that run.
  void end(const numbers& which);
  /// Whether the lines go on without an answer of the driver.
  bool goes_on(const notice& n) const;
  void add_checkpoint(notice& n);

  std::vector<line> lines_;
  repeats repeats_;
  bool isolated_;
  order begun_;
  std::uint64_t iteration_ = 0;  ///< iteration of the last report of all
  double silent_until_ = 0;
  clock::time_point last_exchange_;
  std::vector<reported> pending_;
  std::vector<remark> remarks_;
  std::vector<checkpoint> left_;  ///< checkpoints left for take()
};

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/repeated_runner.ipp"
#endif
