// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P9: the smallest task with which half of the machine is used, for graphs of
// `steps` layers of `width` tasks, of which each takes results of the layer before
// by one of six patterns (after Task Bench, Slaughter et al., SC 2020). A task
// checks that its inputs are those of the right step and points, computes for an
// adjustable time, and returns its own stamp, repeated up to a number of bytes.
//
// All ranks read the same command line, so that a task needs to be told no more
// than its step, its point and the length of its kernel:
//
//   pattern=stencil|fft|tree|all_to_all|nearest|random   way=driver|actors|nested   kernel=compute|memory|uneven
//   width=32 (a power of two)   steps=256   radix=5   seed=1   bytes=8
//
// Without pattern, kernel and bytes: all patterns with the compute kernel and 8 bytes, and then the stencil with the
// other kernels and with larger results.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <mpi.h>

#include "../common/measure.hpp"

namespace patterns {

inline constexpr std::array names = {"stencil", "fft", "tree", "all_to_all", "nearest", "random"};
enum pattern { stencil, fft, tree, all_to_all, nearest, random_points };
enum class kernel { compute, memory, uneven };

struct problem {
  int shape = stencil;
  kernel work = kernel::compute;
  int width = 32;
  int steps = 256;
  int radix = 5;
  std::uint64_t seed = 1;
  int bytes = 8;
};

/// What this process works on; the same on every rank.
inline problem here;

struct named_case {
  std::string name;
  int shape = stencil;
  kernel work = kernel::compute;
  int bytes = 8;
};

/// Value of `key=` on the command line, or "".
inline std::string_view argument(int argc, char** argv, std::string_view key) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    if (text.size() > key.size() && text.starts_with(key) && text[key.size()] == '=')
      return text.substr(key.size() + 1);
  }
  return {};
}
inline void read_arguments(int argc, char** argv) {
  const auto number = [&](const char* key, int& value) {
    const std::string text(argument(argc, argv, key));
    if (!text.empty()) value = std::stoi(text);
  };
  int seed = 1;
  number("width", here.width);
  number("steps", here.steps);
  number("radix", here.radix);
  number("bytes", here.bytes);
  number("seed", seed);
  here.seed = static_cast<std::uint64_t>(seed);
  const std::string_view work = argument(argc, argv, "kernel");
  here.work = work == "memory" ? kernel::memory : work == "uneven" ? kernel::uneven : kernel::compute;
  if (here.width < 2 || !std::has_single_bit(static_cast<unsigned>(here.width))) here.width = 32;
}

/// What is to be measured, one after the other.
inline std::vector<named_case> cases(int argc, char** argv) {
  const std::string_view pattern = argument(argc, argv, "pattern");
  std::vector<named_case> all;
  for (std::size_t shape = 0; shape < names.size(); ++shape) {
    if (pattern.empty() || pattern == names[shape])
      all.push_back({names[shape], static_cast<int>(shape), here.work, here.bytes});
  }
  if (!pattern.empty() || here.work != kernel::compute || here.bytes != 8) return all;
  all.push_back({"stencil_memory", stencil, kernel::memory, 8});
  all.push_back({"stencil_uneven", stencil, kernel::uneven, 8});
  all.push_back({"stencil_1k", stencil, kernel::compute, 1024});
  all.push_back({"stencil_64k", stencil, kernel::compute, 65536});
  return all;
}
inline void take_up(const named_case& c) {
  here.shape = c.shape;
  here.work = c.work;
  here.bytes = c.bytes;
}

inline std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
inline std::uint64_t mixed(int step, int point, int i) {
  return mixed(here.seed + mixed((static_cast<std::uint64_t>(step) << 40) + (static_cast<std::uint64_t>(point) << 16) +
                                 static_cast<std::uint64_t>(i)));
}

// The graph.

inline int levels() { return std::countr_zero(static_cast<unsigned>(here.width)); }

/// Tasks in a step: of a tree one, two, four, ... up to the width and back; else the width.
inline int width_of(int step) {
  if (here.shape != tree) return here.width;
  const int k = step % (2 * levels());
  return 1 << (k <= levels() ? k : 2 * levels() - k);
}

/// The points of the step before whose results this task takes, in order; none in the first step.
inline const std::vector<int>& inputs_of(int step, int point) {
  thread_local std::vector<int> points;
  points.clear();
  if (step == 0) return points;
  const auto add = [](int p) {
    if (p >= 0 && p < here.width && std::find(points.begin(), points.end(), p) == points.end()) points.push_back(p);
  };
  const auto add_range = [](int first, int last) {
    for (int p = std::max(first, 0); p <= std::min(last, here.width - 1); ++p) points.push_back(p);
  };
  switch (here.shape) {
    case stencil: add_range(point - 1, point + 1); break;
    case fft: {
      const int distance = 1 << ((step - 1) % levels());
      add(point - distance);
      add(point);
      add(point + distance);
      break;
    }
    case tree:
      if (width_of(step) > width_of(step - 1)) {
        add(point / 2);
      } else {
        add_range(2 * point, 2 * point + 1);
      }
      break;
    case all_to_all: add_range(0, here.width - 1); break;
    case nearest: add_range(point - here.radix / 2, point + (here.radix - 1) / 2); break;
    default:
      for (int i = 0; i < here.radix; ++i)
        add(static_cast<int>(mixed(step, point, i) % static_cast<unsigned>(here.width)));
      std::sort(points.begin(), points.end());
  }
  return points;
}

