// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P5 with manta. manta::wait takes a list and returns it in two parts, all that
// have ended and the rest: for tasks that end while others are looked at, for
// values that come one at a time, and the latter once more with as_completed,
// which looks at the list once.
//
//   mpirun -n 2 --bind-to core bench_many_futures_manta [repetitions]
#include <manta/manta.hpp>

#include <vector>

#include "../common/measure.hpp"
#include "problem.hpp"

namespace {

using namespace many_futures;

/// The task that has many results: each is a value of its own, which stays where it was made until it is read.
std::vector<manta::future<int>> numbers(int count) {
  std::vector<manta::future<int>> all;
  for (int i = 0; i < count; ++i) all.push_back(manta::put(i));
  return all;
}

std::vector<manta::future<int>> submit() {
  std::vector<manta::future<int>> all;
  for (int i = 0; i < tasks; ++i) all.push_back(manta::async<increment>(i));
  return all;
}

bool take_arguments() {
  std::vector<manta::future<int>> values;
  for (int i = 0; i < arguments; ++i) values.push_back(manta::put(i));
  return manta::async<sum>(values).get() == sum_below(arguments);
}

bool unpack_results() { return sum(manta::get(manta::async<numbers>(results).get())) == sum_below(results); }

bool get_all() { return sum(manta::get(submit())) == sum_below(tasks + 1); }

std::int64_t wait_for_next(std::vector<manta::future<int>>& left) {
  auto [ready, pending] = manta::wait(std::move(left), {.count = 1});
  std::int64_t total = 0;
  for (const auto& f : ready) total += f.get();
  left = std::move(pending);
  return total;
}

bool wait_for_tasks() {
  std::vector<manta::future<int>> left = submit();
  std::int64_t total = 0;
  while (!left.empty()) total += wait_for_next(left);
  return total == sum_below(tasks + 1);
}

/// Before each wait one more value comes.
bool wait_for_each() {
  std::vector<manta::promise<int>> promises(tasks);
  std::vector<manta::future<int>> left;
  for (const auto& p : promises) left.push_back(p.get_future());
  bool correct = true;
  for (int i = 0; i < tasks; ++i) {
    promises[static_cast<std::size_t>(i)].set_value(i);
    correct &= wait_for_next(left) == i;
  }
  return correct && left.empty();
}

bool take_as_completed() {
  std::vector<manta::promise<int>> promises(tasks);
  std::vector<manta::future<int>> all;
  for (const auto& p : promises) all.push_back(p.get_future());
  bool correct = true;
  int next = 0;
  promises[0].set_value(0);
  for (auto& f : manta::as_completed(all)) {
    correct &= f.get() == next;
    if (++next < tasks) promises[static_cast<std::size_t>(next)].set_value(next);
  }
  return correct && next == tasks;
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  return manta::run(argc, argv, [repetitions] {
    const struct {
      const char* figure;
      bool (*run)();
    } parts[] = {{"arguments", take_arguments},  {"unpacked", unpack_results}, {"get_all", get_all},
                 {"wait_tasks", wait_for_tasks}, {"wait_each", wait_for_each}, {"completed_each", take_as_completed}};
    for (int repetition = -1; repetition < repetitions; ++repetition) {  // -1 is the warm-up
      for (const auto& part : parts) {
        const bench::stopwatch watch;
        if (!part.run()) return bench::failed(part.figure, "a sum is wrong");
        const double seconds = watch.seconds();
        if (repetition >= 0) bench::report(part.figure, "manta", milliseconds(seconds), "ms");
      }
    }
    return 0;
  });
}
