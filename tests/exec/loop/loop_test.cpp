// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/loop/loop.hpp, waiting.hpp, quiet_watch.hpp on several ranks in one process: tasks wait for tasks on stacks of
// their own, whatever comes first; a run is over when nothing goes on anywhere, not earlier and also after deaths; what
// can never end is a deadlock.
#include <doctest/doctest.h>

#include <string>

#include "../../support/looping_rank.hpp"
#include "../../support/test_functions.hpp"
#include "manta/error.hpp"

using namespace manta::exec;
using namespace test_functions;
using manta::graph::node;

namespace {

looping_rank* here = nullptr;  // the one whose thread runs

/// Waits for the two tasks that it makes.
extern const std::uint32_t fibonacci;
const std::uint32_t fibonacci = function("fibonacci", [](invocation& call) {
  const std::uint64_t n = argument_of(call);
  if (n < 2) return give(call, n);
  looping_rank& r = *here;
  node& before = r.rank.submit(fibonacci, n - 1);
  node& first = r.rank.submit(fibonacci, n - 2);
  const std::uint64_t sum = r.value(before) + r.value(first);
  r.rank.refs.release(before);
  r.rank.refs.release(first);
  give(call, sum);
});

/// A node that ends when the test completes it.
node& promise_of(whole_rank& r) { return r.refs.make_node(no_index, manta::wire::type_index<std::uint64_t>::value); }
/// The node of another rank by which `r` knows `n`.
node& known_on(whole_rank& r, whole_rank& home, node& n) {
  return r.refs.import_reference(home.refs.export_reference(n), n.type);
}
void keep_promise(whole_rank& r, node& n, std::uint64_t number) {
  manta::store::set_plain(n, reinterpret_cast<const std::byte*>(&number), sizeof number);
  r.completion.complete(n);
}

}  // namespace

TEST_CASE("tasks that wait for their own tasks end with the right sums, also those that another rank has sent") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    looping_world all(seed % 2 == 0 ? 1 : 2, seed);
    looping_rank& looping = all[all.world.size() - 1];
    here = &looping;
    std::vector<node*> made;
    for (int i = 0; i < 3; ++i) made.push_back(&all.world[0].submit(fibonacci, 7));
    looping.run([&] {
      waiters::last_wait end(looping.waiters);
      looping.at_each_look = [&] {
        bool over = true;
        for (const node* n : made) over = over && n->state != state::pending;
        if (over) looping.waiters.end_last();
      };
      looping.loop.wait(end.record);
    });
    for (node* n : made) {
      REQUIRE(n->state == state::ready);
      CHECK(all.world[0].number_in(*n) == 13);
      all.world[0].refs.release(*n);
    }
    all.world.run();
    CHECK(all.world.live_nodes() == 0);
  }
}

TEST_CASE("a driver gets its values in any order, wherever they are made, and failures as exceptions") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    looping_world all(static_cast<std::uint32_t>(1 + seed % 4), seed);
    whole_rank& r = all.world[0];
    all[0].run([&] {
      std::vector<std::pair<node*, std::uint64_t>> made;
      for (std::uint64_t i = 0; i < 20; ++i) {
        if (made.empty()) {
          made.emplace_back(&r.submit(add, i), i);
          continue;
        }
        const auto& [input, number] = made[all.world.random()() % made.size()];
        made.emplace_back(&r.submit(add, i, {input}), number + i);
      }
      node& bad = r.submit(fail, 0);
      CHECK_THROWS_WITH(all[0].waiting.value(bad), doctest::Contains("out of tea"));
      r.refs.release(bad);
      while (!made.empty()) {
        std::swap(made[all.world.random()() % made.size()], made.back());
        CHECK(all[0].value(*made.back().first, seed % 3 != 0) == made.back().second);
        r.refs.release(*made.back().first);
        made.pop_back();
      }
    });
    all.world.run();
    CHECK(all.world.live_nodes() == 0);
  }
}

