// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P9 with manta, the same graph in three ways: every task submitted by rank 0; an
// actor a rank that has a block of points and hands results to the others' actors;
// tasks that submit sixteen steps and the task that submits the next.
//
//   mpirun -n 2 --bind-to core bench_patterns_manta [repetitions] [pattern=...] [way=...] [...]
#include <manta/manta.hpp>

#include <string>
#include <vector>

#include "problem.hpp"

namespace {

using namespace patterns;

// --- tasks

template <class Output>
Output task(int step, int point, int iterations, const std::vector<Output>& inputs) {
  const std::vector<int>& from = inputs_of(step, point);
  if (inputs.size() != from.size()) wrong_input(step, point);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!is_output(inputs[i], step - 1, from[i])) wrong_input(step, point);
  }
  compute(iterations_of(step, point, iterations));
  return output_of<Output>(step, point);
}

template <class Output>
using layer = std::vector<manta::future<Output>>;

template <class Output>
layer<Output> submit(int step, int iterations, const layer<Output>& before) {
  layer<Output> results;
  for (int point = 0; point < width_of(step); ++point) {
    layer<Output> inputs;
    for (const int p : inputs_of(step, point)) inputs.push_back(before[static_cast<std::size_t>(p)]);
    results.push_back(manta::async<task<Output>>(step, point, iterations, inputs));
  }
  return results;
}

template <class Output>
void check_last(const layer<Output>& last) {
  for (std::size_t p = 0; p < last.size(); ++p) {
    if (!is_output(last[p].get(), here.steps - 1, static_cast<int>(p))) wrong_input(here.steps, static_cast<int>(p));
  }
}

template <class Output>
void run_driver(int iterations) {
  layer<Output> results;
  for (int step = 0; step < here.steps; ++step) results = submit<Output>(step, iterations, results);
  check_last(results);
}

constexpr int steps_at_once = 16;

template <class Output>
layer<Output> next_steps(int step, int iterations, layer<Output> results) {
  const int end = std::min(step + steps_at_once, here.steps);
  for (; step < end; ++step) results = submit<Output>(step, iterations, results);
  if (step == here.steps) return results;
  return manta::async<next_steps<Output>>(step, iterations, results).get();
}

template <class Output>
void run_nested(int iterations) {
  check_last(manta::async<next_steps<Output>>(0, iterations, layer<Output>()).get());
}

// --- one actor a rank

/// Has a block of points. Each step runs when the results that it needs of the other blocks have come; its own go at
/// once to the blocks that need them.
template <class Output>
class block {
 public:
  block(int rank, int ranks) : rank_(rank), ranks_(ranks) {}

  /// Before any block starts: who is who, and who needs what of whom.
  int prepare(const std::vector<manta::actor<block>>& all) {
    all_ = all;
    step_ = 0;
    const auto steps = static_cast<std::size_t>(here.steps);
    own_.assign(2, std::vector<Output>(static_cast<std::size_t>(here.width)));
    got_.assign(steps + 1, 0);
    arrived_.assign(steps + 1, {});
    wanted_.assign(steps + 1, 0);
    to_.assign(steps, std::vector<std::vector<int>>(static_cast<std::size_t>(ranks_)));
    for (int step = 1; step < here.steps; ++step) {
      std::vector<bool> from(static_cast<std::size_t>(ranks_), false);
      for (int point = 0; point < width_of(step); ++point) {
        for (const int p : inputs_of(step, point)) {
          const int maker = rank_of(step - 1, p, ranks_), taker = rank_of(step, point, ranks_);
          if (maker == taker) continue;
          if (taker == rank_) from[static_cast<std::size_t>(maker)] = true;
          std::vector<int>& points = to_[static_cast<std::size_t>(step) - 1][static_cast<std::size_t>(taker)];
          if (maker == rank_ && std::find(points.begin(), points.end(), p) == points.end()) points.push_back(p);
        }
      }
      wanted_[static_cast<std::size_t>(step)] = static_cast<int>(std::count(from.begin(), from.end(), true));
    }
    return 1;
  }

  /// Starts; the value comes when the last step has run here.
  manta::future<int> start(int iterations) {
    iterations_ = iterations;
    finished_ = manta::promise<int>();
    running_ = true;
    advance();
    return finished_.get_future();
  }

  /// Results of another block, for the step after theirs.
  void deliver(int step, const std::vector<int>& points, const std::vector<Output>& values) {
    auto& here_now = arrived_[static_cast<std::size_t>(step)];
    for (std::size_t i = 0; i < points.size(); ++i) here_now.emplace_back(points[i], values[i]);
    ++got_[static_cast<std::size_t>(step)];
    if (running_) advance();
  }

