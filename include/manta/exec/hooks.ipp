// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the parts of value/ and task/ are given of the engine: what else is done
// when a handle dies, a node ends or a value comes.
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::exec {

MANTA_DECL void engine::drop_handle(node& n) {
  // What may be the last references are given up with the lock only: handlers may find the node and hold it again, and
  // refs_.release() looks for the last and the last but one.
  std::uint32_t count = n.refs.load(std::memory_order_relaxed);
  while (count > 2) {
    if (n.refs.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel)) return;
  }
  if (role_ != role::none && current_->graph_.nodes.owns(n)) {
    const guard g(*current_);
    return current_->refs_.release(n);
  }
  foreign_drops::leave(n);
}

MANTA_DECL engine::reference_part::hooks engine::hooks_of_references() {
  static constexpr auto of = [](void* rank) -> engine& { return *static_cast<engine*>(rank); };
  return {
      .rank = this,
      .stand_in_gone = [](void* rank, node& n, std::uint64_t calls) { of(rank).recovery_.leave_family(n, calls); },
      .actor_gone =
          [](void* rank, node& n) {
            engine& e = of(rank);
            const actor_place place = n.state == state::ready ? actor_place_in(n.bytes) : actor_place{no_index, 0};
            if (place.rank != no_index && !e.is_dead(place.rank))
              e.names_.keep_until_end(n.index, {place.rank, place.slot});
            if (e.names_.free(n.index)) e.answer_names();
          },
      .free_task = [](void* rank, task* t) { of(rank).records_.free(t); },
  };
}

MANTA_DECL task_records<net::network>::hooks engine::hooks_of_records() {
  return {this, [](void* rank, node& n, std::uint32_t place, std::uint64_t bytes) {
            static_cast<engine*>(rank)->completion_.lies_at(n, place, bytes);
          }};
}

MANTA_DECL engine::completion_part::hooks engine::hooks_of_completion() {
  static constexpr auto of = [](void* rank) -> engine& { return *static_cast<engine*>(rank); };
  return {
      .rank = this,
      .task_ready = [](void* rank, node& dependent) { of(rank).task_ready(dependent); },
      .wake = [](void* rank, wait_record& record) { of(rank).waiters_.wake(record); },
      .announce = [](void* rank, const link& l, node& n) { of(rank).supply_.tell_value(l.rank, l.index, n); },
      .input_arrived = [](void* rank, task* t, node& input) { of(rank).stage_input_arrived(t, input); },
      .send_call = [](void* rank, node& handle, task* call) { of(rank).send_call(handle, call); },
      .pulled =
          [](void* rank, const link& l, node& n) {
            engine& e = of(rank);
            const reference_part::node_place home = e.refs_.home_of(n);
            e.fetches_.on_pull(l.rank, pull_message{home.rank, home.index, l.index, l.count, 0});
          },
      .send_after = [](void* rank, const link& l, node& input) { of(rank).send_after(l, input); },
      .inherit = [](void* rank, node& heir_of) { of(rank).recovery_.inherit(heir_of); },
      .await_return =
          [](void* rank, std::uint32_t of_family) { of(rank).recovery_.await_return(of_family); },
      .stop_timer = [](void* rank, node& n) { of(rank).attempts_.stop_timer(n); },
      .free_task = [](void* rank, task* t) { of(rank).records_.free(t); },
  };
}

MANTA_DECL engine::supply_part::hooks engine::hooks_of_supply() {
  return {this, [](void* rank, std::uint32_t from, const pull_message& m) {
            static_cast<engine*>(rank)->fetches_.on_pull(from, m);
          }};
}

MANTA_DECL engine::fetch_part::hooks engine::hooks_of_fetches() {
  return {this, [](void* rank, node& n) { return static_cast<engine*>(rank)->recovery_.await_heir(n); }};
}

MANTA_DECL engine::recovery_part::hooks engine::hooks_of_recovery() {
  return {this, [](void* rank, node& n) { static_cast<engine*>(rank)->start_when_possible(n); }};
}

MANTA_DECL engine::attempt_part::hooks engine::hooks_of_attempts() {
  return {this, [](void* rank, node& n) { static_cast<engine*>(rank)->task_ready(n); },
          [](void* rank, node& n, const store::failure_ptr& why, std::uint16_t flags) {
            static_cast<engine*>(rank)->withdraw(n, why, flags);
          }};
}

}  // namespace manta::exec
