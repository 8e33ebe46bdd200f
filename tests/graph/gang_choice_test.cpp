// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Which ranks a gang gets, and when: on few nodes, never two gangs on one rank,
// and an old gang before a stream of small tasks.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "manta/graph/scheduler.hpp"

using manta::graph::capacity;
using manta::graph::gang_candidate;
using manta::graph::gang_shape;
using manta::graph::node;
using manta::graph::node_table;
using manta::graph::request;
using manta::graph::request_ptr;
using manta::graph::scheduler;
using manta::graph::task;

namespace {

manta::graph::task_pool records;

manta::base::list<gang_candidate> on_nodes(const std::vector<int>& node_of_rank) {
  manta::base::list<gang_candidate> candidates;
  for (std::size_t r = 0; r < node_of_rank.size(); ++r)
    candidates.push_back({static_cast<std::uint32_t>(r), node_of_rank[r]});
  return candidates;
}
std::vector<std::uint32_t> choose(const std::vector<int>& node_of_rank, const gang_shape& shape) {
  manta::base::list<std::uint32_t> chosen;
  if (!choose_gang(on_nodes(node_of_rank), shape, chosen)) return {};
  return std::vector<std::uint32_t>(chosen.begin(), chosen.end());
}
std::vector<std::uint32_t> choose(const std::vector<int>& node_of_rank, std::size_t wanted, int nodes = 0) {
  return choose(node_of_rank, gang_shape{wanted, nodes});
}
/// Now these are there; others of `ever` may come free.
std::vector<std::uint32_t> choose(const std::vector<int>& now, const std::vector<int>& ever, gang_shape shape) {
  set_hopes(shape, on_nodes(ever));
  return choose(now, shape);
}

manta::base::array<capacity> ranks(std::size_t executing, int on_each_node) {
  manta::base::array<capacity> all(executing + 1);
  all[0].executes = false;
  for (std::size_t r = 1; r <= executing; ++r) all[r].node = static_cast<int>(r - 1) / on_each_node;
  return all;
}

request_ptr gang_of(int size, int nodes = 0) {
  auto* const r = new request;
  r->ranks = size;
  r->nodes = nodes;
  return request_ptr(r);
}

/// A scheduler with tasks that end when the test says so.
class world {
 public:
  world(std::size_t executing, int on_each_node) : world(ranks(executing, on_each_node)) {}
  explicit world(const manta::base::array<capacity>& all) : s(nodes, all) {}
  ~world() {
    s.drop_all([this](node& n) { forget(n); });
  }
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  node& submit(std::uint32_t function, request_ptr wanted = nullptr) {
    node& n = nodes.make();
    n.function = function;
    n.form = manta::graph::form::compact;
    if (wanted != nullptr) {
      n.form = manta::graph::form::record;
      n.record = records.make(0, 0);
      n.record->request = request_ptr(new request(*wanted));  // each task has its own
    }
    s.ready(n);
    decide();
    return n;
  }
  void remove(node& n) {
    s.remove(n);
    forget(n);
    decide();
  }
  /// Ends one of the tasks on this rank.
  void end(std::uint32_t rank, std::size_t which = 0) {
    const running r = on[rank][which];
    on[rank].erase(on[rank].begin() + static_cast<std::ptrdiff_t>(which));
    if (r.gang != 0 && --members_left[r.gang] == 0) ++gangs_ended;
    s.ended(rank, r.function, r.charge, 1000, r.wanted.get());
    decide();
  }

  struct running {
    std::uint32_t function, charge;
    std::uint64_t gang;
    request_ptr wanted;
  };
  node_table nodes;
  scheduler s;
  std::map<std::uint32_t, std::vector<running>> on;
  std::map<std::uint64_t, int> members_left;
  std::vector<std::vector<std::uint32_t>> gangs;
  int gangs_ended = 0;
  bool overlap = false;

