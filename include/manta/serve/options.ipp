// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of options.hpp and status.hpp: how options and status travel between ranks.
#pragma once

#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>

#include "manta/serve/options.hpp"
#include "manta/serve/status.hpp"

namespace manta::serve {
namespace detail {

/// By its place in memory: the constructor here would make each program that serves prepare for child processes.
MANTA_DECL void set_isolated(isolate_option& option, bool on) {
  static_assert(sizeof option == sizeof on && std::is_trivially_copyable_v<isolate_option>);
  std::memcpy(static_cast<void*>(&option), &on, sizeof on);
}

/// A duration, as a number.
template <class Archive, class Duration>
void pass_duration(Archive& archive, Duration& duration) {
  std::int64_t count = duration.count();
  archive(count);
  duration = Duration(count);
}
template <class Archive>
void pass_options(Archive& archive, options& o) {
  archive(o.name, o.replicas, o.max_batch, o.max_queue, o.idempotent, o.min, o.max, o.cpus, o.gpus, o.node);
  archive(o.router_rank, o.max_ongoing, o.wave, o.from_zero);
  pass_duration(archive, o.wait);
  for (auto* const each : {&o.down_after, &o.health_every, &o.health_timeout, &o.drain_time})
    pass_duration(archive, *each);
  std::chrono::milliseconds timeout = o.timeout;
  pass_duration(archive, timeout);
  o.timeout = call_timeout::from_number(timeout);
  bool isolate = o.isolate;
  archive(isolate);
  set_isolated(o.isolate, isolate);
  std::map<std::string, double> amounts;
  for (const auto& q : o.resources) amounts[q.name] = o.resources.amount(q.name);
  archive(amounts);
  o.resources = amounts;
}
template <class Archive>
void pass_call_options(Archive& archive, call_options& o) {
  archive(o.priority, o.version);
  pass_duration(archive, o.deadline);
}

MANTA_DECL void refuse_empty_handle(const std::string& which) {
  throw error(which +
              " is empty: it was declared and never assigned; give it what serve::deploy or serve::find returns");
}
}  // namespace detail

MANTA_DECL void options::serialize(wire::writer& archive) { detail::pass_options(archive, *this); }
MANTA_DECL void options::serialize(wire::reader& archive) { detail::pass_options(archive, *this); }
MANTA_DECL void call_options::serialize(wire::writer& archive) { detail::pass_call_options(archive, *this); }
MANTA_DECL void call_options::serialize(wire::reader& archive) { detail::pass_call_options(archive, *this); }
MANTA_DECL void status::serialize(wire::writer& archive) { serialize<wire::writer>(archive); }
MANTA_DECL void status::serialize(wire::reader& archive) { serialize<wire::reader>(archive); }

}  // namespace manta::serve
