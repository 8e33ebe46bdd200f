// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Any number of ranks in one process: each runs what it is sent in order, messages
// take a while, a virtual clock; no MPI, no threads. Rank 0 works in turns, as the
// engine does: it takes the ends that have come, tells the scheduler, and lets it
// decide; a turn takes virtual time for each decision. The processor time of the
// scheduler alone is measured, that of the simulation is not.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "list_schedule.hpp"
#include "manta/base/clock.hpp"
#include "manta/graph/scheduler.hpp"

namespace simulated_ranks {

namespace graph = manta::graph;

inline constexpr std::int64_t us = 1'000;
inline constexpr std::int64_t ms = 1'000 * us;

/// Bytes that malloc has handed out.
inline std::size_t allocated() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

struct settings {
  std::uint32_t ranks = 10;          ///< that run tasks; rank 0 is one more
  std::int64_t latency_ns = 2 * us;  ///< of a message, either way
  std::int64_t decision_ns = 0;      ///< virtual time of rank 0 for each task: its decision and its messages
  int ranks_a_node = 16;
  manta::graph::quantities resources = {};  ///< of each rank
};

struct job {
  std::uint32_t function = 0;
  std::uint32_t rank = graph::no_index;  ///< where it ran; of a gang, the first
  std::int64_t ns = 0;
  std::int64_t started = -1, ended = -1;
  int members = 1, members_left = 1;
  std::uint32_t input_at = graph::no_index;
  graph::request_ptr wanted = nullptr;
  int lost = 0;  ///< how often a rank has died of those where it ran
  bool is_lost = false;
};

class world {
 public:
  explicit world(const settings& s)
      : settings_(s),
        before_(allocated()),
        scheduler_(std::make_unique<graph::scheduler>(nodes_, capacities(s))),
        rank_bytes_(allocated() - before_),
        free_at_(s.ranks + 1, 0),
        busy_(s.ranks + 1, 0),
        on_(s.ranks + 1) {}
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  /// `wanted`: null, or a request of its own. `input_at`: the rank where an input of `input_bytes` lies.
  void submit(std::uint32_t function, std::int64_t ns, graph::request_ptr wanted = nullptr,
              std::uint32_t input_at = graph::no_index, std::uint64_t input_bytes = 0) {
    const int members = wanted != nullptr && wanted->ranks > 0 ? wanted->ranks : 1;
    jobs_.push_back({function, graph::no_index, ns, -1, -1, members, members, input_at, wanted});
    work_ns_ += ns * members;
    submit_job(static_cast<std::uint32_t>(jobs_.size() - 1), std::move(wanted), input_at, input_bytes);
  }
  /// At that time the rank dies: what runs there is submitted again when the other members of its gang have left. To be
  /// called in the order of the times.
  void kill(std::int64_t at, std::uint32_t rank) { deaths_.push_back({at, rank}); }

 private:
  void submit_job(std::uint32_t at, graph::request_ptr wanted, std::uint32_t input_at = graph::no_index,
                  std::uint64_t input_bytes = 0) {
    graph::node& n = nodes_.make();
    n.function = jobs_[at].function;
    n.form = graph::form::compact;
    const bool input = input_at != graph::no_index;
    if (wanted != nullptr || input) {
      n.form = graph::form::record;
      n.record = tasks_.make(input ? 1 : 0, 0);
      n.record->request = std::move(wanted);
      if (input) {
        graph::node& value = nodes_.make();
        value.state = graph::state::ready;
        value.form = graph::form::remote;
        value.remote.place = input_at;
        value.remote.bytes = input_bytes;
        n.record->inputs()[0] = &value;
      }
    }
    if (n.index >= job_of_.size()) job_of_.resize(n.index + 1);
    job_of_[n.index] = at;
    const std::uint64_t begin = manta::base::ticks();
    scheduler_->ready(n);
    ticks_ += manta::base::ticks() - begin;
  }

