// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The manta program of the Slurm tests.
//
//   program sum            a sum by tasks on all ranks, and on how many nodes they ran
//   program steps N FILE   N steps, one after the other, each kept in FILE; when the run has to end it ends with 85, which
//                          asks for another start, and that goes on after the last step in FILE
//   program until FILE     short tasks on all ranks until there is a FILE
//   program study N        N tasks of 20 ms each, and the sum of their results
#include <manta/manta.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

int where(int) { return manta::node(); }
int next(int step) { return step + 1; }

int sum() {
  std::vector<manta::future<int>> nodes;
  for (int i = 0; i < 200; ++i) nodes.push_back(manta::async<where>({.spread = true}, i));
  std::set<int> seen;
  for (const int node : manta::get(nodes)) seen.insert(node);
  std::vector<manta::future<int>> parts;
  for (int i = 0; i < 100; ++i) parts.push_back(manta::async<next>(i));
  int total = 0;
  for (const int part : manta::get(parts)) total += part;
  std::printf("sum %d on %d ranks of %zu nodes\n", total, manta::size(), seen.size());
  return total == 5050 ? 0 : 2;
}

int steps(int count, const std::string& file) {
  int step = 0;
  std::ifstream(file) >> step;
  const char* restarts = std::getenv("SLURM_RESTART_COUNT");
  std::printf("restart %s on %d ranks begins after step %d\n", restarts == nullptr ? "0" : restarts, manta::size(),
              step);
  std::fflush(stdout);
  try {
    while (step < count && !manta::this_task::stop_requested()) {
      step = manta::async<next>(step).get();
      std::ofstream(file + ".new") << step << "\n";
      std::rename((file + ".new").c_str(), file.c_str());
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  } catch (const manta::cancelled&) {  // it came after we had asked
  }
  std::printf(step < count ? "asked to stop after step %d\n" : "all %d steps are done\n", step);
  std::fflush(stdout);
  return step < count ? manta::requeue_status : 0;
}

int slow(int x) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return x;
}

int until(const std::string& file) {
  int done = 0;
  std::puts("started");
  std::fflush(stdout);
  while (!std::ifstream(file)) {
    std::vector<manta::future<int>> all;
    for (int i = 0; i < 40; ++i) all.push_back(manta::async<slow>(i));
    for (int i = 0; i < 40; ++i) done += all[static_cast<std::size_t>(i)].get() == i;
  }
  std::printf("%d tasks, %s\n", done, done % 40 == 0 ? "all right" : "some wrong");
  return done % 40 == 0 ? 0 : 2;
}

int study(int count) {
  std::vector<manta::future<int>> all;
  for (int i = 0; i < count; ++i) all.push_back(manta::async<slow>(i));
  std::puts("started");
  std::fflush(stdout);
  long sum = 0;
  for (auto& f : all) sum += f.get();
  std::printf("the sum is %ld\n", sum);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return manta::run(argc, argv, [&] {
    const std::string mode = argc > 1 ? argv[1] : "sum";
    if (mode == "steps" && argc > 3) return steps(std::atoi(argv[2]), argv[3]);
    if (mode == "study" && argc > 2) return study(std::atoi(argv[2]));
    return mode == "until" && argc > 2 ? until(argv[2]) : sum();
  });
}
