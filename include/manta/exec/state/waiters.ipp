// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/clock.hpp"
#include "manta/base/text.hpp"
#include "manta/base/vector.hpp"
#include "manta/exec/rank/node_views.hpp"
#include "manta/exec/rank/stack_trace.hpp"
#include "manta/exec/state/waiters.hpp"

namespace manta::exec {

MANTA_DECL void waiters::check_deadlines(std::int64_t now) {
  // The wait whose time was over first goes on first; the list of waits has another order.
  base::list<wait_record*> due;
  for (wait_record* record : waits_) {
    if (record->deadline <= now && record->parked != nullptr && !record->queued) due.push_back(record);
  }
  std::sort(due.begin(), due.end(),
            [](const wait_record* a, const wait_record* b) { return a->deadline < b->deadline; });
  for (wait_record* record : due) wake(*record);
}

MANTA_DECL bool waiters::check_descriptors() {
  bool any = false;
  for (wait_record* record : waits_) {
    if (record->descriptor < 0) continue;
    pollfd look{record->descriptor, POLLIN, 0};
    // A wait that was interrupted for another reason is woken too: its stack decides whether it waits again.
    if (!record->interrupted && ::poll(&look, 1, 0) == 0) continue;
    record->interrupted = any = true;
    wake(*record);
  }
  return any;
}

MANTA_DECL void waiters::check_stops() {
  has_news_of_stops_ = false;
  for (wait_record* record : waits_) {
    if (!record->looks_for_stops) continue;
    record->interrupted = true;
    wake(*record);
  }
}

MANTA_DECL std::int64_t waiters::sleep_until_deadline(bool has_timers, std::int64_t now) const {
  if (!any_timed() || has_timers) return longest_sleep(has_timers);
  std::int64_t length = until_message_ns();
  for (const wait_record* record : waits_) {
    length = std::min(length, std::max<std::int64_t>(record->deadline - now, 50'000));
  }
  return length;
}

MANTA_DECL void waiters::sleep(std::int64_t ns) {
  if (!any_with_descriptor()) return net_.sleep(ns);
  if (check_descriptors()) return;
  if (net_.can_be_woken()) {
    // A thread sleeps on one thing. Where messages wake it, another thread watches the descriptors and wakes it as a
    // message would.
    if (bell_ == nullptr) bell_.reset(new descriptor_bell(ring_, rank_));
    bool armed = true;
    for (const wait_record* record : waits_) {
      armed = armed && (record->descriptor < 0 || bell_->arm(record->descriptor));
    }
    return net_.sleep(armed ? ns : std::min<std::int64_t>(ns, 1'000'000));
  }
  base::list<pollfd> all;
  for (const wait_record* record : waits_) {
    if (record->descriptor >= 0) all.push_back({record->descriptor, POLLIN, 0});
  }
  const timespec length{ns / 1'000'000'000, ns % 1'000'000'000};
  ::ppoll(all.data(), static_cast<nfds_t>(all.size()), &length, nullptr);
}

MANTA_DECL std::uint32_t waiters::unfinished() const {
  std::uint32_t count = 0;
  for (const wait_record* w : waits_) count += w != last_ && !w->over();
  return count;
}

MANTA_DECL std::string waiters::describe(rank_id here) const {
  std::string text;
  for (const wait_record* w : waits_) {
    if (w == last_ || w->over()) continue;
    text += (text.empty() ? "" : ", ") + describe(*w);
  }
  return text.empty() ? text : base::text("[rank {}: {}] ", here, text);
}

MANTA_DECL base::vector<report::waiting_task> waiters::waits_now(std::size_t most, bool by_helper) const {
  base::vector<report::waiting_task> all;
  base::vector<wait_place> places;
  const std::uint64_t now = base::ticks();
  for (const wait_record* w : waits_) {
    if (w == last_ || w->over() || all.size() == most) continue;
    all.push_back({describe(*w), 1e-9 * static_cast<double>(base::nanoseconds_of(now - w->begin_ticks))});
    places.push_back({w->parked, w->frame, w->parked != nullptr || !by_helper});
  }
  std::vector<std::vector<std::string>> stacks = stack_trace::of_waits(places);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].stack = std::move(stacks[i]);
  return all;
}

MANTA_DECL std::string waiters::describe_all() const {
  std::string text;
  for (const wait_record* w : waits_) {
    if (w == last_) continue;
    text += (text.empty() ? "" : ", ") + describe(*w) + (w->over() ? ", which has ended" : "");
  }
  return text;
}

MANTA_DECL std::string waiters::describe(const wait_record& record) {
  std::string text = "'" + std::string(record.task->name()) + "'";
  if (const graph::request* const actor = record.task->actor; actor != nullptr && !actor->name.empty()) {
    text += " of the actor '" + actor->name + "'";
  }
  text += " waits for ";
  if (record.what != nullptr) return text + record.what;
  if (record.first == nullptr) return text + "others";
  if (record.first->function != graph::no_index) {
    return text + "'" + std::string(wire::function_at(record.first->function).name()) + "'";
  }
  if (is_stand_in(*record.first)) return base::text("{}a value of rank {}", text, record.first->links->rank);
  return text + "a value";
}

MANTA_DECL void waiters::fail_all(const std::string& text) {
  report_.declare(text);
  for (wait_record* w : waits_) {
    if (w == last_ || w->over()) continue;
    w->failed = true;
    wake(*w);
  }
}

}  // namespace manta::exec
