// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A rank that waits for its own children serves others between them, however
// it waits. Each rank keeps a diary of what ran on it, in order: the cases count
// events between two others and look at no clock to judge.
#include <doctest/doctest.h>

#include <algorithm>

#include "support/world.hpp"

using manta::testing::busy;
using manta::testing::executor;
using manta::testing::in_world;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

namespace {

enum class event { child, asked, answered };
/// Of this rank; tasks of a rank run one after the other on one thread.
std::vector<event> diary;
std::vector<int> numbers;
/// What a child in the middle does, if it runs on this rank: it makes somebody able to go on.
void (*in_the_middle)() = nullptr;
manta::promise<int>* promised = nullptr;
clock_type::time_point limit;

constexpr int children = 24, middle = 5;

/// Takes longer than a rank goes on without looking around.
int child(int i) {
  busy(100us);
  diary.push_back(event::child);
  if (i >= middle && in_the_middle != nullptr) {
    std::exchange(in_the_middle, nullptr)();
    diary.push_back(event::asked);
  }
  return i;
}
std::vector<manta::future<int>> submit_children() {
  std::vector<manta::future<int>> all;
  for (int i = 0; i < children; ++i) all.push_back(manta::async<child>(i));
  return all;
}

// the ways to wait

int by_get() {
  int sum = 0;
  for (const auto& f : submit_children()) sum += f.get();
  return sum;
}
int one_by_one() {
  int sum = 0;
  for (int i = 0; i < children; ++i) sum += manta::async<child>(i).get();
  return sum;
}
int by_get_of_all() {
  int sum = 0;
  for (const int x : manta::get(submit_children())) sum += x;
  return sum;
}
int by_wait() {
  int sum = 0;
  for (const auto& f : submit_children()) {
    f.wait();
    sum += f.get();
  }
  return sum;
}
int by_wait_for_all() {
  auto all = manta::wait(submit_children(), {.count = children}).ready;
  return std::accumulate(all.begin(), all.end(), 0, [](int sum, const auto& f) { return sum + f.get(); });
}
int by_wait_for_some() {
  int sum = 0;
  for (auto left = submit_children(); !left.empty();) {
    auto [ready, pending] = manta::wait(std::move(left));
    for (const auto& f : ready) sum += f.get();
    left = std::move(pending);
  }
  return sum;
}
int as_completed() {
  int sum = 0;
  for (const auto& f : manta::as_completed(submit_children())) sum += f.get();
  return sum;
}
int by_polling() {
  int sum = 0;
  for (const auto& f : submit_children()) {
    while (!f.ready()) {
    }
    sum += f.get();
  }
  return sum;
}
int subtree(int first, int last) {
  if (last - first == 1) return child(first);
  const int half = (first + last) / 2;
  const auto left = manta::async<subtree>(first, half), right = manta::async<subtree>(half, last);
  return left.get() + right.get();
}
int in_a_tree() { return manta::async<subtree>(0, children).get(); }
int after(int sum, int i) { return sum + child(i); }
int in_a_chain() {
  auto sum = manta::put(0);
  for (int i = 0; i < children; ++i) sum = manta::async<after>(sum, i);
  return sum.get();
}
int inside_each_other(int depth) {
  if (depth == 0) return 0;
  const int sum = manta::async<inside_each_other>(depth - 1).get();
  return sum + child(depth - 1);
}
int nested() { return manta::async<inside_each_other>(children).get(); }
int add(int a, int b) { return a + b; }
int by_reduce() { return manta::reduce<add>(submit_children()).get(); }

using way = int (*)();
const std::vector<std::pair<const char*, way>> ways{{"get", by_get},
                                                    {"get of each in turn", one_by_one},
                                                    {"get(range)", by_get_of_all},
                                                    {"future::wait", by_wait},
                                                    {"wait for all", by_wait_for_all},
                                                    {"wait for some", by_wait_for_some},
                                                    {"as_completed", as_completed},
                                                    {"ready", by_polling},
                                                    {"a tree", in_a_tree},
                                                    {"a chain", in_a_chain},
                                                    {"nested tasks", nested},
                                                    {"reduce", by_reduce}};
int wait_for_children(int i) { return ways[static_cast<std::size_t>(i)].second(); }

// who wants to go on

struct server {
  void answer() { diary.push_back(event::answered); }
};
manta::actor<server>* called = nullptr;
int expect_call(manta::actor<server> a) {
  called = new manta::actor<server>(std::move(a));
  manta::async<&server::answer>(*called).get();  // its place is known here then, and calls are not held up by that
  diary.clear();
  in_the_middle = [] { manta::async<&server::answer>(*called); };
  return 0;
}

/// Waits until the child in the middle sets the value.
int wait_for_value(manta::actor<manta::testing::tally> begun) {
  promised = new manta::promise<int>;
  in_the_middle = [] { promised->set_value(1); };
  const auto f = promised->get_future();
  manta::async<&manta::testing::tally::arrive>(begun);
  f.wait();
  diary.push_back(event::answered);
  return f.get();
}

/// Waits until its time is up, which is while the child in the middle runs.
int wait_for_limit(manta::actor<manta::testing::tally> begun) {
  promised = new manta::promise<int>;
  in_the_middle = [] {
    while (clock_type::now() < limit + 30ms) {
    }
  };
  const auto f = promised->get_future();
  manta::async<&manta::testing::tally::arrive>(begun);
  limit = clock_type::now() + 10ms;
  const bool came = f.wait_for(10ms);
  diary.push_back(event::answered);
  return came ? 1 : 0;
}

/// Children that ran on this rank after the one that asked and before the answer; -1: none asked here.
int children_between() {
  const auto asked = std::find(diary.begin(), diary.end(), event::asked);
  const auto answered = std::find(diary.begin(), diary.end(), event::answered);
  const auto count = asked == diary.end() || answered == diary.end() ? -1
                     : answered < asked                              ? 0
                                                                     : static_cast<int>(answered - asked) - 1;
  diary.clear();
  in_the_middle = nullptr;
  delete std::exchange(called, nullptr);
  delete std::exchange(promised, nullptr);
  return count;
}

/// With idle ranks the children may all run elsewhere, so that nobody is asked; on one and two ranks there are none.
void check_turn(const char* name, manta::task_options at, int most) {
  const int between = manta::async<children_between>(at).get();
  INFO(std::string(name));
  CHECK(between <= most);
  if (manta::size() <= 2) CHECK(between >= 0);
}

constexpr int sum_of_children = children * (children - 1) / 2;

/// Has it begun to wait? What it does between telling so and waiting runs no other task.
void wait_until_begun(const manta::actor<manta::testing::tally>& begun) {
  manta::testing::poll_until("a task that begins", [&] {
    return manta::testing::fetch(manta::async<&manta::testing::tally::count>(begun)) == 1;
  });
}

}  // namespace

