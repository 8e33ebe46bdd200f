// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What waits to begin, while checkpoints are on their way.
#include <doctest/doctest.h>

#include "manta/tune/jobs.hpp"

namespace tune = manta::tune;

namespace {

/// Trial t goes on from the checkpoint of another one, or from its own.
tune::job goes_on(tune::trial_number t, tune::trial_number from) {
  tune::job j;
  j.trial = t;
  j.from = from;
  return j;
}
/// The trials that begin, in their order.
std::vector<tune::trial_number> begun(tune::detail::jobs& jobs) {
  std::vector<tune::trial_number> all;
  while (const auto j = jobs.take([](const tune::job&) { return true; })) all.push_back(j->trial);
  return all;
}
using trials = std::vector<tune::trial_number>;

}  // namespace

TEST_CASE("a trial goes on when the checkpoint has come that it goes on from") {
  tune::detail::jobs jobs;
  jobs.await(1);
  jobs.add(goes_on(1, 1));
  jobs.add(goes_on(2, 2));
  CHECK(begun(jobs) == trials{2});
  jobs.await_no_more(1);
  jobs.release();
  CHECK(begun(jobs) == trials{1});
}

TEST_CASE("a trial that exploits another one begins when its former place has left it, and before its source goes on") {
  tune::detail::jobs jobs;
  jobs.await(3);  // its former place has not told its checkpoint yet
  jobs.add(goes_on(3, 5));
  jobs.add(goes_on(4, 4));
  jobs.add(goes_on(5, 5));
  CHECK(begun(jobs) == trials{4});
  jobs.release();
  CHECK(begun(jobs).empty());
  jobs.await_no_more(3);
  jobs.release();
  CHECK(begun(jobs) == trials{3, 5});
}

TEST_CASE("a job that is held for its place is taken when its checkpoint has come") {
  tune::detail::jobs jobs;
  jobs.await(2);
  jobs.hold(7, goes_on(1, 2));
  CHECK(jobs.release().empty());
  jobs.await_no_more(2);
  const auto free = jobs.release();
  REQUIRE(free.size() == 1);
  CHECK(free[0].place == 7);
  CHECK(free[0].what.trial == 1);
  CHECK(jobs.release().empty());
}