TEST_CASE("a wait with a time limit is over when the time is, and leaves nothing at the node") {
  looping_world all(2);
  all[0].run([&] {
    node& n = promise_of(all.world[0]);
    CHECK_FALSE(all[0].waiting.wait_for_end(n, manta::base::now_ns() + 1'000'000));
    CHECK(n.links == nullptr);
    CHECK(all[0].waiters.empty());
    keep_promise(all.world[0], n, 1);
    CHECK(all[0].waiting.wait_for_end(n, manta::base::now_ns()));
    all.world[0].refs.release(n);
  });
}

TEST_CASE("a task that polls lets others run, and is told to stop") {
  looping_world all(1);
  all[0].run([&] {
    node& n = all.world[0].submit(add, 5);
    int steps = 0;
    while (n.state == state::pending && ++steps < 100) all[0].loop.step();
    CHECK(steps < 100);
    all.world[0].refs.release(n);
    CHECK_FALSE(all[0].loop.stop_requested());
    all.world[0].run.running->stop = true;
    CHECK(all[0].loop.stop_requested());
    all.world[0].run.running->stop = false;
    all.world[0].run.phase.stop();
    CHECK(all[0].loop.stop_requested());
  });
}

TEST_CASE("a submitter that runs ahead waits until others have ended its tasks") {
  looping_world all(3, 1, false, 100);
  whole_rank& r = all.world[0];
  all[0].run([&] {
    std::vector<node*> made;
    std::size_t most = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      made.push_back(&r.submit(add, i));
      most = std::max(most, r.home.unfinished());
    }
    CHECK(most > 90);
    CHECK(most <= 100 + 64);  // one submission of 64 looks
    for (std::uint64_t i = 0; i < made.size(); ++i) {
      CHECK(all[0].value(*made[i]) == i);
      r.refs.release(*made[i]);
    }
  });
}

TEST_CASE("rank 0 is told how many tasks wait on a rank, and that none does any more") {
  looping_world all(2);
  looping_rank& looping = all[1];
  here = &looping;
  node& missing = promise_of(all.world[0]);
  node& n = all.world[0].submit(add, 1, {&missing});
  node& other = all.world[0].submit(fibonacci, 3);
  bool told = false;
  looping.run([&] {
    waiters::last_wait end(looping.waiters);
    int looks = 0;
    looping.at_each_look = [&] {
      told = told || looping.loop.reported().tasks != 0;
      if (++looks == 200) keep_promise(all.world[0], missing, 4);
      if (n.state != state::pending && other.state != state::pending && looping.loop.reported().tasks == 0)
        looping.waiters.end_last();
    };
    looping.loop.wait(end.record);
  });
  CHECK(told);
  CHECK(all.world[0].number_in(n) == 5);
  for (node* each : {&n, &other, &missing}) all.world[0].refs.release(*each);
  all.world.run();
}

TEST_CASE("a run is over when all tasks of all ranks have ended, and not before") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const auto ranks = static_cast<std::uint32_t>(1 + seed % 4);
    looping_world all(ranks, seed);
    std::vector<std::pair<whole_rank*, node*>> made;
    for (std::uint64_t i = 0; i < 30; ++i) {
      whole_rank& r = all.world[all.world.random()() % ranks];
      made.emplace_back(&r, &r.submit(add, i));
      for (std::uint64_t steps = all.world.random()() % 3; steps > 0; --steps) all.world.step(0);
    }
    all[0].run([&] { all[0].run_until_quiet(); });
    for (std::uint64_t i = 0; i < made.size(); ++i) {
      const auto& [r, n] = made[i];
      REQUIRE(n->state == state::ready);
      CHECK(r->number_in(*n) == i);
      r->refs.release(*n);
    }
    all.world.run();
    CHECK(all.world.live_nodes() == 0);
  }
}

