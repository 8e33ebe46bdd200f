// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a run counts of itself: programs with known numbers, on any number of ranks.
#include <doctest/doctest.h>

#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <manta/statistics.hpp>
#include <numeric>
#include <stdexcept>

#include "support/world.hpp"

using manta::testing::in_world;

namespace {

int fib(int n) {
  if (n < 2) return n;
  const auto a = manta::async<&fib>(n - 1), b = manta::async<&fib>(n - 2);
  return a.get() + b.get();
}
int square(int n) { return n * n; }
int add(int a, int b) { return a + b; }
int odd_fails(int n) {
  if (n % 2 != 0) throw std::runtime_error("odd");
  return n;
}
int fails_once(int n) {
  if (manta::this_task::attempt() == 0) throw std::runtime_error("the first attempt");
  return n;
}
int spin(int milliseconds) {
  const std::int64_t end = manta::base::now_ns() + std::int64_t{milliseconds} * 1'000'000;
  while (manta::base::now_ns() < end) {
  }
  return milliseconds;
}
int waits_for_spin(int n) { return manta::async<&spin>(50).get() + n; }
/// What statistics_now says in a task.
std::string ask_in_task() {
  try {
    (void)manta::statistics_now();
  } catch (const manta::error& e) {
    return e.what();
  }
  return "";
}
int process_of_rank() { return ::getpid(); }
int raises_signal() {
  std::raise(SIGUSR2);
  return 1;
}
int member(manta::team team, int n) { return team.rank() == 0 ? n : 0; }

class counter {
 public:
  int add(int n) { return sum_ += n; }

 private:
  int sum_ = 0;
};

/// Is this the function's name, with or without its namespace?
bool is_named(const manta::function_statistics& f, const std::string& name) {
  return f.name == name || f.name.ends_with("::" + name);
}
/// The row of the function with this name; an empty one if there is none.
manta::function_statistics row(const manta::statistics& s, const std::string& name) {
  for (const manta::function_statistics& f : s.functions) {
    if (is_named(f, name)) return f;
  }
  return {};
}

}  // namespace

