// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Waits for values and for the ends of tasks, and submitters that run ahead of those
// who run their tasks, or of the memory for values.
//
// All functions but watch, unwatch and let_go wait. Other tasks run meanwhile.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/loop/loop.hpp"
#include "manta/exec/state/throttle.hpp"

namespace manta::exec {

class waiting {
 public:
  /// The parts that it uses.
  struct parts {
    const run_phase& phase;
    const exec::pace& pace;
    exec::waiters& waiters;
    graph::node_list& local;
    exec::fetches& fetches;
    exec::throttle& throttle;
    const exec::home& home;
    rank_loop& loop;
  };

  waiting(const rank_context& own, parts of_it) : own_(own), below_(of_it) {}

  /// Waits until the record is over.
  void wait(wait_record& record) { below_.loop.wait(record); }
  /// Waits until `n` has ended; with `may_inline`, runs its task right here if it is queued here and not started.
  /// `what` says in reports what the wait is for; null: the node's function, or its home.
  MANTA_DECL void wait_for_end(node& n, bool may_inline, const char* what = nullptr);
  MANTA_DECL bool wait_for_end(node& n, std::int64_t deadline);  ///< False if it has not ended by then.
  /// Waits until the value is on this rank. Throws the failure.
  MANTA_DECL void bring(node& n, bool may_inline = true);
  /// As bring(), and decodes the value.
  MANTA_DECL const void* value(node& n, bool may_inline = true);
  /// As value(), for a reference to it: it stays in its place as long as this rank has a handle on it.
  const void* value_to_keep(node& n) {
    const void* const v = value(n);
    store::give(n);
    return v;
  }
  /// Has the end of `n` count for this wait, as its input number `position`.
  MANTA_DECL void watch(node& n, wait_record& record, std::uint32_t position);
  void unwatch(node& n, wait_record& record) { own_.graph.remove_link(n, link_kind::waiter, &record); }

  /// Makes a submitter that runs ahead of the network, of those who run its tasks, or of this rank's memory help until
  /// it no longer does.
  MANTA_DECL void relieve();
  void let_go();  ///< At the top level: lets the held submitters go if there is room for them.

 private:
  /// Is the memory for values short, and may it become less as tasks made here end?
  bool may_get_room() {
    return below_.throttle.may_get_room(own_.ledger.memory().is_short(), below_.home.unfinished());
  }
  void hold_back();           ///< Waits, by throttle.hpp, until the submitter of the current stack may go on.
  const void* read(node& n);  ///< Decodes a value that is here.
  /// Waits once for the node. Throws if that is a deadlock.
  void wait_for_news(node& n, const char* what = nullptr);

  const rank_context own_;
  const parts below_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/loop/waiting.ipp"
#endif