TEST_CASE("a call of an actor has its turn between the children for which its rank waits") {
  in_world([] {
    const manta::task_options here{.rank = executor(0)};
    const auto a = manta::spawn<server>({.rank = executor(0)});
    for (std::size_t i = 0; i < ways.size(); ++i) {
      manta::async<expect_call>(here, a).get();
      CHECK(manta::async<wait_for_children>(here, static_cast<int>(i)).get() == sum_of_children);
      manta::async<&server::answer>(a).get();  // the one before has come
      check_turn(ways[i].first, here, 2);
    }
  });
}

TEST_CASE("a task whose wait is over goes on before the next child of another one") {
  in_world([] {
    const manta::task_options here{.rank = executor(0)};
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const auto begun = manta::spawn<manta::testing::tally>();
      const auto waiter = manta::async<wait_for_value>(here, begun);
      wait_until_begun(begun);
      CHECK(manta::async<wait_for_children>(here, static_cast<int>(i)).get() == sum_of_children);
      if (manta::size() <= 2) CHECK(waiter.get() == 1);
      check_turn(ways[i].first, here, 0);
      if (manta::size() > 2) {  // its promise may have been dropped without a value
        waiter.wait();
        manta::async<children_between>(here).get();
      }
    }
  });
}

TEST_CASE("a wait ends between the children of another task when its time is up") {
  in_world([] {
    const manta::task_options here{.rank = executor(0)};
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const auto begun = manta::spawn<manta::testing::tally>();
      const auto waiter = manta::async<wait_for_limit>(here, begun);
      wait_until_begun(begun);
      CHECK(manta::async<wait_for_children>(here, static_cast<int>(i)).get() == sum_of_children);
      CHECK(waiter.get() == 0);
      check_turn(ways[i].first, here, 1);
    }
  });
}

