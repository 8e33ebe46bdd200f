// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The actor that runs trials on its rank, one after the other. The driver talks to
// it by calls of tell, each of which hands over an order and returns with the next
// notice, so that a report costs one round trip. The user's functions run beside
// these calls: inside a call, work, that never ends until it is told to, or, in a
// process of their own, on a thread.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

#include "manta/tune/trainable.hpp"
#include "manta/tune/training.hpp"

namespace manta::tune::detail {

/// Ends a runner.
MANTA_DECL order quit_order();

struct whereabouts {
  int rank = -1;
  std::string host;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(rank, host);
  }
};

/// Runs trials as it is told to.
class trial_loop : protected exchange {
 public:
  MANTA_DECL explicit trial_loop(body_name what, std::optional<team> members = std::nullopt);
  trial_loop(const trial_loop&) = delete;
  trial_loop& operator=(const trial_loop&) = delete;

  ~trial_loop() override = default;

  /// The rank on which it is, and its machine: an answer says that it has been placed.
  MANTA_DECL whereabouts greet();

  /// Runs trials inside this call, if it needs a stack for them.
  virtual void work() {}
  /// Hands over an order; hear() then waits for what comes of it.
  virtual void hand(order o) = 0;
  virtual notice hear() = 0;
  /// The last checkpoint, where it is not put into the store.
  checkpoint take() { return std::move(left_); }

 protected:
  MANTA_DECL void run_trials();
  void leave(checkpoint c, notice&) override { left_ = std::move(c); }

 private:
  const team* members() const { return members_ ? &*members_ : nullptr; }

  /// One trial, from its begin to its last notice.
  notice run(order& o, bool& again);

  body_name what_;
  std::unique_ptr<body> body_;
  std::optional<team> members_;
  checkpoint left_;
};

/// Functions run on the stack of one call.
class line_on_stack : public trial_loop {
 public:
  using trial_loop::trial_loop;

  void work() override { run_trials(); }
  void hand(order o) override;
  notice hear() override;

 private:
  MANTA_DECL order next_order() override;
  MANTA_DECL void notify(notice n) override;

  promise<order> in_;
  promise<notice> out_;
  future<notice> answer_;
  bool is_asked_ = false;  ///< a call of tell waits for a notice
  bool quits_ = false;     ///< told to, perhaps in the middle of a trial
};

/// Functions run on a thread of their own in a child process of the rank: what they do to it ends no rank, and one that
/// does not report in time is ended with the process.
class line_on_thread : public trial_loop {
 public:
  using trial_loop::trial_loop;
  ~line_on_thread() override;

  void hand(order o) override;
  notice hear() override;

 private:
  static constexpr double longest = 1e9;

  void live();
  order next_order() override;
  void notify(notice n) override;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<order> order_;
  std::optional<notice> notice_;
  double limit_ = infinity;
  bool is_over_ = false, has_ended_ = false;
  std::thread thread_;
};

/// Hands over an order and waits for what comes of it. Throws if the runner is broken.
answers ask(trial_loop& line, order o);

/// Checkpoints are put into the store, in whose memory they stay on this rank.
class runner : public line_on_stack {
 public:
  using line_on_stack::line_on_stack;

  /// In a gang the notices of all members come back, for each has its part of a checkpoint.
  answers tell(order o) { return ask(*this, std::move(o)); }

 private:
  void leave(checkpoint c, notice& n) override { n.made.push_back(put(std::move(c))); }
};

/// Checkpoints stay in the child process until the driver takes them.
class isolated_runner : public line_on_thread {
 public:
  using line_on_thread::line_on_thread;

  answers tell(order o) { return ask(*this, std::move(o)); }
  answers tell_from(order o, std::vector<checkpoint> source);
};

/// On each rank of a gang.
class gang_runner final : public runner {
 public:
  gang_runner(team members, body_name what) : runner(std::move(what), members) {}
};

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/runner.ipp"
#endif
