// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/state/current_task.hpp: whose the rank's thread is, through tasks that wait,
// begin on the stack of others and end.
#include <doctest/doctest.h>

#include "manta/exec/state/current_task.hpp"

using manta::exec::current_task;
using manta::exec::running_task;
using manta::graph::request;

namespace {

int threads = 3;  // of a library
const bool is_added = manta::exec::add_thread_setting({[] { return threads; }, [](int n) { threads = n; }});

struct rank {
  manta::base::launcher::notes page;
  current_task current{page};
};

}  // namespace

TEST_CASE("outside of tasks it is the driver, whose id is that of the run") {
  rank r;
  CHECK(r.current.is_driver());
  r.current.begin_run(17);
  CHECK(r.current.is_driver());
  CHECK(r.current->id == 17);
  CHECK(r.page.task == 17);
  CHECK(r.page.unfinished == 1);
  CHECK(r.current->name() == "the driver");
  r.current.end_run();
  CHECK(r.page.task == 0);
  CHECK(r.page.unfinished == 0);
}

TEST_CASE("a task that begins on the stack of another gives the thread back when it ends, also by an exception") {
  rank r;
  r.current.begin_run(1);
  running_task outer{2, 0}, inner{3, 0};
  {
    const current_task::scope of_outer(r.current, outer);
    try {
      const current_task::scope of_inner(r.current, inner);
      CHECK(&r.current.get() == &inner);
      CHECK(r.page.task == 3);
      throw 1;
    } catch (int) {
    }
    CHECK(&*r.current == &outer);
    CHECK(r.page.task == 2);
  }
  CHECK(r.current.is_driver());
  CHECK(r.page.task == 1);
}

TEST_CASE("a task that waits goes on with the numbers of threads that it set") {
  CHECK(is_added);
  rank r;
  r.current.begin_run(1);
  request two, four;
  two.cpus = 2;
  four.cpus = 4;
  running_task first{2, 0, 0, &two}, second{3, 0, 0, &four};
  {
    const current_task::scope of_first(r.current, first);
    CHECK(threads == 2);
    r.current.leave();  // it waits
    CHECK(r.current.is_driver());
    {
      const current_task::scope of_second(r.current, second);
      CHECK(threads == 4);
    }
    CHECK(threads == 3);
    r.current.resume(first);
    CHECK(threads == 2);
    {
      const current_task::scope of_second(r.current, second);  // on the stack of the first
      CHECK(threads == 4);
    }
    CHECK(threads == 2);
    CHECK(r.page.task == 2);
  }
  CHECK(threads == 3);
}
