// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>

#include "manta/base/clock.hpp"
#include "manta/exec/ending.hpp"
#include "manta/exec/layers.hpp"

namespace manta::exec {

MANTA_DECL void ending::drop_unstarted() {
  all_.run.phase.note_dropped();
  const store::failure_ptr why = all_.homes.withdrawal.why_not_begun();
  const auto drop_node = [&](node& n) {
    if (n.form == form::record && n.record->home_rank != all_.rank.rank) {
      all_.values.supply.send_failure({n.record->home_rank, n.record->home_index}, why);
      return all_.values.refs.release(n);
    }
    node& home = n.form == form::record ? all_.rank.graph.nodes.at(n.record->home_index) : n;
    if (&home != &n) all_.values.refs.release(n);
    all_.values.completion.fail(home, why);
    home.set(node::observed);
    all_.values.refs.release(home);
  };
  all_.homes.home.drop_unstarted(drop_node);
  while (!all_.run.late.empty()) drop_node(all_.run.late.take_first());
  if (all_.rank.scheduler != nullptr) {
    all_.rank.scheduler->drop_all(drop_node);
    all_.work.placement.release_pending();
  }
  all_.values.attempts.withdraw_resting(why);
  all_.work.executor.fail_inbox(why);
}

MANTA_DECL void ending::end_actors() {
  all_.homes.named.attach_all();
  all_.work.actors.kill_all("the run has ended");
  exec::unobserved& failures = all_.run.unobserved;
  // Rank 0 prints the failures of all ranks, so the others send it theirs.
  if (all_.rank.rank == 0 || failures.count() == 0) return;
  const std::string text = failures.text("", "\n");
  const index_message header{static_cast<std::uint32_t>(failures.count()), 0};
  all_.rank.post.send(0, message::unobserved, header, text.data(), text.size());
  failures.clear();
}

MANTA_DECL void ending::drive_until_quiet() {
  all_.run.phase.note_driver_end(base::now_ns());
  all_.loops.quiet.hasten();
  waiters::last_wait end(all_.run.waiters);
  all_.loops.loop.wait(end.record);
}

MANTA_DECL void ending::finish(bool drop, bool is_deadlock) {
  all_.run.running.leave();
  if (drop) {
    all_.run.phase.stop();
    all_.rank.post.send_to_others(message::drop_tasks, index_message{0, 0});
    drop_unstarted();
  }
  drive_until_quiet();
  // The first end is that of the tasks. Actors may still serve them until then, so they end afterwards, and their
  // destructors may start tasks: a second end waits for these.
  if (all_.loops.quiet.has_found_kept()) {
    all_.rank.post.send_to_others(message::end_actors, index_message{0, 0});
    end_actors();
    drive_until_quiet();
  }
  all_.work.placement.end_run();
  all_.homes.named.end_run();
  exec::unobserved& failures = all_.run.unobserved;
  // They are consequences of the deadlock, which has been told.
  if (is_deadlock) failures.forget_broken_promises();
  if (failures.count() == 0) return;
  std::fprintf(stderr, "manta: %llu failure%s that nobody looked at:\n%s\n",
               static_cast<unsigned long long>(failures.count()), failures.count() == 1 ? "" : "s",
               failures.text("  ", "\n").c_str());
  failures.clear();
}

}  // namespace manta::exec
