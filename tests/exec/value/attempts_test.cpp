// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/value/attempts.hpp: which failed tasks run again, when, and which are too
// late.
#include <doctest/doctest.h>

#include <vector>

#include "../../support/noting_rank.hpp"

using namespace manta::exec;
namespace store = manta::store;
using kind = enum store::failure::kind;

namespace {

bool agrees = true;
int asked = 0;

using rank = noting_rank;

store::failure_ptr failure(kind what = kind::task) {
  store::failure f;
  f.kind = what;
  f.message = "it broke";
  return store::share(std::move(f));
}

manta::graph::request* with_retries(int retries) {
  auto* const wanted = new manta::graph::request;
  wanted->retries = retries;
  return wanted;
}

}  // namespace

TEST_CASE("a task runs again as often as it may, unless the run stops") {
  rank r(1);
  node& n = r.submit(7, with_retries(2));
  for (const std::size_t attempt : {std::size_t{1}, std::size_t{2}}) {
    REQUIRE(r.attempts.may_retry(n));
    CHECK(r.attempts.judge(n, failure()));
    CHECK(r.ready.size() == attempt);
    CHECK(n.record->attempt == attempt);
  }
  CHECK_FALSE(r.attempts.may_retry(n));
  node& other = r.submit(8, with_retries(1));
  r.its.run.phase.stop();
  CHECK_FALSE(r.attempts.may_retry(other));
}

TEST_CASE("failures that would come again are not tried again") {
  rank r(1);
  for (const kind final : {kind::cancelled, kind::timeout, kind::unschedulable, kind::serialization}) {
    node& n = r.submit(7, with_retries(2));
    CHECK_FALSE(r.attempts.judge(n, failure(final)));
  }
  CHECK(r.ready.empty());
}

TEST_CASE("the user's predicate decides at the top level") {
  rank r(1);
  for (const bool again : {true, false}) {
    agrees = again;
    asked = 0;
    manta::graph::request* const wanted = with_retries(2);
    wanted->retry.only_if = [](const manta::task_failed&) {
      ++asked;
      return agrees;
    };
    node& n = r.submit(7, wanted);
    r.ready.clear();
    r.attempts.retry_or_fail_later(n, failure());
    CHECK(asked == 0);
    CHECK(r.attempts.has_to_judge());
    r.attempts.judge_failures();
    CHECK(asked == 1);
    CHECK_FALSE(r.attempts.has_to_judge());
    CHECK(r.ready.size() == (again ? 1 : 0));
    CHECK((n.state == state::pending) == again);
  }
}

TEST_CASE("a task with a pause waits for its clock, and is withdrawn if nothing more is started") {
  rank r(1);
  manta::graph::request* const wanted = with_retries(2);
  wanted->retry.after = 1'000'000;
  node& n = r.submit(7, wanted);
  CHECK(r.attempts.judge(n, failure()));
  CHECK(r.ready.empty());
  CHECK(r.attempts.has_timers());
  while (r.ready.empty()) r.attempts.look_at_clock();
  CHECK_FALSE(r.attempts.has_timers());
  manta::graph::request* const later = with_retries(2);
  later->retry.after = 1'000'000'000'000;
  node& resting = r.submit(8, later);
  CHECK(r.attempts.judge(resting, failure()));
  r.attempts.withdraw_resting(failure(kind::cancelled));
  REQUIRE(r.withdrawn.size() == 1);
  CHECK(r.withdrawn[0] == resting.index);
  CHECK(resting.state == state::failed);
}

TEST_CASE("a task whose deadline is over does not start, and one that waits is withdrawn") {
  rank r(1);
  for (const bool is_late : {false, true}) {
    auto* const wanted = new manta::graph::request;
    wanted->deadline = 5'000'000;
    wanted->name = "step";
    wanted->due = manta::base::now_ns() + (is_late ? -1 : 1'000'000'000'000);
    node& n = r.submit(7, wanted);
    r.attempts.start_timer(n, wanted->due, 0);
    CHECK(r.attempts.overdue(n) == is_late);
    CHECK((n.state == state::failed) == is_late);
    if (!is_late) CHECK_FALSE(r.attempts.has_timers());
  }
  auto* const wanted = new manta::graph::request;
  wanted->deadline = 1;
  wanted->name = "step";
  node& waits = r.submit(8, wanted);
  r.attempts.start_timer(waits, manta::base::now_ns(), 0);
  while (r.withdrawn.empty()) r.attempts.look_at_clock();
  CHECK(store::failure_of(waits)->kind == kind::timeout);
}