 private:
  void advance() {
    while (step_ < here.steps && got_[static_cast<std::size_t>(step_)] == wanted_[static_cast<std::size_t>(step_)])
      run_step();
    if (step_ < here.steps) return;
    running_ = false;
    finished_.set_value(1);
  }
  void run_step() {
    const auto now = static_cast<std::size_t>(step_);
    std::vector<Output>& before = own_[(now + 1) % 2];
    std::vector<Output>& mine = own_[now % 2];
    for (auto& [point, value] : arrived_[now]) before[static_cast<std::size_t>(point)] = std::move(value);
    arrived_[now] = {};
    for (int point = 0; point < width_of(step_); ++point) {
      if (rank_of(step_, point, ranks_) != rank_) continue;
      for (const int p : inputs_of(step_, point)) {
        if (!is_output(before[static_cast<std::size_t>(p)], step_ - 1, p)) wrong_input(step_, point);
      }
      compute(iterations_of(step_, point, iterations_));
      mine[static_cast<std::size_t>(point)] = output_of<Output>(step_, point);
    }
    for (std::size_t r = 0; r < to_[now].size(); ++r) {
      if (to_[now][r].empty()) continue;
      std::vector<Output> values;
      for (const int p : to_[now][r]) values.push_back(mine[static_cast<std::size_t>(p)]);
      manta::async<&block::deliver>(all_[r], step_ + 1, to_[now][r], values);
    }
    ++step_;
  }

  int rank_, ranks_;
  std::vector<manta::actor<block>> all_;
  std::vector<std::vector<std::vector<int>>> to_;  // by step and rank: points whose results go there
  std::vector<int> wanted_, got_;                  // by step: from how many ranks results are needed, have come
  std::vector<std::vector<std::pair<int, Output>>> arrived_;  // by step
  std::vector<std::vector<Output>> own_;                      // of the last two steps, by point
  int step_ = 0, iterations_ = 0;
  bool running_ = false;
  manta::promise<int> finished_;
};

template <class Output>
using blocks = std::vector<manta::actor<block<Output>>>;

template <class Output>
blocks<Output> make_blocks() {
  blocks<Output> all;
  for (int r = 0; r < manta::size(); ++r) all.push_back(manta::spawn<block<Output>>({.rank = r}, r, manta::size()));
  return all;
}

template <class Output>
double run_actors(const blocks<Output>& all, int iterations) {
  std::vector<manta::future<int>> prepared;
  for (const auto& b : all) prepared.push_back(manta::async<&block<Output>::prepare>(b, all));
  manta::get(prepared);
  const bench::stopwatch watch;
  std::vector<manta::future<manta::future<int>>> started;
  for (const auto& b : all) started.push_back(manta::async<&block<Output>::start>(b, iterations));
  for (const auto& s : started) s.get().get();
  return watch.seconds();
}

// --- measuring

template <class Output>
double seconds_of(std::string_view way, int iterations) {
  const bench::stopwatch watch;
  way == "nested" ? run_nested<Output>(iterations) : run_driver<Output>(iterations);
  return watch.seconds();
}

/// Collective. Rank 0 runs tasks beside the others only where there is an actor on it: else it submits and schedules,
/// and the machine of which half is to be used is that of the others.
template <class Output>
double measure(std::string_view way, double rate) {
  const bool actors = way == "actors";
  manta::runtime world(MPI_COMM_WORLD, {.rank0_tasks = actors});
  return world.run([&] {
    const int ranks = actors || manta::size() == 1 ? manta::size() : manta::size() - 1;
    const blocks<Output> all = actors ? make_blocks<Output>() : blocks<Output>();
    const auto run = [&](int iterations) {
      return actors ? run_actors(all, iterations) : seconds_of<Output>(way, iterations);
    };
    run(1);  // the warm-up
    return smallest_task_us(ranks, rate * ranks, run);
  });
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, manta::wanted_thread_level(), &level);
  read_arguments(argc, argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string_view only_way = argument(argc, argv, "way");
  const std::vector<named_case> all = cases(argc, argv);
  for (int repetition = 0; repetition < bench::repetitions(argc, argv); ++repetition) {
    for (const named_case& c : all) {
      take_up(c);
      for (const char* way : {"driver", "actors", "nested"}) {
        if (!only_way.empty() && only_way != way) continue;
        const double rate = peak(MPI_COMM_WORLD) / ranks;
        const double us = here.bytes > 8 ? measure<large>(way, rate) : measure<stamp>(way, rate);
        if (rank == 0 && us < 0)
          bench::failed(c.name.c_str(), "tasks of a millisecond leave half of the machine unused");
        if (rank == 0 && us > 0) bench::report((c.name + "_" + way).c_str(), "manta", us, "us");
      }
    }
  }
  MPI_Finalize();
  return 0;
}
