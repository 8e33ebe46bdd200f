// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The short pieces of code in the README, compiled and checked. Each concept has a
// program of its own in the guide, examples/README.md.
//
//   scripts/run readme -n 4        or        manta-run -n 4 ./readme
//
// Expected output (the host varies):
//   manta: task 'solve' failed on rank 1 (node17) with std::runtime_error: no convergence
//   all pieces are right
#include <manta/manta.hpp>

#include <chrono>
#include <cstdio>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using numbers = std::vector<double>;

numbers load(int part) { return numbers(100'000, part); }
double sum(std::span<const double> all) { return std::accumulate(all.begin(), all.end(), 0.0); }
double add(double a, double b) { return a + b; }

bool tasks() {
  // [tasks]
  auto x = manta::async<load>(7);                                     // a function; returns a future at once
  auto s = manta::async<sum>(x);                                      // starts when x is there, where x lies
  auto t = manta::async([](double a) { return a / 2; }, s);           // a lambda without captures
  auto u = manta::async<add>({.name = "total", .retries = 2}, s, t);  // options come first
  double total = u.get();                                             // waits
  // [end]
  return total == 1'050'000;
}

double solve(double x) {
  if (x > 1) throw std::runtime_error("no convergence");
  return 2 * x;
}

bool some() {
  const auto use = [](double) {};
  std::vector<manta::future<double>> futures = manta::map<solve>(numbers{0.1, 0.2, 0.3, 0.4});
  // [wait]
  auto [ready, pending] = manta::wait(futures, {.count = 2, .timeout = 50ms});  // two have ended, or the time is up
  for (auto& f : manta::as_completed(pending)) use(f.get());                    // the others, each as it ends
  // [end]
  return ready.size() + pending.size() == 4;
}

bool errors() {
  std::string type;
  // [errors]
  try {
    manta::async<solve>(3.0).get();
  } catch (const manta::task_failed& e) {
    std::puts(e.what());      // manta: task 'solve' failed on rank 2 (node17) with std::runtime_error: no convergence
    type = e.details().type;  // what, type, function, host, rank, attempt, chain
  }
  // [end]
  return type == "std::runtime_error";
}

// [actor]
struct counter {
  int add(int k) { return n += k; }
  int n = 40;
};
// [end]

bool actors() {
  // [call]
  manta::actor<counter> c = manta::spawn<counter>();  // lives on some rank
  auto n = manta::async<&counter::add>(c, 2);         // a call is a task there
  // [end]
  return n.get() == 42;
}

// [nested]
int fibonacci(int n) {
  if (n < 2) return n;
  auto a = manta::async<fibonacci>(n - 1);
  auto b = manta::async<fibonacci>(n - 2);
  return a.get() + b.get();
}
// [end]

// [gang]
double residual(manta::team team, double mine) {
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, team.comm());
  return all;
}
// [end]

bool gangs() {
  const int some_ranks = manta::size() > 2 ? 2 : 1;
  // [submit]
  auto r = manta::async<residual>({.ranks = some_ranks}, 0.5);  // a future like any other
  // [end]
  return r.get() == 0.5 * some_ranks;
}

// [batches]
manta::generator<numbers> batches(int count) {
  for (int i = 0; i < count; ++i) co_yield numbers(1000, i);
}
// [end]

bool streams() {
  double all = 0;
  // [stream]
  for (auto& f : manta::async<batches>(5)) all += sum(f.get());  // while the coroutine runs elsewhere
  // [end]
  return all == 10'000;
}

void fill(manta::queue<int> q) {
  for (int i = 0; i < 1000; ++i) q.push(i);
  q.close();
}

bool queues() {
  int all = 0;
  const auto use = [&all](int value) { all += value; };
  // [queue]
  manta::queue<int> q(100);                   // at most 100 values; a handle, which can be sent
  auto filled = manta::async<fill>(q);        // pushes wait while it is full
  while (auto value = q.next()) use(*value);  // until it is closed and drained
  // [end]
  return all == 499'500;
}

double train(double rate) { return rate; }

bool resources() {
  // [resources]
  auto y = manta::async<train>({.cpus = 2, .gpus = 0.5}, 0.1);    // held while it runs
  auto z = manta::async<train>({.near = y, .priority = 5}, 0.2);  // where y's value lies
  // [end]
  return y.get() + z.get() > 0.29;
}

double search() {
  while (!manta::this_task::stop_requested() && manta::size() > 1) {
  }
  return 0;
}

bool cancelling() {
  const auto is_network_error = [](const manta::task_failed&) { return false; };
  // [cancel]
  auto f = manta::async<search>({.deadline = 2s});  // not started 2 s after the call: manta::timeout
  manta::cancel(f);                                 // a running task sees this_task::stop_requested()
  auto g = manta::async<solve>({.retries = 5, .retry_if = is_network_error, .retry_after = 100ms}, 0.5);
  // [end]
  return g.get() == 1;
}

bool large() {
  numbers matrix(1'000'000, 1.0);
  // [large]
  auto table = manta::put(std::move(matrix));           // lies once in the memory of each node
  auto a = manta::async<sum>({.spread = true}, table);  // sum takes std::span: looks at it there, copies nothing
  // [end]
  return a.get() == 1'000'000;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, {.cpus = 4, .gpus = 2}, [] {
    const bool right = tasks() && some() && errors() && actors() && fibonacci(10) == 55 && gangs() && streams() &&
                       queues() && resources() && cancelling() && large();
    std::puts(right ? "all pieces are right" : "something is wrong");
    return right ? 0 : 1;
  });
}
