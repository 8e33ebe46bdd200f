// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "manta/base/amounts.hpp"
#include "manta/base/text.hpp"
#include "manta/report/rules.hpp"

namespace manta::report {

using base::text;

inline double figures::byte_share(double part) const {
  const double moving = share(rank_state::own) + share(rank_state::fetch);
  return std::max(least_share, std::min(part, 1.) * moving);
}

namespace detail {

/// Whether most ranks have nothing to do while one task or two run.
inline bool is_held_by_one_task(const figures& f, const state_seconds& bin) {
  const double running = seconds_in(bin, rank_state::task) / f.s.bin_seconds;
  const double idle = seconds_in(bin, rank_state::idle) / f.s.bin_seconds;
  return running > 0.5 && running < 3 && idle >= 0.5 * f.ranks.count;
}

/// The task that runs longest in the bins where one task holds all others, and for how long.
struct holder {
  const function_statistics* function = nullptr;
  const long_task* task = nullptr;
  double seconds = 0;  ///< seconds of its time in these bins
};

inline holder holder_of(const figures& f, const std::vector<bool>& is_held) {
  holder longest;
  for (const function_statistics& function : f.s.functions) {
    for (const long_task& task : function.longest) {
      double seconds = 0;
      for (std::size_t b = 0; b < is_held.size(); ++b) {
        const double begin = static_cast<double>(b) * f.s.bin_seconds, end = begin + f.s.bin_seconds;
        const double common = std::min(end, task.begin + task.seconds) - std::max(begin, task.begin);
        if (is_held[b] && common > 0) seconds += common;
      }
      if (seconds > longest.seconds) longest = {&function, &task, seconds};
    }
  }
  return longest;
}

/// A number of tasks that is easy to remember: 2, 5, 10, 20, 50 ...
inline std::uint64_t round_number(double least) {
  std::uint64_t power = 1;
  while (10 * static_cast<double>(power) < least) power *= 10;
  for (const std::uint64_t n : {2 * power, 5 * power}) {
    if (static_cast<double>(n) >= least) return n;
  }
  return 10 * power;
}

inline std::string name_of_task(const long_task& task) { return task.name.empty() ? "" : text(" (\"{}\")", task.name); }

}  // namespace detail

MANTA_DECL finding one_task_holds_all(const figures& f) {
  if (f.bins.empty() || f.s.bin_seconds <= 0 || f.ranks.count < 2) return {};
  std::vector<bool> is_held(f.bins.size());
  double seconds = 0, idle = 0;
  std::size_t first = f.bins.size();
  for (std::size_t b = 0; b < f.bins.size(); ++b) {
    is_held[b] = detail::is_held_by_one_task(f, f.bins[b]);
    if (!is_held[b]) continue;
    first = std::min(first, b);
    seconds += f.s.bin_seconds;
    idle += seconds_in(f.bins[b], rank_state::idle);
  }
  const detail::holder by = detail::holder_of(f, is_held);
  // Many short tasks one after the other are another case: too little parallelism.
  if (seconds < least_share * f.s.seconds || by.task == nullptr || by.seconds < 0.5 * seconds) return {};
  const function_statistics& function = *by.function;
  const long_task& task = *by.task;
  const double mean = function.tasks > 0 ? function.seconds / static_cast<double>(function.tasks) : 0;
  const std::string others = function.tasks > 1 ? text(", their mean is {}", base::duration_text(mean)) : std::string();
  const double begin = std::max(static_cast<double>(first) * f.s.bin_seconds, task.begin);
  return advice{"one task holds all",
                text("One task of {}{} took {}{}: from {} on, {} waited for it.", function.name,
                     detail::name_of_task(task), base::duration_text(task.seconds), others, base::clock_text(begin),
                     base::things_text(static_cast<std::uint64_t>(std::lround(idle / seconds)), "rank", "ranks")),
                "Split it, or let it begin first: submit it first, or give it .priority.", idle / f.ranks.all_seconds};
}

MANTA_DECL finding driver_is_the_neck(const figures& f) {
  if (f.s.ranks.size() < 2 || f.s.seconds <= 0) return {};
  const double driver = seconds_in(f.s.ranks[0].seconds, rank_state::driver) / f.s.seconds;
  const double idle = f.share(rank_state::idle);
  if (driver <= 0.7 || idle <= 0.3) return {};
  return advice{"driver is the neck",
                text("The driver's own code ran for {} of the time, and the ranks had nothing to do for {} of theirs.",
                     base::percent_text(driver), base::percent_text(idle)),
                "Move work from the driver into tasks, and submit the tasks before it begins to compute.", idle};
}

MANTA_DECL finding too_little_parallelism(const figures& f) {
  if (f.s.seconds <= 0 || f.ranks.count < 2) return {};
  const double running = seconds_in(f.ranks.seconds, rank_state::task) / f.s.seconds;
  const double ready = f.s.ready_seconds / f.s.seconds;
  if (running + ready >= f.ranks.count) return {};
  return advice{
      "too little parallelism",
      text("On average {} tasks ran or waited for room, on {} ranks, which had nothing to do for {} of their "
           "time.",
           base::number_text(running + ready, 2), f.ranks.count, base::percent_text(f.share(rank_state::idle))),
      "Submit more tasks before you wait for the first, make them smaller, or start fewer ranks.",
      f.share(rank_state::idle)};
}

MANTA_DECL finding tasks_too_short(const figures& f) {
  if (f.tasks.tasks == 0) return {};
  const double own = seconds_in(f.ranks.seconds, rank_state::own) / static_cast<double>(f.tasks.tasks);
  const function_statistics* shortest = nullptr;
  for (const function_statistics& each : f.s.functions) {
    const bool is_short = each.tasks > 0 && each.seconds < 5 * own * static_cast<double>(each.tasks);
    if (is_short && (shortest == nullptr || each.tasks > shortest->tasks)) shortest = &each;
  }
  if (shortest == nullptr) return {};
  const auto count = static_cast<double>(shortest->tasks);
  const double mean = shortest->seconds / count;
  const std::uint64_t together = detail::round_number(20 * own / std::max(mean, own / 50));
  return advice{
      "tasks too short",
      text("{} of {} took {} each, and manta needed {} for each.", base::things_text(shortest->tasks, "task", "tasks"),
           shortest->name, base::duration_text(mean, 2), base::duration_text(own, 2)),
      text("Let one task do the work of {}, by .grain of for_each or a loop in the task.", base::count_text(together)),
      f.share(rank_state::own) * count / static_cast<double>(f.tasks.tasks)};
}

MANTA_DECL finding same_value_sent_again(const figures& f) {
  const std::uint64_t again = f.s.same_value_bytes, sent = f.values.sent_bytes + again;
  if (f.s.same_value_count < 10 || static_cast<double>(again) < 0.2 * static_cast<double>(sent)) return {};
  return advice{"same value by value",
                text("The same {} went to {} tasks of {} as an argument ({} of {} that were sent).",
                     base::bytes_text(again / f.s.same_value_count), base::count_text(f.s.same_value_count),
                     f.s.same_value_function, base::bytes_text(again), base::bytes_text(sent)),
                "Give the value to manta::put once, and pass the future.",
                f.byte_share(static_cast<double>(again) / static_cast<double>(sent))};
}

MANTA_DECL finding values_under_way(const figures& f) {
  const double fetching = f.share(rank_state::fetch);
  if (fetching <= 0.15) return {};
  std::string most;
  if (!f.s.edges.empty() && f.s.edges[0].from >= 0 && f.s.edges[0].to >= 0 && f.s.edges[0].bytes > 0) {
    const edge_statistics& e = f.s.edges[0];
    most =
        text("; most of these bytes, {}, went from {} to {}", base::bytes_text(e.bytes),
             f.s.functions[static_cast<std::size_t>(e.from)].name, f.s.functions[static_cast<std::size_t>(e.to)].name);
  }
  return advice{
      "values under way",
      text("Ranks with a task waited for its inputs for {} of their time{}.", base::percent_text(fetching), most),
      "Let tasks run where their inputs are (.near), let each do more with them, or use fewer nodes.", fetching};
}

MANTA_DECL finding values_moved_to_disk(const figures& f) {
  const std::uint64_t spilled = f.values.spilled_bytes, sent = f.values.sent_bytes;
  if (spilled < std::uint64_t{1} << 20U || static_cast<double>(spilled) <= 0.1 * static_cast<double>(sent)) return {};
  return advice{"memory",
                text("{} of values moved to a disk, for want of memory; {} were sent.", base::bytes_text(spilled),
                     base::bytes_text(sent)),
                "Let go of futures earlier, raise MANTA_NODE_STORE_MEMORY, or start fewer ranks on a node.",
                f.byte_share(static_cast<double>(spilled) / static_cast<double>(std::max(spilled, sent)))};
}

MANTA_DECL finding calls_wait_for_one_actor(const figures& f) {
  if (f.s.actors.empty() || f.s.seconds <= 0) return {};
  const actor_statistics& one = f.s.actors[0];
  double all = f.tasks.waited;
  for (const actor_statistics& each : f.s.actors) all += each.waited;
  if (one.waited <= 0.2 * all || one.waited < one.seconds || one.calls < 10) return {};
  const double busy = std::min(1., one.seconds / f.s.seconds);
  return advice{"mailbox of one actor",
                text("{} calls of the actor {} on rank {} waited {} in its mailbox, {} each; it was at work for {} of "
                     "the time.",
                     base::count_text(one.calls), one.name, one.rank, base::duration_text(one.waited),
                     base::duration_text(one.waited / static_cast<double>(one.calls)), base::percent_text(busy)),
                "Share its work among several: a manta::actor_pool, or an actor for each part of the data.",
                busy * (f.share(rank_state::idle) + f.share(rank_state::actor) + f.share(rank_state::fetch))};
}

MANTA_DECL finding gangs_do_not_fit(const figures& f) {
  const double kept = f.share(rank_state::gang);
  if (kept <= 0.1) return {};
  return advice{
      "gangs do not fit",
      text("Ranks were kept free for gangs, or waited in them for others, for {} of their time.",
           base::percent_text(kept)),
      "Give gangs a number of ranks that divides the number of ranks there are, on each node if they need one.", kept};
}

MANTA_DECL finding more_threads_than_cores(const figures& f) {
  const node_statistics* worst = nullptr;
  double most = 1;
  for (const node_statistics& n : f.s.nodes) {
    if (n.cores <= 0) continue;
    const double ratio = static_cast<double>(n.ranks) * n.threads_per_rank / n.cores;
    if (n.threads_per_rank < 2 || ratio <= most) continue;
    worst = &n;
    most = ratio;
  }
  if (worst == nullptr) return {};
  return advice{"threads",
                text("{} ranks with {} threads each computed on {} cores of {}.", worst->ranks, worst->threads_per_rank,
                     worst->cores, worst->host),
                text("Set OMP_NUM_THREADS={}, or give each rank more cores (cpus_per_rank).",
                     std::max(1, worst->cores / std::max(1, worst->ranks))),
                f.share(rank_state::task) * (1 - 1 / most)};
}

MANTA_DECL finding time_limit(const figures& f) {
  if (!f.s.is_over) return {};
  if (!f.s.why_ended.empty()) {
    return advice{
        "time limit", text("The run had to end before its work was done: {}.", f.s.why_ended),
        "Ask for more time (time =), or set a journal (MANTA_JOURNAL), so that the next start goes on from here.", 1};
  }
  const double unused = 1 - f.s.seconds / f.s.allocation_seconds;
  if (f.s.allocation_seconds <= 0 || unused <= 0.5) return {};
  // This costs no time of the run, so it comes last.
  return advice{"time limit",
                text("The run took {}, and the allocation was for {}.", base::length_text(f.s.seconds),
                     base::length_text(f.s.allocation_seconds)),
                "Ask for less time (time =): shorter jobs begin earlier.", least_share};
}

MANTA_DECL finding many_failures(const figures& f) {
  const function_statistics* worst = nullptr;
  for (const function_statistics& each : f.s.functions) {
    const std::uint64_t all = each.tasks + each.failed;
    if (static_cast<double>(each.failed) <= 0.05 * static_cast<double>(all)) continue;
    if (worst == nullptr || each.failed > worst->failed) worst = &each;
  }
  if (worst == nullptr) return {};
  const std::uint64_t all = worst->tasks + worst->failed;
  const std::string most =
      worst->failure.empty() ? std::string()
                             : text(", {} of them with \"{}\"", base::count_text(worst->failure_count), worst->failure);
  const double of_time = f.tasks.seconds > 0 ? worst->seconds / f.tasks.seconds : 0;
  return advice{
      "failures",
      text("{} of {} tasks of {} failed{}.", base::count_text(worst->failed), base::count_text(all), worst->name, most),
      "", std::max(least_share, of_time * static_cast<double>(worst->failed) / static_cast<double>(all))};
}

}  // namespace manta::report