 public:
  /// Until all tasks have ended. False if the scheduler lost one, sent one twice or left one waiting for ever.
  bool run() {
    std::size_t left = jobs_.size();
    while (left > 0) {
      while (next_death_ < deaths_.size() && deaths_[next_death_].at <= now_) die(deaths_[next_death_++].rank);
      turn_.clear();
      while (!ends_.empty() && ends_.top().at <= now_) {
        if (ends_.top().attempt == jobs_[ends_.top().job].lost) turn_.push_back(ends_.top());
        ends_.pop();
      }
      const std::uint64_t begin = manta::base::ticks();
      for (const ending& e : turn_) {
        scheduler_->ended(e.rank, e.function, e.charge, static_cast<std::uint64_t>(e.ns), e.wanted.get());
      }
      scheduler_->decide([this](graph::node& n, std::uint32_t rank, std::uint32_t charge) { note(n, rank, charge); });
      ticks_ += manta::base::ticks() - begin;
      const std::size_t sent = decisions_.size();
      for (const decision& d : decisions_) send(d);
      decisions_.clear();
      for (const ending& e : turn_) {
        job& j = jobs_[e.job];
        std::erase_if(on_[e.rank], [&](const ending& its) { return its.job == e.job; });
        if (j.is_lost) {
          if (--j.members_left == 0) again(e.job);
          continue;
        }
        if (--j.members_left == 0) --left, j.ended = e.at;
        if (j.members_left < 0) return false;
      }
      turns_ += !turn_.empty() || sent != 0;
      now_ += static_cast<std::int64_t>(sent) * settings_.decision_ns;
      const bool any_dies = next_death_ < deaths_.size();
      if (ends_.empty() && !any_dies && sent == 0) return left == 0;
      if (!ends_.empty() && (!any_dies || ends_.top().at <= deaths_[next_death_].at)) {
        now_ = std::max(now_, ends_.top().at);
      } else if (any_dies) {
        now_ = std::max(now_, deaths_[next_death_].at);
      }
    }
    return lost_ == 0;
  }

  std::size_t tasks() const { return jobs_.size(); }
  const std::vector<job>& jobs() const { return jobs_; }
  /// Real microseconds of the scheduler for each task: taking it, deciding, hearing of its end. Reading the clock,
  /// twice a turn and twice a task submitted, is not counted.
  double decision_us() const {
    const double ticks = static_cast<double>(ticks_) - clock_ticks() * static_cast<double>(jobs_.size() + turns_);
    return 1e-3 * ticks * manta::base::nanoseconds_per_tick() / static_cast<double>(jobs_.size());
  }
  /// Real microseconds of the scheduler for each death.
  double death_us() const {
    return 1e-3 * static_cast<double>(death_ticks_) * manta::base::nanoseconds_per_tick() /
           static_cast<double>(std::max<std::size_t>(1, next_death_));
  }
  double rank_bytes() const { return static_cast<double>(rank_bytes_) / settings_.ranks; }
  /// Of its nodes and records; what the simulation keeps is not counted.
  double task_bytes() const { return static_cast<double>(nodes_.bytes()) / static_cast<double>(jobs_.size()); }
  /// How long a list schedule would take, over the time that it took. Not for gangs of different sizes.
  double of_list_schedule() const {
    std::vector<std::int64_t> lengths;
    for (const job& j : jobs_) lengths.push_back(j.ns);
    const list_schedule best(lengths, static_cast<std::size_t>(jobs_[0].members), settings_.ranks, deaths_);
    return static_cast<double>(best.last() + 2 * settings_.latency_ns) / static_cast<double>(makespan());
  }
  /// How often a job was begun anew.
  int lost() const {
    int all = 0;
    for (const job& j : jobs_) all += j.lost;
    return all;
  }
  /// The part of the ranks' time until the last end in which they worked.
  double utilisation() const {
    return static_cast<double>(work_ns_) / settings_.ranks / static_cast<double>(makespan());
  }
  /// The part of the tasks with an input that ran where it lies.
  double near_input() const {
    std::size_t with = 0, near = 0;
    for (const job& j : jobs_) {
      with += j.input_at != graph::no_index;
      near += j.input_at != graph::no_index && j.input_at == j.rank;
    }
    return with == 0 ? 0 : static_cast<double>(near) / static_cast<double>(with);
  }
  /// Jain's index of the ranks' busy times: 1 if all did the same, 1 / ranks if one did all.
  double evenness() const {
    double sum = 0, squares = 0;
    for (std::size_t r = 1; r < busy_.size(); ++r) {
      const auto x = static_cast<double>(busy_[r]);
      sum += x;
      squares += x * x;
    }
    return sum * sum / (squares * settings_.ranks);
  }
  /// Mean virtual time at which the tasks of a function started, over that of all tasks.
  double start_of(std::uint32_t function) const {
    double sum = 0, all = 0;
    std::size_t count = 0;
    for (const job& j : jobs_) {
      all += static_cast<double>(j.started);
      if (j.function == function) sum += static_cast<double>(j.started), ++count;
    }
    return sum / static_cast<double>(count) / (all / static_cast<double>(jobs_.size()));
  }

 private:
  struct decision {
    std::uint32_t job, rank, charge;
    graph::request_ptr wanted;
  };
  struct ending {
    std::int64_t at;
    std::int64_t ns;
    std::uint32_t job, rank, function, charge;
    graph::request_ptr wanted;
    int attempt;
    bool operator<(const ending& other) const { return at > other.at; }  // the earliest is on top
  };

