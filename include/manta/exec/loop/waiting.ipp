// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <sched.h>

#include "manta/base/clock.hpp"
#include "manta/exec/loop/waiting.hpp"

namespace manta::exec {

MANTA_DECL void waiting::watch(node& n, wait_record& record, std::uint32_t position) {
  below_.fetches.need(n);
  link& l = own_.graph.add_link(n, link_kind::waiter);
  l.pointer = &record;
  l.index = position;
  if (record.first == nullptr) record.first = &n;
}

MANTA_DECL void waiting::wait_for_end(node& n, bool may_inline, const char* what) {
  while (n.state == state::pending) {
    // A task that stands in this rank's queue needs no stack of its own: the waiting stack runs it as a call. A
    // computation that nests deeply would need a stack for each level.
    if (may_inline && n.has(node::queued) && below_.loop.has_room()) {
      below_.loop.run_inline(n);
      continue;
    }
    wait_for_news(n, what);
  }
}

MANTA_DECL bool waiting::wait_for_end(node& n, std::int64_t deadline) {
  if (n.state != state::pending) return true;
  wait_record record;
  record.remaining = 1;
  record.deadline = deadline;
  watch(n, record, 0);
  wait(record);
  if (n.state == state::pending) unwatch(n, record);
  return n.state != state::pending;
}

MANTA_DECL void waiting::hold_back() {
  if (below_.phase.is_stopping() || !below_.throttle.may_hold()) return;
  while (below_.throttle.is_ahead(below_.home.unfinished()) || may_get_room()) {
    // The submitter waits only while others make progress, so it compares what it finds now with what it finds after
    // its patience.
    const throttle::state before{below_.home.unfinished(), own_.ledger.memory().charged()};
    const bool was_ahead = below_.throttle.is_ahead(before.unfinished);
    wait_record room;
    room.remaining = 1;
    // The number of tasks alone would not hold the submitter: it is the bytes of their arguments.
    const bool for_bytes = was_ahead && !below_.throttle.is_ahead(below_.home.unfinished_count());
    room.deadline = base::now_ns() + (for_bytes ? throttle::patience_with_bytes_ns : throttle::patience_ns);
    below_.throttle.hold(room);
    wait(room);
    below_.throttle.release(room);
    // let_go() has ended the wait.
    if (room.over()) return;
    below_.throttle.note_patience(before, {below_.home.unfinished(), own_.ledger.memory().charged()}, was_ahead);
  }
}

MANTA_DECL void waiting::let_go() {
  if (!below_.throttle.has_room(below_.home.unfinished()) || may_get_room()) return;
  for (wait_record* const each : below_.throttle.held()) {
    each->remaining = 0;
    below_.waiters.wake(*each);
  }
}

MANTA_DECL void waiting::relieve() {
  // Messages leave only as receivers take them, so a submitter with more than this sends before it makes more.
  constexpr std::size_t limit = std::size_t{4} << 20;
  below_.loop.progress();
  own_.net.pump(false);
  while (own_.net.queued_bytes() > limit) {
    below_.loop.progress();
    own_.net.pump(true);
    if (own_.net.oversubscribed()) sched_yield();
  }
  const std::size_t queued = below_.home.unfinished();
  below_.throttle.is_ahead(queued) || may_get_room() ? hold_back() : below_.throttle.relax(queued);
}

MANTA_DECL void waiting::bring(node& n, bool may_inline) {
  wait_for_end(n, may_inline);
  // The value lies on another rank. It can move again, or be lost and made again, before it arrives; so its place is
  // looked up until it is here.
  while (n.form == form::remote) [[unlikely]] {
      below_.fetches.fetch(n);
      wait_for_news(n);
      wait_for_end(n, may_inline);
    }
  if (n.state == state::failed) {
    n.set(node::observed);
    const store::failure_ptr why = store::failure_of(n);
    store::raise(*why);
  }
}

MANTA_DECL const void* waiting::value(node& n, bool may_inline) {
  bring(n, may_inline);
  try {
    return read(n);
  } catch (...) {
    // What load() has thrown is the user's exception; the failure names the type beside it.
    store::raise(*own_.failures.codec("load()", n.type));
  }
}

/// The ledger learns of a long value that came encoded, now that it takes memory as other values do.
MANTA_DECL const void* waiting::read(node& n) {
  const bool came_encoded = n.form == form::blob && n.blob.bytes >= store::large_bytes;
  const void* const value = store::decode(n);
  if (!came_encoded) return value;
  store::enter(n, own_.ledger, n.function, is_stand_in(n));
  return store::decode(n);
}

MANTA_DECL void waiting::wait_for_news(node& n, const char* what) {
  wait_record record;
  record.what = what;
  record.remaining = 1;
  watch(n, record, 0);
  wait(record);
  // The wait was broken off by a deadlock: the node must not keep a link to a record that goes with this stack.
  if (record.failed) unwatch(n, record);
  below_.waiters.throw_if_deadlocked(record);
}

}  // namespace manta::exec