TEST_CASE("a run is not over while a rank has work, or a letter is under way") {
  for (const bool by_letter : {false, true}) {
    CAPTURE(by_letter);
    looping_world all(3);
    node& n = all.world[1].submit(add, 1);
    node& known = known_on(all.world[2], all.world[1], n);
    if (!by_letter) {
      all.world.let_rest(1);
    } else {
      all.world.run();
      all.world[1].refs.release(n);
      all.world.letters().hold(2, 1);
      all.world[2].refs.release(known);  // its home is to be told
    }
    const std::int64_t until = manta::base::now_ns() + 10'000'000;  // some ten waves
    bool held = true;
    all[0].at_each_look = [&] {
      if (!held || manta::base::now_ns() < until) return;
      held = false;
      all.world.let_rest(whole_world::nobody);
      all.world.letters().hold_none();
    };
    all[0].run([&] { all[0].run_until_quiet(); });
    CHECK_FALSE(held);
    if (!by_letter) {
      CHECK(n.state == state::ready);
      all.world[1].refs.release(n);
      all.world[2].refs.release(known);
      all.world.run();
    }
    CHECK(all.world.live_nodes() == 0);
  }
}

TEST_CASE("the first wave begins as soon as rank 0 has done with spinning, for each later turn may be a long sleep") {
  looping_world all(2);
  int looks = 0, before_wave = 0;
  all[0].at_each_look = [&] {
    ++looks;
    if (before_wave == 0 && all.world.letters().has_letters()) before_wave = looks;
  };
  all[0].quiet.hasten();
  all[0].run([&] { all[0].run_until_quiet(); });
  CHECK(before_wave > 1);
  CHECK(before_wave <= 1 + 22);  // a rank that shares its core spins 20 times
}

TEST_CASE("a rank that dies before it has answered a wave does not keep the run from its end") {
  looping_world all(3, 1, true);
  const std::int64_t begin = manta::base::now_ns();
  all.world.letters().hold(2, 0);
  all[0].at_each_look = [&] {
    if (all.world.is_alive(2) && manta::base::now_ns() > begin + 3'000'000) all.world.kill(2);
  };
  all[0].run([&] { all[0].run_until_quiet(); });
  CHECK_FALSE(all.world.is_alive(2));
}

TEST_CASE("a run is over also where a rank dies in the middle of its work") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    looping_world all(4, seed, true);
    whole_rank& r = all.world[0];
    std::vector<node*> made;
    for (std::uint64_t i = 0; i < 20; ++i) made.push_back(&r.submit(add, i));
    const auto dies_at = 1 + static_cast<int>(all.world.random()() % 120);
    int looks = 0;
    all[0].at_each_look = [&] {
      if (++looks == dies_at) all.world.kill(static_cast<std::uint32_t>(1 + seed % 3));
    };
    all[0].run([&] { all[0].run_until_quiet(); });
    for (std::uint64_t i = 0; i < made.size(); ++i) {
      REQUIRE(made[i]->state == state::ready);
      CHECK(r.number_in(*made[i]) == i);
      r.refs.release(*made[i]);
    }
    all.world.run();
  }
}

TEST_CASE("what can never end is a deadlock, which says who waits on which rank") {
  looping_world all(3);
  running_task elsewhere(7, add);
  wait_record on_two;
  on_two.remaining = 1;
  on_two.task = &elsewhere;
  all[2].waiters.add(on_two);
  node& never = promise_of(all.world[0]);
  std::string text;
  all[0].run([&] {
    try {
      all[0].waiting.value(never);
    } catch (const manta::deadlock& e) {
      text = e.what();
    }
  });
  CHECK(text.find("manta: deadlock: nothing runs") == 0);
  CHECK(text.find("[rank 0: 'the driver' waits for a value]") != std::string::npos);
  CHECK(text.find("[rank 2: 'test' waits for others]") != std::string::npos);
  all.world.run();
  CHECK(on_two.failed);
  CHECK(never.links == nullptr);
  all[2].waiters.remove(on_two);
  all.world[0].refs.release(never);
}

TEST_CASE("a value that comes late is no deadlock") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    looping_world all(3, seed);
    whole_rank& r = all.world[0];
    all[0].run([&] {
      node* last = &r.submit(add, 0);
      for (std::uint64_t i = 0; i < 50; ++i) {  // one after the other, with much time between
        node& next = r.submit(add, 1, {last});
        r.refs.release(*last);
        last = &next;
      }
      CHECK(all[0].value(*last) == 50);
      r.refs.release(*last);
    });
  }
}
