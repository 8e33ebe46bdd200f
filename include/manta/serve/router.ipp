// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>

#include "manta/base/text.hpp"
#include "manta/cancel.hpp"
#include "manta/serve/router.hpp"

namespace manta::serve::detail {

/// Updates and new settings come one after the other.
class router::turn {
 public:
  explicit turn(router& r) : router_(r) {
    while (r.is_changing_) r.changes_.wait();
    if (this_task::stop_requested())  // an update whose caller has gone must not come after the next one's
      throw cancelled(base::text("manta: serve: a change of '{}' was taken back", r.dispatcher_.told().name));
    r.is_changing_ = true;
  }
  ~turn() {
    router_.is_changing_ = false;
    router_.changes_.notify();
  }
  turn(const turn&) = delete;

 private:
  router& router_;
};

MANTA_DECL future<future<stream_place>> ask_place(const actor<router>& at, const stream_key& key) {
  return async<&router::place_of>(at, key);
}

MANTA_DECL router::router(const options& o, std::string signature) : signature_(std::move(signature)), dispatcher_(o) {
  replicas_.keep_away(manta::rank(), false);
}
MANTA_DECL router::~router() = default;

MANTA_DECL void router::begin(recipe how) {
  versions_.open(std::move(how));
  start_heartbeat();
}

/// Without a number of replicas that follows the queue, and without questions for health, nothing is due by itself.
inline void router::start_heartbeat() {
  const options& o = dispatcher_.told();
  if (o.max == 0 && o.health_every.count() == 0) return;
  auto period = std::chrono::milliseconds(1000);
  if (o.max > 0) period = std::min(period, o.down_after / 4);
  if (o.health_every.count() > 0) period = std::min(period, o.health_every);
  heartbeat_ = std::make_unique<heartbeat>([this] { tend(); }, std::max(period, std::chrono::milliseconds(10)));
}

MANTA_DECL queued_request router::asked_by(this_task::stop_token caller, const call_options& o) {
  queued_request asked;
  asked.options = o;
  asked.caller = std::move(caller);
  return asked;
}

/// A request that the canary gets has asked for its version already.
MANTA_DECL call_options router::of_canary(call_options o) {
  o.version = 0;
  return o;
}

MANTA_DECL this_task::stop_token router::begin_call() const {
  rethrow_as<overloaded>();
  rethrow_as<unavailable>();
  rethrow_as<expired>();
  rethrow_as<replica_died>();
  rethrow_as<request_failed>();
  rethrow_as<timed_out>();
  return this_task::get_stop_token();
}

MANTA_DECL void router::run_rows(const actor<router>& self, const call_options& o, const this_task::stop_token& caller,
                                 many_rows& rows) {
  struct slice {
    std::uint64_t number;
    std::shared_ptr<waiting_entry> its;
    std::size_t size;
    future<void> ended;
  };
  rows_under_way whole(dispatcher_, asked_by(caller, o));
  std::deque<slice> slices;
  try {
    while (rows.left() > 0 || !slices.empty()) {
      if (rows.left() > 0 && slices.size() < whole.sizes().at_once()) {
        queued_request asked = asked_by(caller, o);
        asked.is_part = asked.alone = true;
        const std::size_t size = std::min(rows.left(), whole.sizes().next());
        const std::uint64_t number = next_slice_++;
        const auto its = slices_.emplace(number, rows.take_slice(std::move(asked), size)).first->second;
        slices.push_back({number, its, size, async<&router::run_slice>(self, number)});
        continue;
      }
      const slice first = slices.front();
      if (!wait_while_wanted(first.ended, caller)) whole.give_up();
      first.ended.get();
      whole.answered(first.size, rows.add_answers(*first.its));
      slices.pop_front();
    }
  } catch (...) {
    for (const slice& each : slices) {
      cancel(each.ended);
      slices_.erase(each.number);
    }
    throw;
  }
  whole.end();
}

MANTA_DECL void router::run_slice(std::uint64_t number) {
  const auto found = slices_.extract(number);
  if (found.empty()) return;  // nobody waits for it any more
  waiting_entry& mine = *found.mapped();
  mine.caller = begin_call();
  flow_.run(mine);
  if (mine.failure) std::rethrow_exception(mine.failure);
}

// --- changes

MANTA_DECL void router::change(double weight, const std::function<recipe()>& how) {
  const turn mine(*this);
  if (!(weight > 0 && weight <= 1))
    throw error(base::text(".weight is {}; wanted is a part of the requests, above 0 and at most 1", weight));
  if (weight < 1) return versions_.start_canary(weight, how());
  versions_.update(how());
  end_version();
}

MANTA_DECL void router::update_again(double weight) {
  change(weight, [this] { return versions_.present(); });
}

MANTA_DECL void router::weigh(double weight) { versions_.weigh(weight); }

MANTA_DECL void router::promote() {
  const turn mine(*this);
  versions_.promote();
  end_version();
}

MANTA_DECL void router::rollback() {
  const turn mine(*this);
  versions_.rollback();
}

MANTA_DECL void router::reconfigure(const settings& s) {
  const turn mine(*this);
  versions_.reconfigure(s);
}

inline void router::end_version() {
  flow_.dispatch();
  versions_.end_canary();
}

// --- questions, and the end

MANTA_DECL std::vector<placed_replica> router::ready_replicas() { return replicas_.ready(); }

MANTA_DECL serve::status router::status() {
  flow_.adapt();
  flow_.collect_started();
  dispatcher_.drop_all_unwanted();
  flow_.end_unwanted();
  serve::status s = dispatcher_.report();
  s.wanted = dispatcher_.wanted();
  s.change = updates_.words();
  if (!replicas_.problem().empty() && s.replicas == 0) s.ready = false;
  for (const std::string& why : {replicas_.problem(), replicas_.stuck_in_words()}) {
    if (s.problem.empty()) s.problem = why;
  }
  versions_.add_canary_to(s);
  return s;
}

MANTA_DECL void router::drain() {
  dispatcher_.drain();
  versions_.drain_canary();
  const auto end = queued_request::clock::now() + dispatcher_.told().drain_time;
  while (dispatcher_.outstanding() > 0 && changes_.wait_until(end)) {
  }
}

MANTA_DECL void router::keep_away(int rank, bool in_any_case) {
  replicas_.keep_away(rank, in_any_case);
  versions_.keep_canary_away(rank, in_any_case);
  const turn mine(*this);
  try {
    updates_.relocate();
  } catch (const error& e) {
    std::fprintf(stderr, "manta: serve: the deployment '%s': its replicas stay beside the server on rank %d: %s\n",
                 dispatcher_.told().name.c_str(), rank, e.what());
  }
}

MANTA_DECL void router::check() {
  health_.check();
  flow_.adapt();
  versions_.check_canary();
}

inline void router::tend() {
  flow_.collect_started();
  health_.look_after();
  flow_.adapt();
  flow_.dispatch();
}

// --- of handles

/// The name of a deployment's router among the actors.
inline std::string router_name(const std::string& name) { return "serve/" + name; }

/// No rank meets what a deployment asks for: says which deployment.
[[noreturn]] inline void refuse_ranks(const std::string& name, const char* what, const std::string& why) {
  throw unschedulable("manta: serve: the deployment '" + name + "' " + what + ": " +
                      why.substr(why.starts_with("manta: ") ? 7 : 0));
}

MANTA_DECL actor<router> start_router(const options& o, const char* signature) {
  try {
    return spawn<router>(
        {.name = o.name.empty() ? "" : router_name(o.name), .rank = o.router_rank, .concurrency = 1 << 20}, o,
        std::string(signature));
  } catch (const unschedulable& e) {
    refuse_ranks(o.name, "cannot start", e.what());
  } catch (const name_error&) {
    throw error("manta: serve: there is a deployment named '" + o.name +
                "' already; choose another .name, or change that one by "
                "serve::update. The name is free when the last handle of that one has gone");
  }
}

MANTA_DECL actor<router> find_router(const std::string& name, const char* signature, std::string_view shown) {
  try {
    actor<router> found = find_actor<router>(router_name(name));
    if (async<&router::signature>(found).get() == signature) return found;
  } catch (const name_error&) {
    throw error("manta: serve::find: there is no deployment named '" + name +
                "'; it was not deployed yet, or its last handle has gone");
  }
  throw error("manta: serve::find: the deployment '" + name + "' is none of " + std::string(shown) +
              "; ask for it with the requests and answers that it was deployed with");
}

MANTA_DECL void wait_for_start(const future<void>& started, const std::string& name, const char* what) {
  const auto caller = this_task::get_stop_token();
  if (!wait_while_wanted(started, caller))
    throw cancelled(base::text("manta: serve: the deployment '{}' {}: this task is to stop", name, what));
  try {
    started.get();
  } catch (const task_failed& e) {
    if (e.details().type == "manta::unschedulable") refuse_ranks(name, what, e.details().what);
    throw error("manta: serve: the deployment '" + name + "' " + what + ": " + e.details().what);
  }
}

MANTA_DECL serve::status status_of(const actor<router>& r) { return async<&router::status>(r).get(); }
MANTA_DECL void drain(const actor<router>& r) { async<&router::drain>(r).get(); }
MANTA_DECL void check(const actor<router>& r) { async<&router::check>(r).get(); }
MANTA_DECL void reconfigure(const actor<router>& r, const std::string& name, settings s) {
  wait_for_start(async<&router::reconfigure>(r, std::move(s)), name, "keeps its settings");
}
MANTA_DECL void weigh_canary(const actor<router>& r, const std::string& name, double weight) {
  wait_for_start(async<&router::weigh>(r, weight), name, "keeps its canary's weight");
}
MANTA_DECL void update_again(const actor<router>& r, const std::string& name, double weight) {
  wait_for_start(async<&router::update_again>(r, weight), name, "keeps its version");
}
MANTA_DECL void promote(const actor<router>& r, const std::string& name) {
  wait_for_start(async<&router::promote>(r), name, "keeps its version");
}
MANTA_DECL void rollback(const actor<router>& r, const std::string& name) {
  wait_for_start(async<&router::rollback>(r), name, "keeps its version");
}

}  // namespace manta::serve::detail
