// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A thousand ranks in one process, and ten thousand with --long: all that runs on four ranks runs there too, and what a
// rank keeps, and what rank 0 says at a death and at the end, grows no faster than it must (bench/scale.md).
#include <doctest/doctest.h>
#include <malloc.h>

#include <unistd.h>
#include <cstdio>
#include <ctime>
#include <utility>
#include <vector>

#include "../support/campaign.hpp"
#include "../support/counter_actor.hpp"
#include "../support/looping_rank.hpp"
#include "../support/test_functions.hpp"
#include "manta/wire/archive.hpp"

using namespace manta::exec;
using namespace test_functions;
namespace store = manta::store;

namespace {

constexpr std::uint32_t on_a_node = 64;
std::uint32_t many() { return manta::testing::is_long() ? 10'000 : 1'000; }

/// Waits for the two tasks that it makes, wherever it runs.
extern const std::uint32_t fibonacci;
const std::uint32_t fibonacci = function("fibonacci", [](invocation& call) {
  const std::uint64_t n = argument_of(call);
  if (n < 2) return give(call, n);
  whole_rank& here = *task_stacks<whole_rank>::here();
  node* const made[] = {&here.submit(fibonacci, n - 1), &here.submit(fibonacci, n - 2)};
  std::uint64_t sum = 0;
  for (node* const each : made) {
    here.wait_for_end(*each);
    sum += here.number_in(*each);
    here.refs.release(*each);
  }
  give(call, sum);
});

using numbers = std::vector<double>;
/// An array too long to go with the news of its end.
const std::uint32_t fill = function("fill", [](invocation& call) {
  call.form = manta::graph::form::box;
  call.type = manta::wire::type_index<numbers>::value;
  call.box = new numbers(20'000, static_cast<double>(argument_of(call)));
});
const std::uint32_t sum_up = function("sum_up", [](invocation& call) {
  double sum = 0;
  for (const double each : *static_cast<const numbers*>(store::decode(*call.inputs[0]))) sum += each;
  give(call, static_cast<std::uint64_t>(sum));
});

/// A part of a gang: gives its place, its argument and the number of parts.
const std::uint32_t part = function("part", [](invocation& call) {
  const auto place = static_cast<std::uint64_t>(call.team->rank), size = static_cast<std::uint64_t>(call.team->size);
  give(call, 10'000 * place + 100 * argument_of(call) + size);
});

template <class Change>
manta::graph::request* asking(Change change) {
  auto* const wanted = new manta::graph::request;
  change(*wanted);
  return wanted;
}

/// A world whose driver is on rank 0.
struct large_world : looping_world {
  explicit large_world(std::uint32_t size, std::uint64_t seed = 1, bool recovers = false,
                       std::uint32_t ranks_per_node = on_a_node)
      : looping_world(size, seed, recovers, std::size_t{1} << 20, ranks_per_node) {
    world.let_tasks_wait();
  }
  whole_rank& driver() { return world[0]; }
  std::uint32_t any_rank() { return static_cast<std::uint32_t>(world.random()() % world.size()); }
  std::uint64_t taken(node& n) {
    const std::uint64_t number = ranks[0]->value(n);
    driver().refs.release(n);
    return number;
  }
  /// The run ends. Returns what rank 0 has sent for it.
  std::uint64_t end() {
    const std::uint64_t before = world.letters().of(0).sent;
    ranks[0]->quiet.hasten();
    ranks[0]->run_until_quiet();
    return world.letters().of(0).sent - before;
  }
  std::uint64_t driver_letters() { return world.letters().of(0).sent; }
  std::uint64_t sent_by_others() {
    std::uint64_t all = 0;
    for (std::uint32_t r = 1; r < world.size(); ++r) all += world.letters().of(r).sent;
    return all;
  }
};

}  // namespace

TEST_CASE("random graphs of tasks on many ranks end with the right sums, and the end of the run takes two waves") {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    CAPTURE(seed);
    large_world all(many(), seed);
    std::vector<std::pair<node*, std::uint64_t>> made;
    all[0].run([&] {
      for (std::uint64_t i = 0; i < 3 * many(); ++i) {
        std::vector<node*> inputs;
        std::uint64_t expected = i;
        for (std::uint64_t k = all.world.random()() % 3; k > 0 && !made.empty(); --k) {
          const auto& [input, number] = made[all.world.random()() % made.size()];
          inputs.push_back(input);
          expected += number;
        }
        made.emplace_back(&all.driver().submit(add, i, inputs), expected);
      }
      for (const auto& [n, expected] : made) REQUIRE(all.taken(*n) == expected);
      for (int ends = 0; ends < 2; ++ends) {
        const std::uint64_t sent = all.end();
        if (ends == 1) CHECK(sent == 2 * (many() - 1));  // all was quiet before
      }
      CHECK_FALSE(all[0].quiet.has_found_kept());
    });
    all.world.run();
    CHECK(all.world.live_nodes() == 0);
  }
}

TEST_CASE("tasks of many ranks wait for their own tasks, on stacks that only those take that wait") {
  large_world all(many(), 3);
  std::vector<node*> made;
  all[0].run([&] {
    for (std::uint64_t i = 0; i < 20; ++i) made.push_back(&all.driver().submit(fibonacci, 6 + i % 4));
    constexpr std::uint64_t expected[] = {8, 13, 21, 34};
    for (std::uint64_t i = 0; i < made.size(); ++i) CHECK(all.taken(*made[i]) == expected[i % 4]);
    all.end();
  });
  CHECK(all.world.stacks().most() < 1'000);
  all.world.run();
  CHECK(all.world.live_nodes() == 0);
}

TEST_CASE("an actor on every other rank does its calls in order, and all end with their handles") {
  large_world all(many(), 4);
  counter::alive = 0;
  std::vector<node*> handles, results;
  all[0].run([&] {
    for (std::uint32_t i = 0; i < many() / 2; ++i) {
      handles.push_back(&all.driver().submit(construct, 0, {}, asking([](auto& r) { r.actor = true; })));
    }
    for (std::uint64_t digit = 1; digit <= 3; ++digit) {
      for (node* const h : handles) results.push_back(&all.driver().call(*h, append, digit));
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      constexpr std::uint64_t expected[] = {1, 12, 123};
      CHECK(all.taken(*results[i]) == expected[i / handles.size()]);
    }
    CHECK(counter::alive == static_cast<int>(handles.size()));
    all.end();
    CHECK(all[0].quiet.has_found_kept());
    for (node* const h : handles) all.driver().refs.release(*h);
    all.end();
    CHECK(counter::alive == 0);
    CHECK_FALSE(all[0].quiet.has_found_kept());
  });
  all.world.run();
  CHECK(all.world.live_nodes() == 0);
}

TEST_CASE("gangs of all sizes run among tasks on many nodes") {
  large_world all(many(), 5, false, 16);
  std::vector<std::pair<node*, std::uint64_t>> made;
  all[0].run([&] {
    for (std::uint64_t i = 0; i < 300; ++i) {
      const int members = static_cast<int>(1 + i % 40);
      made.emplace_back(&all.driver().submit(part, i % 50, {}, asking([&](auto& r) { r.ranks = members; })),
                        100 * (i % 50) + static_cast<std::uint64_t>(members));
      made.emplace_back(&all.driver().submit(add, i), i);
    }
    for (const auto& [n, expected] : made) REQUIRE(all.taken(*n) == expected);
    all.end();
  });
  for (std::uint32_t r = 0; r < all.world.size(); ++r) REQUIRE(all.world.look_at(r).gangs.ends().empty());
  all.world.run();
  CHECK(all.world.live_nodes() == 0);
}

TEST_CASE("long values go from node to node") {
  large_world all(many(), 6);
  std::vector<std::pair<node*, std::uint64_t>> made;
  all[0].run([&] {
    for (std::uint64_t i = 0; i < 100; ++i) {
      const auto on = [&](std::uint32_t r) { return asking([r](auto& wanted) { wanted.rank = static_cast<int>(r); }); };
      const std::uint32_t first = 1 + all.any_rank() % (many() - 1);
      node& array = all.driver().submit(fill, i, {}, on(first), manta::wire::type_index<numbers>::value);
      for (int readers = 0; readers < 3; ++readers) {
        const std::uint32_t reader = 1 + all.any_rank() % (many() - 1);
        made.emplace_back(&all.driver().submit(sum_up, 0, {&array}, on(reader)), 20'000 * i);
      }
      all.driver().refs.release(array);
    }
    for (const auto& [n, expected] : made) REQUIRE(all.taken(*n) == expected);
    all.end();
  });
  all.world.run();
  CHECK(all.world.live_nodes() == 0);
}

TEST_CASE("a rank and a whole node die among tasks; each death is one letter to each rank, and none of theirs") {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    CAPTURE(seed);
    large_world all(many(), seed, true);
    std::vector<std::pair<node*, std::uint64_t>> made;
    all[0].run([&] {
      const auto submit = [&](std::uint64_t i) { made.emplace_back(&all.driver().submit(add, i), i); };
      const std::uint32_t nodes = many() / on_a_node;
      const auto lost_node = static_cast<std::uint32_t>(1 + all.world.random()() % (nodes - 1));
      std::uint64_t i = 0;
      for (; i < 2 * many(); ++i) submit(i);
      for (int steps = 0; steps < 500; ++steps) all[0].progress();
      all.world.kill(5);
      for (int steps = 0; steps < 500; ++steps) all[0].progress();
      for (std::uint32_t r = 0; r < on_a_node; ++r) all.world.kill(lost_node * on_a_node + r);
      for (; i < 3 * many(); ++i) submit(i);
      for (const auto& [n, expected] : made) REQUIRE(all.taken(*n) == expected);
      all.end();
      const std::uint64_t before = all.world.letters().of(0).sent, others = all.sent_by_others();
      const std::uint32_t living = many() - 1 - all.driver().rank.members.deaths();
      all.world.kill(6);
      all.world.run();
      CHECK(all.world.letters().of(0).sent - before == living - 1);
      CHECK(all.sent_by_others() == others);
      CHECK(all.end() >= living - 1);
    });
    CHECK(all.driver().graph.nodes.live() == 0);
  }
}

TEST_CASE("spares take the places of ranks that die, those of the same node first, and run their tasks") {
  constexpr std::uint32_t spares = 20;
  large_world all(many(), 8, true);
  for (std::uint32_t r = 0; r < many(); ++r) all.world.look_at(r).appoint_spares(spares);
  const auto executing = [&] { return all.driver().rank.scheduler->load().executing().size(); };
  const std::size_t before = executing();
  CHECK(before == many() - 1 - spares);
  std::vector<std::pair<node*, std::uint64_t>> made;
  const auto submit_some = [&](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) made.emplace_back(&all.driver().submit(add, i), i);
  };
  const std::uint32_t last_node = (many() - 1) / on_a_node, its_first = last_node * on_a_node;
  all[0].run([&] {
    submit_some(2 * many());
    for (std::uint32_t i = 0; i < spares; ++i) {
      for (int steps = 0; steps < 50; ++steps) all[0].progress();
      // The first ranks that die are of the node of the spares.
      const std::uint32_t dead = i < 4 ? its_first + i : 1 + 7 * i;
      all.world.kill(dead);
      CHECK(executing() == before);
      CHECK_FALSE(all.driver().rank.members.is_spare(many() - spares + i));
    }
    submit_some(many());
    for (std::uint32_t r = many() - spares; r < many(); ++r) {
      made.emplace_back(&all.driver().submit(add, r, {}, asking([r](auto& its) { its.rank = static_cast<int>(r); })),
                        r);
    }
    for (const auto& [n, expected] : made) REQUIRE(all.taken(*n) == expected);
    all.end();
    all.world.kill(500);
    CHECK(executing() == before - 1);  // nobody is left that stands by
  });
  CHECK(all.driver().graph.nodes.live() == 0);
}

TEST_CASE("rank 0 collects the reports of all ranks at once, and the counts are exact") {
  large_world all(many(), 9);
  for (std::uint32_t r = 0; r < many(); ++r) all.world.look_at(r).seeing.begin_run();
  std::uint64_t bytes = 0;
  all[0].run([&] {
    std::vector<node*> made;
    for (std::uint64_t i = 0; i < 3 * many(); ++i) made.push_back(&all.driver().submit(add, i));
    for (node* const n : made) all.taken(*n);
    const auto sent_by_others = [&] {
      std::uint64_t sum = 0;
      for (std::uint32_t r = 1; r < many(); ++r) sum += all.world.letters().of(r).bytes_sent;
      return sum;
    };
    const std::uint64_t bytes_before = sent_by_others(), sent_before = all.driver_letters();
    const std::clock_t begin = std::clock();
    const manta::statistics now = all.driver().seeing.statistics_now();
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    bytes = sent_by_others() - bytes_before;
    CHECK(all.driver_letters() - sent_before == many() - 1);  // a question to each
    MESSAGE(bytes << " bytes came to rank 0, " << seconds << " s of all ranks' processor time");
    std::uint64_t known = 0, tasks = 0;
    for (const manta::rank_statistics& each : now.ranks) known += each.is_known;
    for (const manta::function_statistics& each : now.functions) tasks += each.tasks;
    CHECK(known == many());
    CHECK(tasks == 3 * many());
    all.end();
  });
  CHECK(bytes < 4096 * std::uint64_t{many()});
  all.world.run();
}

namespace {

double kib_in_memory() {
  long all = 0, resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  REQUIRE(file != nullptr);
  REQUIRE(std::fscanf(file, "%ld %ld", &all, &resident) == 2);
  std::fclose(file);
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1024;
}
constexpr double account_kib =
    (sizeof(time_bins) + sizeof(time_account) + sizeof(task_counts) + sizeof(task_trace)) / 1024.0;

/// What a rank keeps in memory beside its accounts, after three tasks on each.
double kib_of_rank(std::uint32_t ranks) {
  ::mallopt(M_PERTURB, 0);  // meson has memory filled, so that pages which nobody writes would be there too
  ::malloc_trim(0);
  const double before = kib_in_memory();
  large_world all(ranks);
  all[0].run([&] {
    std::vector<node*> made;
    for (std::uint64_t i = 0; i < 3 * ranks; ++i) made.push_back(&all.driver().submit(add, i));
    for (node* const n : made) all.taken(*n);
    all.end();
  });
  return (kib_in_memory() - before) / ranks - account_kib;
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these take memory of their own
TEST_CASE("a rank among many takes little memory") {
  const double taken = kib_of_rank(many());
  CAPTURE(taken);
  CHECK(taken < 64);
}
#endif

// Prints the table of bench/scale.md: exec.scale_test --no-mpi --no-skip -tc="the table*"
TEST_CASE("the table of what a world of so many ranks takes" * doctest::skip()) {
  for (const std::uint32_t size : {10u, 100u, 1'000u, many()}) {
    const double kib = kib_of_rank(size);
    large_world all(size, 1, true);
    const auto& of_rank_0 = all.world.letters().of(0);
    auto note = [&, before = of_rank_0, others = all.sent_by_others()](double each) mutable {
      const auto now = of_rank_0;
      const std::uint64_t sent_now = all.sent_by_others();
      std::printf(" %.2f, %.0f B, %.2f |", static_cast<double>(now.sent - before.sent) / each,
                  static_cast<double>(now.bytes_sent - before.bytes_sent) / each,
                  static_cast<double>(sent_now - others) / each);
      before = now;
      others = sent_now;
    };
    std::printf("| %u | %.1f |", size, kib);
    all[0].run([&] {
      std::vector<node*> made;
      for (std::uint64_t i = 0; i < 10 * size; ++i) made.push_back(&all.driver().submit(add, i));
      for (node* const n : made) all.taken(*n);
      note(10.0 * size);
      all.end();
      note(size - 1);
      all.world.kill(1);
      all.world.run();
      note(size - 1);
    });
    std::printf("\n");
    std::fflush(stdout);
  }
}
