// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"
#include "manta/serve/replica_health.hpp"

namespace manta::serve::detail {

/// The time within which a replica has to answer; 0: nobody has said how long a call may take.
inline std::chrono::milliseconds replica_health::patience() const {
  const options& o = dispatcher_.told();
  if (o.health_timeout.count() > 0) return o.health_timeout;
  if (o.health_every.count() > 0) return 20 * o.health_every;
  return 2 * std::chrono::milliseconds(o.timeout);
}

inline void replica_health::note(std::size_t r, const future<bool>& answer) {
  bool is_well = false;
  try {
    is_well = answer.get();
  } catch (const error&) {  // it has died
  }
  if (!is_well) replicas_.end(r);
}

MANTA_DECL void replica_health::check() {
  std::map<std::size_t, future<bool>> asked;
  for (std::size_t r : dispatcher_.replicas().all_ready()) {
    const auto* const its = replicas_.find(r);
    if (its == nullptr) replicas_.end(r);
    if (its != nullptr) asked.emplace(r, async<&replica::healthy>(*its));
  }
  constexpr std::chrono::milliseconds usual{5'000};
  const bool is_known = patience().count() > 0;
  const clock::time_point end = clock::now() + (is_known ? patience() : usual);
  for (const auto& [r, answer] : asked) {
    if (answer.wait_until(end)) {
      note(r, answer);
    } else if (is_known) {
      replicas_.give_up(r, base::text("a replica has not said within {} ms that it is well", patience().count()));
    }
  }
}

MANTA_DECL void replica_health::look_after() {
  for (std::size_t r : dispatcher_.replicas().all_ready()) {
    if (dispatcher_.replicas().is_idle(r) && replicas_.find(r) == nullptr) replicas_.end(r);
  }
  const auto period = dispatcher_.told().health_every;
  if (period.count() == 0) return;
  while (answered_.ready()) {
    const auto ended = questions_.extract(*answered_.next());
    if (!ended.empty()) note(ended.key(), ended.mapped().answer);
  }
  end_late();
  const auto now = clock::now();
  if (now - asked_ < period) return;
  asked_ = now;
  for (std::size_t r : dispatcher_.replicas().all_ready()) ask(r);
}

inline void replica_health::ask(std::size_t r) {
  const auto* const its = replicas_.find(r);
  if (its == nullptr || questions_.count(r) != 0) return;
  const auto asked = questions_.emplace(r, question{async<&replica::healthy>(*its), clock::now()}).first;
  answered_.add(asked->second.answer, r);
}

inline void replica_health::end_late() {
  for (auto at = questions_.begin(); at != questions_.end();) {
    if (clock::now() - at->second.asked < patience()) {
      ++at;
      continue;
    }
    const std::size_t r = at->first;
    at = questions_.erase(at);
    replicas_.give_up(r, base::text("a replica has not said within {} ms that it is well", patience().count()));
  }
}

}  // namespace manta::serve::detail
