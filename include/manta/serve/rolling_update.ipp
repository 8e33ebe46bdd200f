// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/serve/rolling_update.hpp"

namespace manta::serve::detail {

/// Meanwhile nobody else changes the number of replicas.
class rolling_update::hold {
 public:
  explicit hold(rolling_update& u) : update_(u) { update_.replicas_.hold(true); }
  ~hold() {
    update_.words_.clear();
    update_.replicas_.hold(false);
  }
  hold(const hold&) = delete;

 private:
  rolling_update& update_;
};

/// Takes the first ones out of a list.
inline std::vector<std::size_t> take_first(std::vector<std::size_t>& from, std::size_t count) {
  const auto end = from.begin() + static_cast<std::ptrdiff_t>(std::min(count, from.size()));
  std::vector<std::size_t> taken(from.begin(), end);
  from.erase(from.begin(), end);
  return taken;
}

inline std::size_t rolling_update::wave(std::size_t all) const {
  const double part = dispatcher_.told().wave * static_cast<double>(all) + 1e-9;
  return std::max<std::size_t>(1, static_cast<std::size_t>(part));
}

inline rolling_update::numbers rolling_update::of_version(int version) const {
  numbers all = dispatcher_.replicas().all_ready();
  std::erase_if(all, [&](std::size_t r) { return dispatcher_.replicas().version_of(r) != version; });
  return all;
}

MANTA_DECL void rolling_update::run(replica_version next, std::vector<placed_replica> there) {
  const hold mine(*this);
  const replica_version before = replicas_.current();
  next.number = dispatcher_.version() + 1;
  dispatcher_.set_batched(before.kind.is_batched || next.kind.is_batched);
  try {
    take_over(next, std::move(there));
  } catch (...) {
    go_back(before, next.number);
    throw;
  }
  replicas_.set_current(std::move(next));
}

inline void rolling_update::take_over(const replica_version& next, std::vector<placed_replica> there) {
  const auto caller = this_task::get_stop_token();
  numbers old = dispatcher_.replicas().all_ready();
  const std::size_t all = std::max<std::size_t>(1, old.size());
  const std::size_t missing = all - std::min(all, there.size());
  for (std::size_t done = 0; done < missing;) {
    words_ = base::text("version {}: {} of {} replicas", next.number, done, all);
    const std::size_t count = std::min(wave(all), missing - done);
    const numbers going = take_first(old, count);
    if (going.empty()) {
      replicas_.start_all(std::vector<int>(count, -1), next, caller);
    } else {
      replace(going, next, caller);
    }
    done += going.empty() ? count : going.size();
  }
  words_ = base::text("version {}: the former one ends", next.number);
  for (placed_replica& each : there) replicas_.adopt(std::move(each), next.number);
  has_room_();
  end_all(old);
}

/// Some replicas have the version whose others could not be made.
inline void rolling_update::go_back(const replica_version& before, int failed) {
  words_ = base::text("back from version {}, which cannot start", failed);
  numbers fresh = of_version(failed);
  const std::size_t all = dispatcher_.replicas().all_ready().size();
  while (!fresh.empty()) {
    const numbers going = take_first(fresh, wave(all));
    try {
      replace(going, before);
    } catch (const error& e) {
      throw error(
          base::text("some replicas have the new version, whose others cannot start, and the former one cannot "
                     "start any more: {}",
                     e.what()));
    }
  }
  dispatcher_.set_batched(before.kind.is_batched);
}

/// Others of this version in the places of these. If one cannot start, or `caller` does not want them any more before
/// they have, these stay.
inline void rolling_update::replace(const numbers& going, const replica_version& by,
                                    const this_task::stop_token& caller) {
  std::vector<int> at = replicas_.places().free(replicas_.ranks(), going.size());
  const bool is_beside = at.size() == going.size();
  const bool others_answer = dispatcher_.replicas().all_ready().size() > going.size();
  if (!is_beside) {
    if (others_answer) {
      retire(going, true);
      wait_until_idle(going);
    }
    at.clear();
    for (const std::size_t r : going) at.push_back(place_of(r));
  }
  if (!is_beside && replicas_.places().are_exclusive()) {  // the new ones need what these have
    const replica_version before = replicas_.current();
    end_all(going);
    try {
      replicas_.start_all(at, by, caller);
    } catch (...) {
      replicas_.start_all(at, before);
      has_room_();
      throw;
    }
    return has_room_();
  }
  try {
    replicas_.start_all(at, by, caller);
  } catch (...) {
    retire(going, false);
    has_room_();
    throw;
  }
  has_room_();
  end_all(going);
}

/// The rank of a replica, for the one that follows; -1: another one, for it has a server now, or a call that
/// does not return.
inline int rolling_update::place_of(std::size_t r) {
  const int rank = dispatcher_.replicas().rank_of(r);
  if (replicas_.find(r) == nullptr || replicas_.places().is_busy(rank)) return -1;
  if (!dispatcher_.replicas().is_retired(r) || dispatcher_.replicas().is_idle(r)) return rank;
  replicas_.give_up(
      r, base::text("a call has not ended within {} ms of an update", dispatcher_.told().drain_time.count()));
  return -1;
}

inline void rolling_update::retire(const numbers& going, bool retired) {
  for (const std::size_t r : going) dispatcher_.replicas().retire(r, retired);
}

inline void rolling_update::wait_until_idle(const numbers& going) {
  const auto end = queued_request::clock::now() + dispatcher_.told().drain_time;
  for (const std::size_t r : going) {
    while (!dispatcher_.replicas().is_idle(r) && changes_.wait_until(end)) {
    }
  }
}

/// After their last answers.
inline void rolling_update::end_all(const numbers& going) {
  retire(going, true);
  wait_until_idle(going);
  for (const std::size_t r : going) {
    (void)place_of(r);  // one whose call does not return is given up
    replicas_.end(r);
  }
}

MANTA_DECL void rolling_update::relocate() {
  const hold mine(*this);
  numbers going = replicas_.misplaced();
  while (!going.empty()) {
    if (replicas_.places().free({}, 1).empty()) return;  // there is no better place
    words_ = base::text("{} replicas leave a rank with a server", going.size());
    replace_elsewhere(take_first(going, wave(dispatcher_.replicas().all_ready().size())));
  }
}

/// On ranks without a server, where others of the deployment may live.
inline void rolling_update::replace_elsewhere(const numbers& going) {
  replicas_.start_all(std::vector<int>(going.size(), -1), replicas_.current());
  has_room_();
  end_all(going);
}

}  // namespace manta::serve::detail
