// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Statistics of runs as the engine would record them, for the tests of what is made of them.
#pragma once

#include <string>

#include "manta/report/statistics.hpp"

namespace manta::testing {

/// What ranks do in a stretch of the run: the shares of their time in each state.
struct stretch {
  double begin = 0, end = 0;  ///< seconds
  state_seconds shares{};
  int function = -1;  ///< that had most of the time in tasks
};

inline state_seconds shares(double task, double own = 0, double fetch = 0, double gang = 0, double actor = 0,
                            double idle = 0, double driver = 0) {
  return {task, own, fetch, gang, actor, idle, driver, 0};
}

/// A run of so many seconds in 100 bins, without ranks.
inline statistics empty_run(double seconds) {
  statistics s;
  s.seconds = seconds;
  s.began = 1'764'234'720;
  s.is_over = true;
  s.program = "study";
  s.bin_seconds = seconds / 100;
  return s;
}

/// Lets the last rank do this in this stretch of the run.
inline void record(statistics& s, const stretch& what) {
  rank_statistics& rank = s.ranks.back();
  rank.bins.resize(100);
  for (std::size_t b = 0; b < rank.bins.size(); ++b) {
    const double from = static_cast<double>(b) * s.bin_seconds, to = from + s.bin_seconds;
    const double common = std::min(to, what.end) - std::max(from, what.begin);
    if (common <= 0) continue;
    if (what.function >= 0) rank.bins[b].function = what.function;
    for (std::size_t i = 0; i < rank_states; ++i) {
      rank.bins[b].seconds[i] += static_cast<float>(common * what.shares[i]);
      rank.seconds[i] += common * what.shares[i];
    }
  }
}

/// Adds a rank on the last node.
inline rank_statistics& add_rank(statistics& s) {
  if (s.nodes.empty()) s.nodes.push_back({"n17"});
  rank_statistics& rank = s.ranks.emplace_back();
  rank.rank = static_cast<int>(s.ranks.size()) - 1;
  rank.node = static_cast<int>(s.nodes.size()) - 1;
  rank.tasks = rank.rank == 0 ? 0 : 1;
  ++s.nodes.back().ranks;
  return rank;
}

/// Adds rank 0 and so many working ranks, which all do the same.
inline void add_ranks(statistics& s, int working, const state_seconds& of_rank_0, const state_seconds& of_the_others) {
  for (int i = 0; i <= working; ++i) {
    add_rank(s);
    record(s, {0, s.seconds, i == 0 ? of_rank_0 : of_the_others, i == 0 ? -1 : 0});
  }
}

/// Adds a function with so many tasks of this length, begun one after the other.
inline function_statistics& add_function(statistics& s, const std::string& name, std::uint64_t tasks, double seconds) {
  function_statistics& f = s.functions.emplace_back();
  f.name = name;
  f.tasks = tasks;
  f.seconds = static_cast<double>(tasks) * seconds;
  f.durations.add(static_cast<std::uint64_t>(seconds * 1e9), tasks);
  f.longest.push_back({seconds, 1, 1, 4711});
  return f;
}

/// A run of 63 working ranks on four nodes in 312 s, at whose end one task of "refine" keeps 60 ranks waiting.
inline statistics study() {
  statistics s = empty_run(312);
  s.job = "4711";
  s.allocation_seconds = 600;
  function_statistics& simulate = add_function(s, "simulate(setup const&)", 1884, 5.57);
  simulate.failed = 3;
  simulate.retried = 12;
  simulate.failure = "no convergence";
  simulate.failure_count = 2;
  function_statistics& refine = add_function(s, "refine(mesh const&)", 640, 4.06);
  refine.longest[0] = {96.3, 206, 23, 99, "mesh 17"};
  function_statistics& sum = add_function(s, "sum(double, double)", 812'004, 0.91e-6);
  sum.sampled = true;
  sum.longest[0].seconds = 41e-6;
  for (int i = 0; i < 4; ++i) add_function(s, "other" + std::to_string(i), 97'000, 29e-6);
  for (int i = 0; i < 64; ++i) {
    if (i % 16 == 0) s.nodes.push_back({"n" + std::to_string(17 + i / 16), 0, 32, 1, std::uint64_t{256} << 30U});
    rank_statistics& rank = add_rank(s);
    rank.sent_bytes = std::uint64_t{3} << 29U;
    rank.transfers = 219;
    rank.memory_bytes = static_cast<std::uint64_t>(i + 1) << 26U;
    if (i == 0) {
      record(s, {0, 206, shares(0, .03, 0, 0, 0, 0, .97)});
      record(s, {206, 312, shares(0, .03, 0, 0, 0, .97)});
    } else {
      record(s, {0, 206, shares(.85, .03, .12), 0});
      if (i == 23) record(s, {206, 302.3, shares(1), 1});
      if (i != 23) record(s, {206, 302.3, shares(0, 0, 0, 0, 0, 1)});
      record(s, {302.3, 312, shares(.6, .2, 0, 0, 0, .2), 2});
    }
  }
  s.edges = {{0, 1, 640, std::uint64_t{3} << 30U}, {1, 2, 640, std::uint64_t{1} << 20U}};
  s.phases = {{"assembly", 0, 206}, {"refinement", 206, 312}};
  s.from_journal = 1884;
  s.settings = {{"watchdog", "600"}};
  return s;
}

}  // namespace manta::testing
