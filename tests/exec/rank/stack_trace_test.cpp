// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "manta/exec/rank/stack_trace.hpp"

#include <doctest/doctest.h>

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <thread>

using manta::base::code_place;
using manta::exec::stack_trace;

namespace {

std::atomic<bool> has_begun{false}, has_to_end{false};
std::atomic<const void*> frame{nullptr};

[[gnu::noinline]] void compute() {
  has_begun = true;
  while (!has_to_end) {
  }
}
[[gnu::noinline]] int task_function() {
  compute();
  return has_to_end ? 1 : 0;
}
[[gnu::noinline]] void around() {
  const int mark = 0;
  frame = &mark;
  task_function();
  CHECK(mark == 0);
}

code_place own(const char* name) { return {name, "program", true}; }
code_place library(const char* name) { return {name, "libm.so", false}; }

bool has(const std::vector<std::string>& names, const char* name) { return std::ranges::count(names, name) == 1; }

}  // namespace

TEST_CASE("the stack of a thread ends at the frame that is named") {
#ifdef __SANITIZE_THREAD__
  MESSAGE("left out: the thread sanitizer keeps signals back from a thread that calls nothing");
  return;
#endif
  stack_trace::watch();
  std::thread busy(&around);
  while (!has_begun) std::this_thread::yield();
  const std::vector<std::string> all = stack_trace::of(busy.native_handle(), nullptr);
  const std::vector<std::string> task = stack_trace::of(busy.native_handle(), frame);
  has_to_end = true;
  busy.join();
  CHECK(has(all, "compute()"));
  CHECK(has(all, "around()"));  // two looks may find compute() in functions of std::atomic or not, so sizes say nothing
  CHECK(has(task, "compute()"));
  CHECK_FALSE(has(task, "around()"));
  REQUIRE(!task.empty());
  CHECK(task.back() == "task_function()");
}

TEST_CASE("a thread that takes no signals has no stack, and nobody waits for it for long") {
  stack_trace::watch();
  std::atomic<bool> is_blocked{false}, ends{false};
  std::thread deaf([&] {
    sigset_t every;
    ::sigfillset(&every);
    ::pthread_sigmask(SIG_SETMASK, &every, nullptr);
    is_blocked = true;
    while (!ends) std::this_thread::yield();
  });
  while (!is_blocked) std::this_thread::yield();
  CHECK(stack_trace::of(deaf.native_handle(), nullptr).empty());
  ends = true;
  deaf.join();
}

TEST_CASE("manta's own functions are left out, and of a library all but the one that was called") {
  const auto shown = [](std::vector<code_place> all) { return stack_trace::shown(std::move(all)); };
  CHECK(shown({own("f(int)"), own("g()"), own("std::apply<x>"), own("manta::detail::run(y)"),
               own("manta::exec::runner::invoke(z)"), own("main")}) == std::vector<std::string>{"f(int)", "g()"});
  CHECK(shown({own("manta::exec::biased_lock::yield() const"), own("manta::async<f>()"), own("g()")}) ==
        std::vector<std::string>{"manta::async<f>()", "g()"});
  CHECK(shown({library("poll"), library("progress"), library("PMPI_Allreduce"), own("member(manta::team)")}) ==
        std::vector<std::string>{"PMPI_Allreduce", "member(manta::team)"});
  CHECK(shown({library("a"), library("b")}) == std::vector<std::string>{"a", "b"});  // the task is in a library
  CHECK(shown({}).empty());
}

TEST_CASE("a deep stack shows both its ends, and a long name its begin") {
  std::vector<code_place> all;
  for (int i = 0; i < 50; ++i) all.push_back(own(("f" + std::to_string(i)).c_str()));
  all[0].function = std::string(500, 'x');
  const std::vector<std::string> names = stack_trace::shown(all);
  CHECK(names.size() == stack_trace::most_names);
  CHECK(names[0] == std::string(88, 'x') + "..");
  CHECK(names[4] == "..");
  CHECK(names.back() == "f49");
}
