// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P11: the scheduler alone, against 10 to 10 000 simulated ranks. For each kind of
// load: what a decision costs, how much of the ranks' time is used, how even the
// ranks' shares are. The bound of one rank 0 shows where a decision takes virtual
// time as well, and how far it moves when tasks are submitted where they run.
//
//   bench_simulated_ranks_manta                 the figures of scripts/bench
//   bench_simulated_ranks_manta table [tasks [load]]   all of them, or one, as a table
//   bench_simulated_ranks_manta study           10 000 gang trials on 1 000 nodes, of which some die
//   bench_simulated_ranks_manta neck            used part of the ranks' time by the length of tasks, with one rank 0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "../common/measure.hpp"
#include "simulation.hpp"

namespace {

using namespace simulated_ranks;

constexpr int members = 8;  // of a gang

struct load {
  const char* name;
  const char* what;
  void (*submit)(world&, std::uint32_t ranks, std::size_t tasks);
  std::size_t tasks_a_rank = 1'000'000;  ///< at most so many, where a decision costs more the more ranks there are
  manta::graph::quantities resources = {};
  std::int64_t decision_ns = 0;
};

template <class Change>
manta::graph::request_ptr asking(Change change) {
  manta::graph::request r;
  change(r);
  return manta::graph::request_ptr(new manta::graph::request(r));
}

void equal(world& w, std::uint32_t, std::size_t tasks) {
  for (std::size_t i = 0; i < tasks; ++i) w.submit(0, ms);
}
void short_ones(world& w, std::uint32_t, std::size_t tasks) {
  for (std::size_t i = 0; i < tasks; ++i) w.submit(0, 10 * us);
}
/// What a task of 10 us submits: the scheduler sees one task for a thousand, on the rank that runs them.
void submitted_locally(world& w, std::uint32_t ranks, std::size_t tasks) {
  for (std::size_t i = 0; i < std::max<std::size_t>(tasks / 1000, 10 * ranks); ++i) w.submit(0, 1000 * 10 * us);
}
/// One function whose tasks take from 1 us to seconds, 1 ms in the mean.
void uneven(world& w, std::uint32_t, std::size_t tasks) {
  std::mt19937_64 draw(1);
  std::lognormal_distribution<double> ns(std::log(1e6) - 0.5 * 1.5 * 1.5, 1.5);
  for (std::size_t i = 0; i < tasks; ++i) w.submit(0, 1000 + static_cast<std::int64_t>(ns(draw)));
}
/// Half of the tasks have a large input on one rank of a hundred.
void skewed(world& w, std::uint32_t ranks, std::size_t tasks) {
  std::mt19937_64 draw(1);
  const std::uint32_t hot = ranks / 100 + 1;
  for (std::size_t i = 0; i < tasks; ++i) {
    const std::uint32_t place = 1 + static_cast<std::uint32_t>(draw() % (draw() % 2 == 0 ? hot : ranks));
    w.submit(0, ms, nullptr, place, 1 << 20);
  }
}
/// Each task takes one of the two slots of its rank.
void conditions(world& w, std::uint32_t, std::size_t tasks) {
  for (std::size_t i = 0; i < tasks; ++i) {
    w.submit(0, ms, asking([](auto& r) { r.resources["slot"] = manta::graph::quantity("slot", 1).units; }));
  }
}
void spread_out(world& w, std::uint32_t, std::size_t tasks) {
  for (std::size_t i = 0; i < tasks; ++i) w.submit(0, ms, asking([](auto& r) { r.spread = true; }));
}
/// A gang of eight after each hundred tasks.
void gangs(world& w, std::uint32_t, std::size_t tasks) {
  for (std::size_t i = 0; i < tasks; ++i) {
    w.submit(0, ms);
    if (i % 100 == 99) w.submit(1, 5 * ms, asking([](auto& r) { r.ranks = members; }));
  }
}
/// Trainings of a search: gangs of eight, ten for each place, 1 s in the mean. wish(request, random number) says where.
template <class Wish>
void trials_with(world& w, std::uint32_t ranks, Wish&& wish) {
  std::mt19937_64 draw(1), draw_place(2);
  std::lognormal_distribution<double> ns(std::log(1e9) - 0.5 * 0.5 * 0.5, 0.5);
  for (std::uint32_t i = 0; i < 10 * ranks / members; ++i) {
    w.submit(0, static_cast<std::int64_t>(ns(draw)), asking([&](auto& r) {
               r.ranks = members;
               wish(r, draw_place());
             }));
  }
}
void trials(world& w, std::uint32_t ranks, std::size_t) {
  trials_with(w, ranks, [](auto&, auto) {});
}
void trials_on_two(world& w, std::uint32_t ranks, std::size_t) {
  trials_with(w, ranks, [=](auto& r, auto) { r.nodes = ranks < 32 ? 1 : 2; });
}
void trials_spread(world& w, std::uint32_t ranks, std::size_t) {
  trials_with(w, ranks, [](auto& r, auto) { r.spread = true; });
}
/// Each near one of ten values.
void trials_near(world& w, std::uint32_t ranks, std::size_t) {
  trials_with(w, ranks, [=](auto& r, auto number) { r.near = 1 + static_cast<int>(number % 10 * ranks / 10); });
}
/// Two users in turn: one's tasks ask for a slot, the other's for nothing.
void two_users(world& w, std::uint32_t, std::size_t tasks) {
  for (std::size_t i = 0; i < tasks / 2; ++i) {
    w.submit(0, ms);
    w.submit(1, ms, asking([](auto& r) { r.resources["slot"] = manta::graph::quantity("slot", 1).units; }));
  }
}

const manta::graph::quantities slots = [] {
  manta::graph::quantities q;
  q["slot"] = manta::graph::quantity("slot", 2).units;
  return q;
}();

/// As P1 has it on two ranks: 0.1 us of rank 0 for each task.
constexpr std::int64_t rank_0_ns = 100;

const std::vector<load> loads = {
    {"equal", "1 ms each", equal},
    {"short", "10 us each", short_ones},
    {"uneven", "1 ms in the mean, lognormal", uneven},
    {"skewed", "1 ms, half of the inputs on 1 % of the ranks", skewed},
    {"conditions", "1 ms, one of two slots of a rank", conditions, 1'000'000, slots},
    {"spread", "1 ms, spread", spread_out},
    {"gangs", "1 ms, and 1 % gangs of 8 for 5 ms", gangs, 20},
    {"trials", "gangs of 8 alone, 1 s in the mean, lognormal", trials},
    {"trials_on_two", "the same, each on two nodes", trials_on_two},
    {"trials_spread", "the same, each spread", trials_spread},
    {"trials_near", "the same, each near one of ten values", trials_near},
    {"two_users", "1 ms, half with a slot", two_users, 1'000'000, slots},
    {"equal_0.1us", "1 ms, 0.1 us of rank 0 a task", equal, 1'000'000, {}, rank_0_ns},
    {"short_0.1us", "10 us, 0.1 us of rank 0 a task", short_ones, 1'000'000, {}, rank_0_ns},
    {"local_0.1us", "10 us, the same, submitted locally in thousands", submitted_locally, 1'000'000, {}, rank_0_ns},
};

const load& load_named(const std::string& name) {
  return *std::find_if(loads.begin(), loads.end(), [&](const load& l) { return l.name == name; });
}

struct outcome {
  bool right = false;
  double decision_us = 0, used = 0, of_list_schedule = 0, evenness = 0, near = 0, second = 0, rank_bytes = 0,
         task_bytes = 0;
};

outcome simulate(const load& l, std::uint32_t ranks, std::size_t tasks) {
  settings s;
  s.ranks = ranks;
  s.decision_ns = l.decision_ns;
  s.resources = l.resources;
  world w(s);
  l.submit(w, ranks, std::min(tasks, l.tasks_a_rank * ranks));
  outcome o;
  o.task_bytes = w.task_bytes();
  o.right = w.run();
  o.decision_us = w.decision_us();
  o.used = w.utilisation();
  o.of_list_schedule = w.of_list_schedule();
  o.evenness = w.evenness();
  o.near = w.near_input();
  o.rank_bytes = w.rank_bytes();
  if (std::any_of(w.jobs().begin(), w.jobs().end(), [](const job& j) { return j.function == 1; }))
    o.second = w.start_of(1);
  return o;
}

int print_table(std::size_t tasks, const std::string& name) {
  std::printf(
      "| load | ranks | us a decision | used | of a list schedule | evenness | notes "
      "|\n|---|---|---|---|---|---|---|\n");
  for (const load& l : loads) {
    if (!name.empty() && name != l.name) continue;
    for (const std::uint32_t ranks : {10u, 100u, 1'000u, 10'000u}) {
      const outcome o = simulate(l, ranks, tasks);
      if (!o.right) return bench::failed(l.name, "a task was lost or sent twice");
      std::printf("| %s | %u | %.3f | %.3f | %.3f | %.3f | ", l.what, ranks, o.decision_us, o.used, o.of_list_schedule,
                  o.evenness);
      if (o.near > 0) std::printf("%.2f of the tasks ran where their input lies ", o.near);
      if (o.second > 0) std::printf("the second kind started at %.2f of the mean ", o.second);
      std::printf("|\n");
      std::fflush(stdout);
    }
  }
  return 0;
}

/// Kills ranks and whole nodes at random times of the first nine seconds.
void kill_some(world& w, std::mt19937_64& draw, std::uint32_t ranks, int dead_ranks, int dead_nodes) {
  std::vector<death> deaths;
  const auto some_time = [&] { return static_cast<std::int64_t>(draw() % 9'000) * ms; };
  for (int i = 0; i < dead_ranks; ++i) deaths.push_back({some_time(), 1 + static_cast<std::uint32_t>(draw() % ranks)});
  for (int i = 0; i < dead_nodes; ++i) {
    const std::int64_t at = some_time();
    const std::uint32_t first = members * static_cast<std::uint32_t>(1 + draw() % (ranks / members - 1));
    for (std::uint32_t r = first; r < first + members; ++r) deaths.push_back({at, r});
  }
  std::sort(deaths.begin(), deaths.end(), [](const death& a, const death& b) { return a.at < b.at; });
  std::vector<bool> is_dead(ranks + 1);
  for (const death& d : deaths) {
    if (!is_dead[d.rank]) w.kill(d.at, d.rank);
    is_dead[d.rank] = true;
  }
}

/// Ten thousand trainings of a search, gangs of eight on a thousand nodes of eight ranks: a thousand at a time, while
/// ranks and whole nodes die. Which training is the last decides much, so the share is the mean of some seeds.
int print_study() {
  constexpr int seeds = 16;
  std::printf(
      "| ranks that die | nodes that die | of a list schedule (least) | used | begun anew | us a gang | us a death |"
      " KiB of rank 0 |\n|---|---|---|---|---|---|---|---|\n");
  for (const auto& [dead_ranks, dead_nodes] : {std::pair{0, 0}, {40, 0}, {40, 10}, {200, 50}}) {
    double share = 0, least = 2, used = 0, gang_us = 0, death_us = 0, rank_0_kib = 0;
    int begun_anew = 0;
    for (int seed = 0; seed < seeds; ++seed) {
      settings s;
      s.ranks = 1000 * members;
      s.ranks_a_node = members;
      world w(s);
      std::mt19937_64 draw(static_cast<unsigned>(seed));
      kill_some(w, draw, s.ranks, dead_ranks, dead_nodes);
      trials(w, s.ranks, 0);
      if (!w.run()) return bench::failed("study", "a trial was lost or sent twice");
      share += w.of_list_schedule() / seeds;
      least = std::min(least, w.of_list_schedule());
      used += w.utilisation() / seeds;
      begun_anew += w.lost();
      gang_us += w.decision_us() / seeds;
      death_us += w.death_us() / seeds;
      rank_0_kib = w.rank_bytes() * s.ranks / 1024;
    }
    std::printf("| %d | %d | %.3f (%.3f) | %.3f | %d | %.1f | %.0f | %.0f |\n", dead_ranks, dead_nodes, share, least,
                used, begun_anew / seeds, gang_us, death_us, rank_0_kib);
  }
  return 0;
}

/// With 0.1 us of rank 0 for each task: how much of the ranks' time is used, by the length of tasks.
int print_neck() {
  std::printf("| ranks | 10 us | 30 us | 100 us | 300 us | 1 ms | 3 ms |\n|---|---|---|---|---|---|---|\n");
  for (const std::uint32_t ranks : {100u, 1'000u, 10'000u}) {
    std::printf("| %u |", ranks);
    for (const std::int64_t length : {10 * us, 30 * us, 100 * us, 300 * us, ms, 3 * ms}) {
      settings s;
      s.ranks = ranks;
      s.decision_ns = rank_0_ns;
      world w(s);
      for (std::size_t i = 0; i < 50 * std::size_t{ranks}; ++i) w.submit(0, length);
      if (!w.run()) return bench::failed("neck", "a task was lost or sent twice");
      std::printf(" %.2f |", w.utilisation());
      std::fflush(stdout);
    }
    std::printf("\n");
  }
  return 0;
}

/// Prints what was measured as name_ranks.
void report(const char* name, std::uint32_t ranks, double value, const char* unit) {
  char figure[64];
  std::snprintf(figure, sizeof figure, "%s_%u", name, ranks);
  bench::report(figure, "manta", value, unit);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "table") == 0)
    return print_table(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1'000'000, argc > 3 ? argv[3] : "");
  if (argc > 1 && std::strcmp(argv[1], "study") == 0) return print_study();
  if (argc > 1 && std::strcmp(argv[1], "neck") == 0) return print_neck();
  const int repetitions = bench::repetitions(argc, argv);
  for (int repetition = -1; repetition < repetitions; ++repetition) {  // -1 is the warm-up
    for (const std::uint32_t ranks : {10u, 10'000u}) {
      const outcome plain = simulate(load_named("equal"), ranks, 1'000'000);
      const outcome asking = simulate(load_named("conditions"), ranks, 200'000);
      if (!plain.right || !asking.right) return bench::failed("simulated_ranks", "a task was lost or sent twice");
      if (repetition < 0) continue;
      report("decision", ranks, plain.decision_us, "us");
      report("used", ranks, plain.used, "x");
      report("task_bytes", ranks, plain.task_bytes, "B");
      report("rank_bytes", ranks, plain.rank_bytes, "B");
      report("decision_asking", ranks, asking.decision_us, "us");
    }
  }
  return 0;
}