TEST_CASE("tasks that make tasks are counted once each") {
  in_world([] {
    CHECK(manta::async<&fib>(20).get() == 6765);
    const manta::function_statistics f = row(manta::statistics_now(), "fib");
    CHECK(f.tasks == 21'891);
    CHECK(f.failed == 0);
    CHECK(f.durations.count() == 21'891);
    CHECK(f.seconds > 0);
  });
}

TEST_CASE("failed, repeated and cancelled tasks are counted apart") {
  in_world([] {
    std::vector<manta::future<int>> all;
    for (int i = 0; i < 10; ++i) all.push_back(manta::async<&odd_fails>(i));
    for (auto& f : all) f.wait();
    for (int i = 1; i < 10; i += 2) CHECK_THROWS(all[static_cast<std::size_t>(i)].get());
    CHECK(manta::async<&fails_once>({.retries = 2}, 7).get() == 7);
    const auto dependent = manta::async<&add>(all[1], 1);
    CHECK_THROWS(dependent.get());
    const manta::statistics s = manta::statistics_now();
    CHECK(row(s, "odd_fails").tasks == 5);
    CHECK(row(s, "odd_fails").failed == 5);
    CHECK(row(s, "odd_fails").failure == "odd");
    CHECK(row(s, "odd_fails").failure_count == 5);
    CHECK(row(s, "fails_once").tasks == 1);
    CHECK(row(s, "fails_once").retried == 1);
    CHECK(row(s, "fails_once").failed == 0);
    CHECK(row(s, "add").cancelled == 1);
  });
}

TEST_CASE("calls of actors and tasks on several ranks are counted once") {
  in_world([] {
    auto actor = manta::spawn<counter>({.name = "the counter"});
    for (int i = 1; i <= 100; ++i) (void)manta::async<&counter::add>(actor, 1);
    CHECK(manta::async<&counter::add>(actor, 0).get() == 100);
    const int ranks = std::min(2, manta::size());
    CHECK(manta::async<&member>({.ranks = ranks}, 5).get() == 5);
    const manta::statistics s = manta::statistics_now();
    CHECK(row(s, "counter::add").tasks == 101);
    CHECK(row(s, "member").tasks == 1);
    REQUIRE(!s.actors.empty());
    CHECK(s.actors[0].name == "the counter");
    CHECK(s.actors[0].calls == 101);
  });
}

TEST_CASE("values that go from task to task are edges") {
  in_world([] {
    std::vector<manta::future<int>> sums;
    for (int i = 0; i < 10; ++i) {
      const auto a = manta::async<&square>(i), b = manta::async<&square>(i + 1);
      sums.push_back(manta::async<&add>(a, b));
    }
    for (auto& f : sums) f.wait();
    const manta::statistics s = manta::statistics_now();
    std::uint64_t count = 0, bytes = 0;
    for (const manta::edge_statistics& e : s.edges) {
      if (e.from < 0 || e.to < 0) continue;
      if (!is_named(s.functions[static_cast<std::size_t>(e.from)], "square")) continue;
      CHECK(is_named(s.functions[static_cast<std::size_t>(e.to)], "add"));
      count += e.count;
      bytes += e.bytes;
    }
    CHECK(count == 20);
    CHECK(bytes == 20 * sizeof(int));
  });
}

TEST_CASE("who submits what is counted, by tasks, the driver and calls of actors") {
  in_world([] {
    for (int i = 0; i < 5; ++i) manta::async<&waits_for_spin>(1).wait();
    auto actor = manta::spawn<counter>();
    for (int i = 0; i < 3; ++i) manta::async<&counter::add>(actor, 1).wait();
    const manta::statistics s = manta::statistics_now();
    const auto count = [&](const char* by, const char* function) {
      std::uint64_t sum = 0;
      for (const manta::edge_statistics& e : s.children) {
        const bool is_by = e.from < 0 ? *by == 0 : is_named(s.functions[static_cast<std::size_t>(e.from)], by);
        if (is_by && e.to >= 0 && is_named(s.functions[static_cast<std::size_t>(e.to)], function)) sum += e.count;
      }
      return sum;
    };
    CHECK(count("", "waits_for_spin") == 5);
    CHECK(count("waits_for_spin", "spin") == 5);
    CHECK(count("", "counter::add") == 3);
    const std::string text = manta::state();
    CHECK_MESSAGE(text.find("waits_for_spin: 5 ") != std::string::npos, text);
    CHECK_MESSAGE(text.find("  14 done, 0 failed") != std::string::npos,
                  text);  // on whatever ranks they were submitted
  });
}

TEST_CASE("the status file counts the tasks that tasks have submitted") {
  const manta::testing::folder f;
  manta::runtime_options options;
  options.status_file = f.path + "/status.json";
  in_world(options, [] {
    CHECK(manta::async<&fib>(7).get() == 13);
    CHECK_THROWS(manta::async<&odd_fails>(1).get());
  });
  if (manta::testing::world_rank() != 0) return;
  const std::string text = manta::testing::text_of(f.path + "/status.json");
  CHECK_MESSAGE(text.find(R"("done":41,"failed":1,)") != std::string::npos, text);
}

TEST_CASE("the times of all states of a rank are the length of its run") {
  in_world([] {
    std::vector<manta::future<int>> all;
    for (int i = 0; i < 8; ++i)
      all.push_back(manta::async<&spin>({.name = i == 3 ? "the long one" : ""}, i == 3 ? 60 : 10));
    for (auto& f : all) f.wait();
    const manta::statistics s = manta::statistics_now();
    CHECK(s.ranks.size() == static_cast<std::size_t>(manta::size()));
    for (const manta::rank_statistics& r : s.ranks) {
      REQUIRE(r.is_known);
      const double sum = std::accumulate(r.seconds.begin(), r.seconds.end(), 0.);
      // The ranks begin and answer at different moments; on a busy machine these are apart by some time slices.
      CHECK(sum == doctest::Approx(s.seconds).epsilon(0.01).scale(30));
      double in_bins = 0;
      for (const auto& b : r.bins) in_bins += std::accumulate(b.seconds.begin(), b.seconds.end(), 0.);
      CHECK(in_bins == doctest::Approx(sum).epsilon(0.01));
    }
    const manta::function_statistics f = row(s, "spin");
    CHECK(f.tasks == 8);
    CHECK(!f.sampled);
    CHECK(f.seconds >= 0.130);
    REQUIRE(!f.longest.empty());
    CHECK(f.longest[0].seconds >= 0.060);
    CHECK(std::ranges::any_of(f.longest, [](const auto& t) { return t.name == "the long one" && t.seconds >= 0.060; }));
    CHECK(f.durations.quantile(0.5) >= 0.009);
    double in_tasks = 0;
    for (const manta::rank_statistics& r : s.ranks)
      in_tasks += r.seconds[static_cast<std::size_t>(manta::rank_state::task)];
    CHECK(in_tasks == doctest::Approx(f.seconds).epsilon(0.02));
  });
}

TEST_CASE("a task's time is its own, without what runs while it waits") {
  in_world([] {
    CHECK(manta::async<&waits_for_spin>(1).get() == 51);
    const manta::statistics s = manta::statistics_now();
    CHECK(row(s, "spin").seconds >= 0.050);
    CHECK(row(s, "waits_for_spin").seconds < 0.025);
  });
}

TEST_CASE("the driver names stretches of the run, and only the driver asks") {
  in_world([] {
    {
      const manta::phase first("first");
      spin(2);
    }
    const manta::phase second("second");
    const manta::statistics s = manta::statistics_now();
    REQUIRE(s.phases.size() == 2);
    CHECK(s.phases[0].name == "first");
    CHECK(s.phases[0].end - s.phases[0].begin >= 0.002);
    CHECK(s.phases[1].end == 0);
    CHECK(!s.is_over);
    if (manta::size() == 1) return;
    CHECK(manta::async<&ask_in_task>().get().find("call it in the driver") != std::string::npos);
  });
}

TEST_CASE("the state names what runs, and for how long") {
  in_world([] {
    const auto slow = manta::async<&spin>({.name = "the slow one"}, manta::size() > 1 ? 600 : 1);
    std::string text;
    bool is_named = false;
    do {
      text = manta::state();
      is_named = text.find("\"the slow one\"") != std::string::npos;
    } while (manta::size() > 1 && !is_named && !slow.ready());
    CHECK_MESSAGE(is_named == (manta::size() > 1), text);
    CHECK_MESSAGE((text.find("  in ") != std::string::npos) == (manta::size() > 1), text);
    CHECK(text.starts_with("manta: state at 0:0"));
    CHECK(text.find("done, 0 failed") != std::string::npos);
    CHECK(std::count(text.begin(), text.end(), '\n') <= 40);
    slow.wait();
  });
}

TEST_CASE("a rank that answers too late is called silent, and its answer leaves nothing") {
  in_world([] {
    if (manta::size() == 1) return;
    const int process = manta::async<&process_of_rank>({.rank = 1}).get();
    const std::uint64_t before = manta::memory()[0].objects;
    const std::string number = std::to_string(process);
    ::kill(process, SIGSTOP);
    const std::string resume = "(sleep 3; kill -CONT " + number + ") > /dev/null 2>&1 &";
    CHECK(std::system(resume.c_str()) == 0);
    const std::string text = manta::state();
    CHECK_MESSAGE(text.find("silent   rank 1: no answer for 2 s") != std::string::npos, text);
    (void)manta::memory();  // it answers this when it has answered that
    CHECK(manta::memory()[0].objects == before);
  });
}

TEST_CASE("SIGUSR2 at any rank asks for the state, and the run goes on") {
  std::signal(SIGUSR2, SIG_DFL);  // a handler of the program, as that of these tests, would stay
  in_world([] {
    std::raise(SIGUSR2);
    CHECK(manta::async<&raises_signal>().get() == 1);
    CHECK(manta::async<&spin>(20).get() == 20);
  });
}