inline int tasks() {
  int all = 0;
  for (int step = 0; step < here.steps; ++step) all += width_of(step);
  return all;
}

/// Blocks of neighbouring points, one a rank.
inline int rank_of(int step, int point, int ranks) { return point * ranks / width_of(step); }

// The task.

using stamp = std::int64_t;
inline stamp stamp_of(int step, int point) { return (static_cast<stamp>(step) << 32) + point; }

/// A result: one stamp where here.bytes is 8, else as many as fill here.bytes.
using large = std::vector<stamp>;
template <class Output>
Output output_of(int step, int point) {
  if constexpr (std::is_same_v<Output, large>) {
    return large(static_cast<std::size_t>(here.bytes) / sizeof(stamp), stamp_of(step, point));
  } else {
    return stamp_of(step, point);
  }
}
inline bool is_output(stamp s, int step, int point) { return s == stamp_of(step, point); }
inline bool is_output(const large& l, int step, int point) {
  return l.size() == static_cast<std::size_t>(here.bytes) / sizeof(stamp) && l.front() == stamp_of(step, point) &&
         l.back() == l.front();
}
[[noreturn]] inline void wrong_input(int step, int point) {
  throw std::runtime_error("step " + std::to_string(step) + ", point " + std::to_string(point) +
                           " has an input of another step or point");
}

/// How often this task's kernel goes round, if `iterations` is the mean.
inline int iterations_of(int step, int point, int iterations) {
  if (here.work != kernel::uneven) return iterations;
  return static_cast<int>(2.0 * iterations * static_cast<double>(mixed(step, point, -1) >> 32) / 4294967296.0);
}

/// A few nanoseconds for each iteration.
inline void compute(int iterations) {
  if (here.work == kernel::memory) {  // a read and a write of a cache line of 16 MB, one after the other
    static std::vector<double> memory(2 << 20);
    static std::size_t at = 0;
    for (int i = 0; i < iterations; ++i) {
      at = (at + 8) % memory.size();
      memory[at] += 1;
    }
    return;
  }
  double x[4] = {1, 2, 3, 4};
  for (int i = 0; i < iterations; ++i) {
    for (double& v : x) v = v * 0.999999 + 1e-6;
  }
  asm volatile("" : : "r"(&x) : "memory");  // as if somebody read it
}

// The search.

/// Iterations a second of all ranks together. Collective.
inline double peak(MPI_Comm comm) {
  constexpr int iterations = 1'000'000;
  double best = 0;
  MPI_Barrier(comm);
  for (int i = 0; i < 5; ++i) {
    const bench::stopwatch watch;
    compute(iterations);
    best = std::max(best, iterations / watch.seconds());
  }
  MPI_Allreduce(MPI_IN_PLACE, &best, 1, MPI_DOUBLE, MPI_SUM, comm);
  return best;
}

/// Iterations of the whole graph.
inline double work(int iterations) {
  double all = 0;
  for (int step = 0; step < here.steps; ++step) {
    for (int point = 0; point < width_of(step); ++point) all += iterations_of(step, point, iterations);
  }
  return all;
}

/// METG(50 %): microseconds of a task, time of all ranks over number of tasks, at which half of their time goes into
/// kernels. `peak`: iterations a second of all ranks; run(iterations) returns the seconds of the whole graph. Kernels
/// are made longer by half until half of the time is reached; between the last two the logarithms are taken as a line.
/// Below 0 if a millisecond is not enough.
template <class Run>
double smallest_task_us(int ranks, double peak, Run&& run) {
  const auto granularity = [&](double seconds) { return 1e6 * seconds * ranks / tasks(); };
  double us_before = 0, part_before = 0;
  for (double us = 0.2; us < 1000; us *= 1.5) {
    const int iterations = std::max(1, static_cast<int>(1e-6 * us * peak / ranks));
    const double seconds = std::min({run(iterations), run(iterations), run(iterations)});
    const double part = work(iterations) / peak / seconds, size = granularity(seconds);
    if (part >= 0.5) {
      if (part_before == 0) return size;
      const double along = std::log(0.5 / part_before) / std::log(part / part_before);
      return std::exp(std::log(us_before) + along * std::log(size / us_before));
    }
    us_before = size;
    part_before = part;
  }
  return -1;
}

}  // namespace patterns