TEST_CASE("the driver's limit passes between the tasks of its own world of one") {
  in_world([] {
    const auto f = manta::async<by_get>();
    int looks = 0;
    while (!f.wait_for(100us)) ++looks;
    if (manta::size() == 1) CHECK(looks >= children / 2);
    CHECK(f.get() == sum_of_children);
    if (manta::size() == 1) children_between();
  });
}

namespace {
/// Waits until so many milliseconds after a time that all of them know, however late each of them starts.
int note_limit(manta::actor<manta::testing::tally> begun, clock_type::rep begin, int ms) {
  manta::promise<int> never;
  const auto f = never.get_future();
  manta::async<&manta::testing::tally::arrive>(begun);
  f.wait_until(clock_type::time_point(clock_type::duration(begin)) + std::chrono::milliseconds(ms));
  numbers.push_back(ms);
  return ms;
}
int sleep_long() {
  busy(350ms);
  return 0;
}
std::vector<int> take_numbers() { return std::exchange(numbers, {}); }
}  // namespace

TEST_CASE("limits that passed during one task end in their order") {
  in_world([] {
    const manta::task_options here{.rank = executor(0)};
    const auto begun = manta::spawn<manta::testing::tally>();
    const auto begin = clock_type::now().time_since_epoch().count();
    const std::vector<manta::future<int>> all{manta::async<note_limit>(here, begun, begin, 300),
                                              manta::async<note_limit>(here, begun, begin, 100),
                                              manta::async<note_limit>(here, begun, begin, 200)};
    manta::async<sleep_long>(here).get();
    manta::get(all);
    CHECK(manta::async<take_numbers>(here).get() == std::vector<int>{100, 200, 300});
  });
}

namespace {
int look_until_there(manta::future<int> f) {
  int looks = 0;
  for (; !f.ready(); ++looks) {
  }
  return looks;
}
int one() { return 1; }
}  // namespace

TEST_CASE("tasks that poll keep neither calls nor tasks of their rank from running") {
  in_world([] {
    const manta::task_options here{.rank = executor(0)};
    manta::promise<int> p;
    std::vector<manta::future<int>> pollers;
    for (int i = 0; i < 3; ++i) pollers.push_back(manta::async<look_until_there>(here, p.get_future()));
    manta::wait(pollers, {.count = 3, .timeout = 20ms});
    const auto a = manta::spawn<server>({.rank = executor(0)});
    manta::async<&server::answer>(a).get();
    CHECK(manta::async<one>(here).get() == 1);
    p.set_value(1);
    for (const auto& f : pollers) CHECK(f.get() > 0);
    manta::async<children_between>(here).get();
  });
}

namespace {
int serve_and_wait(manta::actor<server> a, int calls) {
  manta::async<&server::answer>(a).get();  // its place is known here then
  diary.clear();
  std::vector<manta::future<void>> answers;
  for (int i = 0; i < calls; ++i) answers.push_back(manta::async<&server::answer>(a));
  const int sum = by_get();
  for (const auto& f : answers) f.get();
  return sum;
}
std::vector<int> answers_before_children() {
  int answered = 0;
  std::vector<int> before;
  for (const event e : std::exchange(diary, {})) {
    if (e == event::answered) ++answered;
    if (e == event::child) before.push_back(answered);
  }
  return before;
}
}  // namespace

TEST_CASE("calls that wait go all before the next child, and children go on while calls come") {
  in_world([] {
    const manta::task_options here{.rank = executor(0)};
    const auto a = manta::spawn<server>({.rank = executor(0)});
    CHECK(manta::async<serve_and_wait>(here, a, 200).get() == sum_of_children);
    const auto before = manta::async<answers_before_children>(here).get();
    if (before.size() > 3) CHECK(before[3] == 200);
  });
}