  static manta::base::array<graph::capacity> capacities(const settings& s) {
    manta::base::array<graph::capacity> all(s.ranks + 1);
    for (std::size_t r = 0; r < all.size(); ++r) {
      all[r].executes = r != 0;
      all[r].node = static_cast<int>(r) / s.ranks_a_node;
      all[r].cpus = 4;
      all[r].resources = s.resources;
    }
    return all;
  }
  static double clock_ticks() {
    static const double each = [] {
      constexpr int count = 100'000;
      std::uint64_t sum = 0;
      for (int i = 0; i < count; ++i) {
        const std::uint64_t begin = manta::base::ticks();
        sum += manta::base::ticks() - begin;
      }
      return static_cast<double>(sum) / count;
    }();
    return each;
  }

  /// Inside the scheduler's time, so it only takes note.
  void note(graph::node& n, std::uint32_t rank, std::uint32_t charge) {
    const std::uint32_t at = job_of_[n.index];
    graph::request_ptr wanted = n.form == graph::form::record ? n.record->request : nullptr;
    if (wanted != nullptr && wanted->ranks > 0) {
      const std::uint64_t begin = manta::base::ticks();  // the copies are the simulation's
      for (std::size_t i = 0; i < scheduler_->gang().members().size(); ++i) {
        auto* const its = new graph::request(*wanted);
        its->granted = scheduler_->gang().grants()[i];
        decisions_.push_back({at, scheduler_->gang().members()[i], charge, graph::request_ptr(its)});
      }
      ticks_ -= manta::base::ticks() - begin;
    } else {
      decisions_.push_back({at, rank, charge, std::move(wanted)});
    }
    if (n.form == graph::form::record) {
      for (std::uint32_t i = 0; i < n.record->input_count; ++i) nodes_.free(*n.record->inputs()[i]);
      tasks_.free(n.record);
    }
    nodes_.free(n);
  }
  void send(const decision& d) {
    job& j = jobs_[d.job];
    if (j.rank != graph::no_index && j.lost == 0 && (d.wanted == nullptr || d.wanted->ranks == 0))
      ++lost_;  // sent twice
    if (d.rank == 0 || d.rank > settings_.ranks) ++lost_;
    const std::int64_t start = std::max(now_ + settings_.latency_ns, free_at_[d.rank]);
    free_at_[d.rank] = start + j.ns;
    busy_[d.rank] += j.ns;
    if (j.rank == graph::no_index) j.rank = d.rank;
    j.started = std::max(j.started, start);
    ends_.push({start + j.ns + settings_.latency_ns, j.ns, d.job, d.rank, j.function, d.charge, d.wanted, j.lost});
    if (!deaths_.empty()) on_[d.rank].push_back({start, j.ns, d.job, d.rank, j.function, d.charge, d.wanted, j.lost});
  }
  void die(std::uint32_t dead) {
    const std::uint64_t begin = manta::base::ticks();
    scheduler_->died(dead, [this](graph::node&) { ++lost_; });
    death_ticks_ += manta::base::ticks() - begin;
    for (const ending& its : std::exchange(on_[dead], {})) {
      job& j = jobs_[its.job];
      j.is_lost = true;
      ++j.lost;
      j.members_left = 0;
      for (std::uint32_t r = 1; r < on_.size(); ++r) {  // the other members leave at once
        for (ending& other : on_[r]) {
          if (other.job != its.job) continue;
          free_at_[r] = now_;
          ++j.members_left;
          ends_.push({now_ + settings_.latency_ns, std::max<std::int64_t>(0, now_ - other.at), other.job, r,
                      other.function, other.charge, other.wanted, j.lost});
        }
      }
      if (j.members_left == 0) again(its.job);
    }
  }
  void again(std::uint32_t at) {
    jobs_[at].is_lost = false;
    jobs_[at].members_left = jobs_[at].members;
    submit_job(at, jobs_[at].wanted == nullptr ? nullptr : graph::request_ptr(new graph::request(*jobs_[at].wanted)));
  }
  std::int64_t makespan() const {
    std::int64_t last = 0;
    for (const job& j : jobs_) last = std::max(last, j.ended);
    return last;
  }

  settings settings_;
  std::size_t before_;
  graph::node_table nodes_;
  graph::task_pool tasks_;
  std::unique_ptr<graph::scheduler> scheduler_;
  std::size_t rank_bytes_;
  std::vector<job> jobs_;
  std::vector<std::uint32_t> job_of_;  // by the index of its node
  std::vector<std::int64_t> free_at_;  // by rank: when it has done what it was sent
  std::vector<std::int64_t> busy_;
  std::vector<std::vector<ending>> on_;  // by rank: what runs there, where ranks die
  std::vector<death> deaths_;
  std::size_t next_death_ = 0;
  std::priority_queue<ending> ends_;
  std::vector<ending> turn_;
  std::vector<decision> decisions_;
  std::int64_t now_ = 0;
  std::int64_t work_ns_ = 0;
  std::uint64_t ticks_ = 0, death_ticks_ = 0;
  std::size_t turns_ = 0;
  int lost_ = 0;
};

}  // namespace simulated_ranks