  void decide() {
    s.decide([this](node& n, std::uint32_t rank, std::uint32_t charge) {
      const request_ptr wanted = n.form == manta::graph::form::record ? n.record->request : nullptr;
      if (wanted == nullptr || wanted->ranks == 0) {
        on[rank].push_back({n.function, charge, 0, wanted});
      } else {
        gangs.emplace_back(s.gang().members().begin(), s.gang().members().end());
        members_left[s.gang().id()] = wanted->ranks;
        for (std::size_t i = 0; i < s.gang().members().size(); ++i) {
          const std::uint32_t member = s.gang().members()[i];
          for (const running& other : on[member]) overlap = overlap || other.gang != 0;
          auto* const its = new request(*wanted);
          its->granted = s.gang().grants()[i];
          on[member].push_back({n.function, charge, s.gang().id(), request_ptr(its)});
        }
      }
      forget(n);
    });
  }

  void forget(node& n) {
    if (n.form == manta::graph::form::record) records.free(n.record);
    nodes.free(n);
  }
};

}  // namespace

TEST_CASE("a gang fits on the node with the least to spare, else on as few nodes as there can be") {
  CHECK(choose({0, 0, 0, 1, 1, 2}, 2) == std::vector<std::uint32_t>{3, 4});
  CHECK(choose({0, 0, 0, 1, 1, 2}, 1) == std::vector<std::uint32_t>{5});
  CHECK(choose({0, 0, 0, 1, 1, 2}, 3) == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(choose({0, 0, 0, 1, 1, 2}, 4) == std::vector<std::uint32_t>{0, 1, 2, 5});
  CHECK(choose({0, 0, 0, 1, 1, 2}, 6).size() == 6);
  CHECK(choose({0, 0, 0, 1, 1, 2}, 7).empty());
}

TEST_CASE("nodes asks for exactly so many, with equally many ranks on each") {
  CHECK(choose({0, 0, 0, 1, 1, 2}, 4, 2) == std::vector<std::uint32_t>{3, 4, 0, 1});
  CHECK(choose({0, 0, 0, 1, 1, 2}, 3, 3).size() == 3);
  CHECK(choose({0, 0, 0, 1, 1, 2}, 6, 3).empty());
  CHECK(choose({0, 0, 0, 1, 1, 2}, 3, 1) == std::vector<std::uint32_t>{0, 1, 2});
}

TEST_CASE("near a node a gang has as many members there as could be, and waits for them") {
  const std::vector<int> ever = {0, 0, 0, 1, 1, 2};
  const gang_shape near_1{2, 0, 1};
  CHECK(choose(ever, ever, near_1) == std::vector<std::uint32_t>{3, 4});
  CHECK(choose({0, 0, 0, 1, 2}, ever, near_1).empty());  // the other one of that node is busy
  CHECK(choose({0, 0, 0, 1, 2}, {0, 0, 0, 1, 2}, near_1) == std::vector<std::uint32_t>{3, 4});  // there is only one
  CHECK(choose(ever, ever, {5, 0, 1}) == std::vector<std::uint32_t>{3, 4, 0, 1, 2});
  CHECK(choose(ever, ever, {2, 0, 7}) == std::vector<std::uint32_t>{3, 4});  // nobody can be there
  CHECK(choose(ever, ever, {2, 2, 2}) == std::vector<std::uint32_t>{5, 3});
  CHECK(choose(ever, ever, {4, 2, 2}) == std::vector<std::uint32_t>{3, 4, 0, 1});  // not two on node 2
}

TEST_CASE("spread, a gang is on as many nodes as could be, evenly, and waits for them") {
  const std::vector<int> ever = {0, 0, 0, 1, 1, 2};
  gang_shape spread{3};
  spread.spread = true;
  CHECK(choose(ever, ever, spread) == std::vector<std::uint32_t>{0, 3, 5});
  CHECK(choose({0, 0, 0, 1, 1}, ever, spread).empty());
  CHECK(choose({0, 0, 0, 1, 1}, {0, 0, 0, 1, 1}, spread) == std::vector<std::uint32_t>{0, 1, 3});
  spread.ranks = 5;
  CHECK(choose(ever, ever, spread) == std::vector<std::uint32_t>{0, 1, 3, 4, 5});
  spread.ranks = 2;
  CHECK(choose({0, 0, 1}, ever, spread) == std::vector<std::uint32_t>{0, 2});
}

TEST_CASE("a gang starts at once where ranks have nothing to do, and waits where they have") {
  world w(4, 2);
  w.submit(0, gang_of(2));
  w.submit(0, gang_of(2));
  REQUIRE(w.gangs.size() == 2);
  CHECK(w.gangs[0] == std::vector<std::uint32_t>{1, 2});
  CHECK(w.gangs[1] == std::vector<std::uint32_t>{3, 4});
  w.submit(0, gang_of(3));
  CHECK(w.gangs.size() == 2);
  w.end(1);
  w.end(2);
  CHECK(w.gangs.size() == 2);
  w.end(4);
  REQUIRE(w.gangs.size() == 3);
  CHECK(std::set<std::uint32_t>(w.gangs[2].begin(), w.gangs[2].end()) == std::set<std::uint32_t>{1, 2, 4});
}

TEST_CASE("rank 0 joins only the gangs that need it, and none once a rank has died") {
  world w(3, 1);
  const auto needing_rank_0 = [](int size) {
    auto* const r = new request;
    r->ranks = size;
    r->needs_rank_0 = true;
    return request_ptr(r);
  };
  CHECK_FALSE(w.s.is_possible(*needing_rank_0(4)));
  w.s.rank_0_executes(true);
  CHECK(w.s.is_possible(*needing_rank_0(4)));
  CHECK_FALSE(w.s.is_possible(*gang_of(4)));
  for (std::size_t i = 0; i < 2; ++i) w.submit(0, gang_of(2));
  for (std::size_t i = 0; i < 2; ++i) {
    REQUIRE(w.gangs.size() == i + 1);  // the second one waits, with rank 0 and another one free
    for (const std::uint32_t rank : std::vector<std::uint32_t>(w.gangs[i])) {
      CHECK(rank != 0);
      w.end(rank);
    }
  }
  w.submit(0, needing_rank_0(4));
  REQUIRE(w.gangs.size() == 3);
  CHECK(std::set<std::uint32_t>(w.gangs[2].begin(), w.gangs[2].end()) == std::set<std::uint32_t>{0, 1, 2, 3});
  for (std::uint32_t rank = 0; rank < 4; ++rank) w.end(rank);

  const auto nothing = [](node&) {};
  CHECK(w.s.died(3, nothing));
  CHECK_FALSE(w.s.is_possible(*needing_rank_0(3)));
  CHECK(w.s.died(2, nothing));
  CHECK_FALSE(w.s.died(1, nothing));  // rank 0 is no executor for all
  w.s.rank_0_executes(false);
  CHECK(w.s.is_possible(*gang_of(1)));
}

TEST_CASE("plain tasks are not sent to a rank in a gang, but to one whose member waits") {
  world w(1, 1);
  w.submit(0, gang_of(1));
  w.submit(7);
  CHECK(w.on[1].size() == 1);
  w.s.blocked(1, 1);
  w.submit(7);
  CHECK(w.on[1].size() >= 2);
}

TEST_CASE("a large gang gets its ranks though small tasks never stop") {
  world w(4, 4);
  for (int i = 0; i < 40; ++i) w.submit(1);
  w.submit(2, gang_of(4));
  int ends = 0;
  while (w.gangs.empty() && ends < 1000) {
    w.submit(1);
    for (std::uint32_t rank = 1; rank <= 4 && w.gangs.empty(); ++rank) {
      if (w.on[rank].empty()) continue;
      w.end(rank);
      ++ends;
    }
  }
  CHECK(w.gangs.size() == 1);
  MESSAGE("tasks that ended before it started: " << ends);
}

TEST_CASE("random gangs among random tasks all start and end, never two on one rank") {
  const auto some_gang = [](std::mt19937_64& draw, std::size_t executing) {
    auto* const r = new request;
    r->ranks = 1 + static_cast<int>(draw() % executing);
    if (draw() % 3 == 0) {
      r->near = static_cast<int>(draw() % (executing + 1));
    } else {
      r->spread = draw() % 2 == 0;
    }
    return request_ptr(r);
  };
  const char* const given = std::getenv("MANTA_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  MESSAGE("MANTA_TEST_SEED=" << seed);
  std::mt19937_64 draw(seed);
  for (int round = 0; round < 20; ++round) {
    const std::size_t executing = 1 + draw() % 12;
    world w(executing, 1 + static_cast<int>(draw() % 4));
    int gangs = 0;
    const auto end_one = [&] {
      std::vector<std::uint32_t> busy;
      for (const auto& [rank, tasks] : w.on) {
        if (!tasks.empty()) busy.push_back(rank);
      }
      if (busy.empty()) return false;
      const std::uint32_t rank = busy[draw() % busy.size()];
      w.end(rank, draw() % w.on[rank].size());
      return true;
    };
    const auto let_wait = [&](std::uint32_t rank, std::size_t count) {
      w.s.blocked(rank, static_cast<std::uint32_t>(count));
      w.decide();
    };
    for (int step = 0; step < 500; ++step) {
      switch (draw() % 4) {
        case 0: w.submit(static_cast<std::uint32_t>(draw() % 3)); break;
        case 1:
          if (draw() % 4 == 0) {
            w.submit(3, some_gang(draw, executing));
            ++gangs;
          }
          break;
        case 2: {
          const auto rank = static_cast<std::uint32_t>(1 + draw() % executing);
          let_wait(rank, draw() % (w.on[rank].size() + 1));
          break;
        }
        default: end_one();
      }
    }
    for (std::uint32_t rank = 1; rank <= executing; ++rank) let_wait(rank, 0);
    int left = 100'000;
    while (end_one() && --left > 0) {
    }
    CHECK(w.s.waiting() == 0);
    CHECK(w.gangs_ended == gangs);
    CHECK_FALSE(w.overlap);
  }
}

TEST_CASE("an old gang does not wait for ranks that an actor may hold for ever") {
  world w(4, 4);
  auto* const holds = new request;
  holds->ranks = 3;
  holds->actor = true;
  w.submit(9, request_ptr(holds));
  REQUIRE(w.gangs.size() == 1);
  while (!w.on[1].empty()) w.end(1);
  for (std::uint32_t rank = 2; rank <= 4; ++rank) {
    while (!w.on[rank].empty()) w.end(rank);
  }
  const std::uint32_t free_rank = 10 - w.gangs[0][0] - w.gangs[0][1] - w.gangs[0][2];
  for (int i = 0; i < 20; ++i) w.submit(1, gang_of(1));
  for (int i = 0; i < 20; ++i) {
    REQUIRE(w.gangs.size() == static_cast<std::size_t>(2 + i));
    CHECK(w.gangs.back() == std::vector<std::uint32_t>{free_rank});
    w.end(free_rank);
  }
}

TEST_CASE("each member of a gang holds devices of its own rank and gives them back") {
  auto all = ranks(3, 3);
  for (std::size_t r = 1; r <= 3; ++r) all[r].gpus.whole = 0b11;
  world w(all);
  auto* const one = new request;
  one->gpu_units = manta::graph::gpu_set::whole_device;
  one->rank = 2;
  w.submit(0, request_ptr(one));
  w.s.blocked(2, 1);
  auto* const gang = new request;
  gang->ranks = 3;
  gang->gpu_units = manta::graph::gpu_set::whole_device;
  auto* const another = new request(*gang);
  w.submit(1, request_ptr(gang));
  REQUIRE(w.gangs.size() == 1);
  CHECK((w.on[2][0].wanted->granted.devices | w.on[2][1].wanted->granted.devices) == 0b11);
  for (const std::uint32_t r : {1u, 3u}) CHECK(__builtin_popcountll(w.on[r][0].wanted->granted.devices) == 1);
  CHECK(w.s.held().free_on(2).gpus.units() == 0);
  w.submit(1, request_ptr(another));
  for (const std::uint32_t r : {1u, 3u}) w.end(r);
  CHECK(w.gangs.size() == 1);
  w.end(2, 1);
  CHECK(w.gangs.size() == 2);
  for (const std::uint32_t r : {1u, 3u}) w.end(r);
  w.end(2, 1);
  w.end(2);
  for (const std::uint32_t r : {1u, 2u, 3u})
    CHECK(w.s.held().free_on(r).gpus.units() == 2 * manta::graph::gpu_set::whole_device);
}

TEST_CASE("a gang waits for the node that it wants to be near, not for what an actor holds there") {
  world w(4, 2);  // ranks 1 and 2 on node 0, 3 and 4 on node 1
  const auto near = [](std::uint32_t rank, int size) {
    auto* const r = new request(*gang_of(size));
    r->near = static_cast<int>(rank);
    return request_ptr(r);
  };
  w.submit(0, near(4, 1));
  REQUIRE(w.gangs.size() == 1);
  CHECK(w.gangs[0] == std::vector<std::uint32_t>{4});  // the rank itself, if it is free
  w.submit(0, near(4, 2));
  CHECK(w.gangs.size() == 1);
  w.end(4);
  REQUIRE(w.gangs.size() == 2);
  CHECK(w.gangs[1] == std::vector<std::uint32_t>{4, 3});
  for (const std::uint32_t rank : {3u, 4u}) w.end(rank);
  auto* const holds = new request(*near(3, 1));
  holds->actor = true;
  w.submit(9, request_ptr(holds));
  REQUIRE(w.gangs.size() == 3);
  CHECK(w.gangs[2] == std::vector<std::uint32_t>{3});
  w.submit(0, near(3, 2));
  REQUIRE(w.gangs.size() == 4);
  CHECK(std::set<std::uint32_t>(w.gangs[3].begin(), w.gangs[3].end()).count(4) == 1);
}

TEST_CASE("a gang that is spread waits for a node that comes free, not for a gang that waits for it") {
  world w(4, 2);
  const auto spread = [](int size) {
    auto* const r = new request(*gang_of(size));
    r->spread = true;
    return request_ptr(r);
  };
  const auto nodes_of = [](const std::vector<std::uint32_t>& gang) {
    std::set<std::uint32_t> nodes;
    for (const std::uint32_t rank : gang) nodes.insert((rank - 1) / 2);
    return nodes.size();
  };
  w.submit(0, spread(2));
  w.submit(0, spread(2));
  REQUIRE(w.gangs.size() == 2);
  CHECK(nodes_of(w.gangs[0]) == 2);
  CHECK(nodes_of(w.gangs[1]) == 2);
  for (const std::uint32_t rank : {1u, 2u, 3u, 4u}) w.end(rank);
  w.submit(0, gang_of(2));  // a whole node
  const std::uint32_t first = w.gangs.back()[0], second = w.gangs.back()[1];
  w.submit(0, spread(2));
  REQUIRE(w.gangs.size() == 3);
  w.s.blocked(first, 1);
  w.decide();
  REQUIRE(w.gangs.size() == 4);
  CHECK(nodes_of(w.gangs[3]) == 1);
  w.s.blocked(first, 0);
  for (const std::uint32_t rank : w.gangs[3]) w.end(rank);
  w.submit(0, spread(3));
  CHECK(w.gangs.size() == 4);
  w.end(second);
  REQUIRE(w.gangs.size() == 5);
  CHECK(nodes_of(w.gangs[4]) == 2);
}

TEST_CASE("members of a gang in a reservation take their shares from its bundles, each on a rank of its own") {
  auto all = ranks(4, 2);
  for (std::size_t r = 1; r <= 4; ++r) all[r].gpus.whole = 0b11, all[r].cpus = 2;
  world w(all);
  const auto reserve = [&](std::uint64_t id, std::size_t bundles, int cpus) {
    manta::graph::bundles wanted(bundles);
    for (manta::graph::bundle& b : wanted) b.cpus = cpus, b.gpu_units = manta::graph::gpu_set::whole_device;
    w.s.reserve(new manta::graph::reservation(id, manta::graph::strategy::pack, std::move(wanted)));
  };
  const auto inside = [](std::uint64_t id, int size, bool actor = false) {
    auto* const r = new request(*gang_of(size));
    r->reservation = id;
    r->gpu_units = manta::graph::gpu_set::whole_device;
    r->actor = actor;
    return request_ptr(r);
  };
  reserve(1, 2, 2);
  w.submit(0, inside(1, 2));
  while (w.s.take_met() != nullptr) {
  }
  w.submit(0, inside(1, 2));
  const auto& parts = w.s.held().find_reservation(1)->parts;
  REQUIRE(w.gangs.size() == 1);
  CHECK(std::set<std::uint32_t>(w.gangs[0].begin(), w.gangs[0].end()) ==
        std::set<std::uint32_t>{parts[0].rank, parts[1].rank});
  for (const std::uint32_t rank : w.gangs[0]) {
    CHECK(w.on[rank][0].wanted->granted.bundle == (rank == parts[0].rank ? 0 : 1));
    CHECK(__builtin_popcountll(w.on[rank][0].wanted->granted.devices) == 1);
  }
  CHECK(parts[0].free.gpus.units() == 0);
  w.end(parts[0].rank);
  CHECK(w.gangs.size() == 1);
  w.end(parts[1].rank);
  REQUIRE(w.gangs.size() == 2);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) w.end(parts[i].rank);
  CHECK(parts[0].free.gpus.units() == manta::graph::gpu_set::whole_device);

  reserve(2, 3, 1);  // on node 1, whose two ranks have to take three bundles
  w.decide();
  REQUIRE(w.s.take_met() != nullptr);
  CHECK(w.s.is_possible(*inside(2, 2)));
  CHECK_FALSE(w.s.is_possible(*inside(2, 3)));
  node& impossible = w.submit(0, inside(2, 3));
  std::vector<node*> refused;
  w.s.refuse_impossible([&](node& n) { refused.push_back(&n); }, 1);
  CHECK(refused.empty());
  w.s.refuse_impossible([&](node& n) { refused.push_back(&n); }, 2);
  CHECK(refused == std::vector<node*>{&impossible});
  w.forget(impossible);
}

TEST_CASE("an old gang that is taken out of its queue lets go the ranks that were kept for it") {
  world w(2, 2);
  for (int i = 0; i < 4; ++i) w.submit(1);
  node& gang = w.submit(2, gang_of(2));
  for (int i = 0; i < 2; ++i) {  // rank 2 stays busy
    w.end(1);
    w.submit(1);
  }
  while (!w.on[1].empty()) w.end(1);
  w.submit(1);
  REQUIRE(w.s.gang().keeps(1));
  CHECK(w.on[1].empty());
  w.remove(gang);
  CHECK_FALSE(w.s.gang().keeps(1));
  CHECK_FALSE(w.on[1].empty());
  CHECK(w.gangs.empty());
  w.submit(2, gang_of(2));  // the emptied queue is used again
  while (w.gangs.empty()) {
    for (const std::uint32_t r : {1u, 2u}) {
      if (w.gangs.empty() && !w.on[r].empty()) w.end(r);
    }
  }
  CHECK(w.s.waiting() == 0);
}

TEST_CASE("ranks that are reserved while they are kept for a gang are replaced by others") {
  world w(3, 3);
  for (std::uint32_t r = 1; r <= 3; ++r) w.submit(1);
  w.submit(2, gang_of(2));
  for (int i = 0; i < 3; ++i) {
    w.end(3);
    w.submit(1);
  }
  REQUIRE(w.s.gang().keeps(1));
  manta::graph::bundles wanted(1);
  wanted[0].cpus = 1;
  w.s.reserve(new manta::graph::reservation(1, manta::graph::strategy::pack, std::move(wanted)));
  w.decide();
  REQUIRE(w.s.take_met() != nullptr);
  const std::uint32_t reserved = w.s.held().find_reservation(1)->parts[0].rank;
  for (std::uint32_t r = 1; r <= 3; ++r) {
    while (!w.on[r].empty() && w.gangs.empty()) w.end(r);
  }
  REQUIRE(w.gangs.size() == 1);
  CHECK(std::count(w.gangs[0].begin(), w.gangs[0].end(), reserved) == 0);
}

TEST_CASE("tasks that wait in a queue of their request can be taken out, from any place in it") {
  world w(1, 1);
  auto* const there = new request;
  there->rank = 1;
  const request_ptr wanted(there);
  w.submit(9, wanted);  // fills the rank
  std::vector<node*> nodes;
  for (std::uint32_t i = 0; i < 5; ++i) nodes.push_back(&w.submit(i, wanted));
  REQUIRE(w.s.waiting() == 5);
  w.remove(*nodes[2]);
  w.remove(*nodes[0]);
  w.remove(*nodes[4]);
  CHECK(w.s.waiting() == 2);
  std::vector<std::uint32_t> ran;
  while (!w.on[1].empty()) {
    ran.push_back(w.on[1][0].function);
    w.end(1);
  }
  CHECK(ran == std::vector<std::uint32_t>{9, 1, 3});
}

TEST_CASE("where all ranks have members, what a member made waits for that member's rank, others only for room") {
  const auto made_on = [](world& w, std::uint32_t rank, const request& wanted) {
    node& n = w.nodes.make();
    n.function = 7;
    n.form = manta::graph::form::record;
    n.record = records.make(0, 0);
    n.record->home_rank = rank;
    n.record->request = request_ptr(new request(wanted));
    w.s.ready(n);
    w.decide();
  };
  request two_cpus;
  two_cpus.cpus = 2;
  manta::base::array<capacity> all = ranks(3, 3);
  for (capacity& c : all) c.cpus = 2;
  world w(all);
  w.submit(0, gang_of(2));
  w.submit(0, gang_of(1));
  REQUIRE(w.gangs.size() == 2);
  w.s.blocked(2, 1);
  w.decide();
  made_on(w, 1, two_cpus);  // 1 is inside MPI: its task goes to nobody who may go on there,
  made_on(w, 1, two_cpus);
  CHECK(w.s.waiting() == 2);
  made_on(w, 2, two_cpus);  // holds up nobody else's,
  CHECK(w.on[2].size() == 2);
  w.s.blocked(1, 1);
  w.decide();
  CHECK(w.on[1].size() == 2);  // and comes when 1 waits, one at a time
  w.end(1, 1);
  CHECK(w.on[1].size() == 2);
  made_on(w, 1, request());  // without conditions too
  CHECK(w.on[1].size() == 3);
  CHECK(w.on[2].size() == 2);
  CHECK(w.on[3].size() == 1);
  w.end(3);  // a rank without a member takes what comes from now on
  made_on(w, 1, request());
  made_on(w, 1, two_cpus);
  CHECK(w.on[1].size() == 3);
  CHECK(w.on[3].size() >= 1);
}

TEST_CASE("a rank that is closed or kept for a gang does not make members' tasks wait") {
  world w(3, 3);
  w.submit(0, gang_of(2));
  w.submit(1);  // on 3
  w.submit(0, gang_of(3));
  for (int i = 0; i < 2; ++i) w.end(3), w.submit(1);  // the gang gets old
  w.end(3);
  REQUIRE(w.s.gang().keeps(3));
  w.s.blocked(1, 1);
  w.s.blocked(2, 1);
  node& n = w.nodes.make();
  n.function = 7;
  n.form = manta::graph::form::record;
  n.record = records.make(0, 0);
  n.record->home_rank = 2;
  w.s.ready(n);
  w.decide();
  CHECK(w.s.gang().keeps(3));
  CHECK(w.on[2].size() == 2);
}

TEST_CASE("an index of ranks by node gives back what it has chosen when a gang turns out to be too large") {
  manta::graph::gang_index free;
  const gang_shape of_4{4};
  manta::base::list<std::uint32_t> all, chosen;
  for (const std::uint32_t rank : {1U, 2U, 3U, 4U}) all.push_back(rank);
  free.begin(all, [](std::uint32_t rank) { return rank <= 2 ? 0 : 1; });
  for (const std::uint32_t rank : all) free.add(rank);
  bool is_4_busy = true;  // without a word to the index
  const auto can = [&](std::uint32_t rank) { return rank != 4 || !is_4_busy; };
  CHECK_FALSE(free.choose(of_4, can, chosen));
  is_4_busy = false;
  CHECK_FALSE(free.choose(of_4, can, chosen));  // it has noticed that 4 was busy, and nobody has added it again
  free.add(4);
  REQUIRE(free.choose(of_4, can, chosen));
  std::vector<std::uint32_t> ranks(chosen.begin(), chosen.end());
  std::sort(ranks.begin(), ranks.end());
  CHECK(ranks == std::vector<std::uint32_t>{1, 2, 3, 4});
}

TEST_CASE("an index of ranks by node chooses as a look at all ranks would") {
  std::mt19937_64 draw(7);
  const auto per_node = [](const auto& chosen, const std::vector<int>& node_of) {
    std::map<int, int> count;
    for (const std::uint32_t rank : chosen) ++count[node_of[rank]];
    return count;
  };
  const auto shares = [&](const auto& chosen, const std::vector<int>& node_of) {
    std::multiset<int> all;
    for (const auto& [node, count] : per_node(chosen, node_of)) all.insert(count);
    return all;
  };
  int found = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::size_t size = 1 + draw() % 30;
    const int nodes = 1 + static_cast<int>(draw() % 8);
    std::vector<int> node_of(size);
    for (std::size_t r = 0; r < size; ++r) node_of[r] = static_cast<int>(draw() % static_cast<unsigned>(nodes));
    manta::base::list<std::uint32_t> all, chosen, by_look;
    manta::base::list<gang_candidate> now, ever;
    manta::graph::gang_index free;
    for (std::uint32_t r = 0; r < size; ++r) all.push_back(r);
    free.begin(all, [&](std::uint32_t r) { return node_of[r]; });
    std::set<std::uint32_t> can;
    for (std::uint32_t r = 0; r < size; ++r) {
      if (draw() % 8 == 0) continue;
      ever.push_back({r, node_of[r]});
      if (draw() % 4 == 0) {
        if (draw() % 2 == 0) free.add(r);  // it is busy, which the index has not heard
        continue;
      }
      now.push_back({r, node_of[r]});
      can.insert(r);
      free.add(r);
    }
    gang_shape shape{1 + draw() % 12};
    if (draw() % 3 == 0) shape.spread = true;
    if (!shape.spread && draw() % 2 == 0) {
      shape.nodes = 1 + static_cast<int>(draw() % 3);
      shape.ranks *= static_cast<std::size_t>(shape.nodes);
    }
    if (draw() % 2 == 0 && !shape.spread) {
      shape.first = static_cast<std::uint32_t>(draw() % size);
      shape.near = node_of[shape.first];
    }
    set_hopes(shape, ever);
    CAPTURE(round);
    const bool is_there = choose_gang(now, shape, by_look);
    REQUIRE(free.choose(
                shape, [&](std::uint32_t r) { return can.count(r) == 1; }, chosen) == is_there);
    if (!is_there) continue;
    ++found;
    REQUIRE(std::set<std::uint32_t>(chosen.begin(), chosen.end()).size() == shape.ranks);
    for (const std::uint32_t r : chosen) REQUIRE(can.count(r) == 1);
    REQUIRE(shares(chosen, node_of) == shares(by_look, node_of));
    if (shape.there > 0) {
      REQUIRE(per_node(chosen, node_of)[shape.near] == per_node(by_look, node_of)[shape.near]);
      if (can.count(shape.first) == 1) REQUIRE(chosen[0] == shape.first);
    }
  }
  CHECK(found > 500);
}
