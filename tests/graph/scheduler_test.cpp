// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The scheduler in a simulated world: ranks that run what they are sent in
// order, messages that take a while, a virtual clock; no MPI, no threads. The
// simulation keeps its own books and complains about every decision that
// breaks a promise.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "manta/graph/scheduler.hpp"

using manta::graph::bundle;
using manta::graph::bundles;
using manta::graph::capacity;
using manta::graph::device_stock;
using manta::graph::form;
using manta::graph::gpu_set;
using manta::graph::no_index;
using manta::graph::node;
using manta::graph::node_table;
using manta::graph::quantities;
using manta::graph::rank_choice;
using manta::graph::rank_load;
using manta::graph::request;
using manta::graph::request_ptr;
using manta::graph::reservation;
using manta::graph::scheduler;
using manta::graph::strategy;
using manta::graph::task;

namespace {

manta::graph::task_pool records;

constexpr std::int64_t us = 1000;
constexpr std::int64_t ms = 1000 * us;

std::uint64_t seed(const char* test) {
  const char* const given = std::getenv("MANTA_TEST_SEED");
  const std::uint64_t value = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  MESSAGE(std::string(test) << ": MANTA_TEST_SEED=" << value);
  return value;
}

/// Rank 0 schedules, the others run tasks: the default.
std::vector<capacity> ranks(std::size_t executing, const quantities& resources = {}) {
  std::vector<capacity> all(executing + 1);
  all[0].executes = false;
  for (capacity& c : all) {
    c.cpus = 4;
    c.resources = resources;
  }
  return all;
}

manta::base::array<capacity> array_of(const std::vector<capacity>& all) {
  manta::base::array<capacity> result(all.size());
  std::copy(all.begin(), all.end(), result.begin());
  return result;
}

/// A request in which only what matters has to be named.
struct conditions {
  std::string name = {};
  int cpus = 1;
  quantities resources = {};
  int rank = -1;
  int node = -1;
  int retries = 0;
  bool actor = false;
  double gpus = 0;
  int near = request::nowhere;
  bool spread = false;
  int priority = 0;
  std::uint64_t in = 0;
  int bundle = -1;
  manta::places except = {};

  request build() const {
    request r;
    r.name = name;
    r.cpus = cpus;
    r.resources = resources;
    r.rank = rank;
    r.node = node;
    r.retries = retries;
    r.actor = actor;
    r.gpu_units = manta::graph::gpu_units(gpus, "gpus");
    r.near = near;
    r.spread = spread;
    r.priority = priority;
    r.reservation = in;
    r.bundle = bundle;
    r.except = manta::graph::exceptions(except);
    return r;
  }
};
request_ptr ask(const conditions& c) { return request_ptr(new request(c.build())); }

class world {
 public:
  struct job {
    std::uint32_t function = 0;
    std::int64_t ns = 0;
    request_ptr wanted;
    std::int64_t wait_at = -1;  ///< after that long it waits, leaving its rank free, ...
    std::int64_t wait_ns = 0;   ///< ... for that long
    std::int64_t actor_ns = 0;  ///< an actor lives that long
    std::vector<std::pair<std::uint32_t, std::uint64_t>> inputs;  ///< place and bytes of those on other ranks
    bool overtakes = false;
    std::uint32_t home = 0;
    // what happened
    std::uint32_t rank = no_index;
    std::uint32_t charge = 0;
    int dispatched = 0;
    int ended = 0;
  };

  explicit world(std::vector<capacity> all, std::int64_t latency = 5 * us)
      : latency_(latency), capacities_(all), s(nodes, array_of(all)), executors_(capacities_.size()) {
    for (std::size_t r = 0; r < capacities_.size(); ++r) {
      executors_[r].free = capacities_[r].resources;
      for (int i = 0; i < 64; ++i) {
        if ((capacities_[r].gpus.whole >> i & 1) != 0) executors_[r].device[i] = gpu_set::whole_device;
      }
      if (capacities_[r].gpus.part >= 0)
        executors_[r].device[capacities_[r].gpus.part] = capacities_[r].gpus.part_units;
    }
  }
  ~world() {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (jobs[i].dispatched == 0) free_record(*nodes_of_jobs_[i]);
    }
  }
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  std::size_t submit(job j) {
    node& n = nodes.make();
    n.function = j.function;
    n.form = form::compact;
    if (j.wanted != nullptr || !j.inputs.empty()) {
      n.form = form::record;
      n.record = records.make(static_cast<std::uint32_t>(j.inputs.size()), 0);
      n.record->function = j.function;
      n.record->home_rank = j.home;
      if (j.wanted != nullptr) j.wanted = request_ptr(new request(*j.wanted));  // each task has its own
      n.record->request = j.wanted;
      for (std::size_t i = 0; i < j.inputs.size(); ++i) {
        inputs_.push_back(std::make_unique<node>());
        node& input = *inputs_.back();
        input.state = manta::graph::state::ready;
        input.form = form::remote;
        input.remote.place = j.inputs[i].first;
        input.remote.bytes = j.inputs[i].second;
        n.record->inputs()[i] = &input;
      }
    }
    job_of_node_[n.index] = jobs.size();
    nodes_of_jobs_.push_back(&n);
    jobs.push_back(std::move(j));
    s.ready(n, jobs.back().overtakes);
    return jobs.size() - 1;
  }
  std::size_t submit(std::uint32_t function, std::int64_t ns, request_ptr wanted = nullptr) {
    job j;
    j.function = function;
    j.ns = ns;
    j.wanted = std::move(wanted);
    return submit(std::move(j));
  }

  std::uint64_t reserve(std::vector<bundle> wanted, strategy how = strategy::pack) {
    bundles all(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) all[i] = std::move(wanted[i]);
    const std::uint64_t id = ++reservations_;
    s.reserve(new reservation(id, how, std::move(all)));
    return id;
  }
  bool is_met(std::uint64_t id) { return s.held().find_reservation(id)->met; }
  std::uint32_t rank_of(std::uint64_t id, std::size_t part) { return s.held().find_reservation(id)->parts[part].rank; }
  /// How many queued tasks it refused.
  int release(std::uint64_t id) {
    int refused = 0;
    reservation* const r = s.release(id, [&](node& n) {
      give_up(n);
      ++refused;
    });
    delete r;
    return refused;
  }

  /// One round of decisions; how many.
  std::size_t decide() {
    const std::size_t before = log.size();
    s.decide([&](node& n, std::uint32_t rank, std::uint32_t charge) { dispatch(n, rank, charge); });
    while (s.take_met() != nullptr) {
    }
    return log.size() - before;
  }
  /// Until nothing happens any more.
  void run() {
    decide();
    while (!events_.empty()) {
      const auto e = events_.top();
      events_.pop();
      now = std::get<0>(e);
      const std::function<void()> happen = std::move(actions_[std::get<1>(e)]);
      actions_.erase(std::get<1>(e));
      happen();
    }
  }
  /// Teaches the scheduler how long tasks of a function take, on every rank.
  void warm_up(std::uint32_t function, std::int64_t ns) {
    for (std::size_t i = 0; i < s.load().executing().size(); ++i) submit(function, ns);
    run();
    log.clear();
  }

  std::size_t job_at(const node& n) const { return job_of_node_.at(n.index); }
  /// One that the scheduler has let go.
  void give_up(node& n) {
    free_record(n);
    jobs[job_at(n)].dispatched = -1;
  }
  bool each_once() const {
    return std::all_of(jobs.begin(), jobs.end(), [](const job& j) { return j.dispatched == 1 && j.ended == 1; });
  }
  std::uint32_t outstanding(std::uint32_t rank) const { return executors_[rank].outstanding; }
  const std::string& complaint() const { return complaint_; }

  node_table nodes;

 private:
  std::int64_t latency_;
  std::vector<capacity> capacities_;

 public:
  scheduler s;
  std::vector<job> jobs;
  std::vector<std::pair<std::size_t, std::uint32_t>> log;  ///< job, rank
  std::int64_t now = 0;
  std::int64_t busy_ns = 0;
  bool only_log = false;  ///< tasks are sent and never end

 private:
  struct executor {
    std::deque<std::size_t> inbox;
    bool running = false;
    std::uint32_t outstanding = 0;  ///< sent and not ended, as the scheduler may know it
    std::uint32_t waiting = 0;      ///< of these, waiting inside
    quantities free;
    std::map<int, std::int64_t> device;
  };

  void complain(const std::string& text) {
    if (complaint_.empty()) complaint_ = text;
  }
  void at(std::int64_t time, std::function<void()> action) {
    actions_[sequence_] = std::move(action);
    events_.emplace(time, sequence_++);
  }
  static void free_record(node& n) {
    if (n.form == form::record) records.free(n.record);
    n.form = form::none;
  }

  void dispatch(node& n, std::uint32_t rank, std::uint32_t charge) {
    const std::size_t index = job_of_node_.at(n.index);
    job& j = jobs[index];
    executor& e = executors_[rank];
    const capacity& c = capacities_[rank];
    if (++j.dispatched != 1) complain("a task was dispatched twice");
    if (&n != nodes_of_jobs_[index]) complain("a stranger was dispatched");
    if (!c.executes) complain("a task went to a rank that runs none");
    if (j.wanted != nullptr) {
      if (j.wanted->rank >= 0 && static_cast<std::uint32_t>(j.wanted->rank) != rank) complain("wrong rank");
      if (j.wanted->node >= 0 && j.wanted->node != c.node) complain("wrong node");
      if (j.wanted->except.has(static_cast<int>(rank), c.node)) complain("excepted rank");
      if (j.wanted->cpus > c.cpus) complain("not enough cpus");
      for (const auto& [name, amount] : j.wanted->resources) {
        if ((e.free[name] -= amount) < 0) complain("more of " + name + " was given out than there is");
      }
      check_devices(*j.wanted, e);
    }
    j.rank = rank;
    j.charge = charge;
    ++e.outstanding;
    log.emplace_back(index, rank);
    free_record(n);
    if (only_log) return;
    at(now + latency_, [this, index, rank] {
      executors_[rank].inbox.push_back(index);
      start_next(rank);
    });
  }
  void check_devices(const request& wanted, executor& e) {
    const std::uint64_t devices = wanted.granted.devices;
    const int count = __builtin_popcountll(devices);
    const std::int64_t each = std::min(wanted.gpu_units, gpu_set::whole_device);
    if (count * each != wanted.gpu_units) complain("a task got other devices than it asked for");
    for (int i = 0; i < 64; ++i) {
      if ((devices >> i & 1) != 0 && (e.device[i] -= each) < 0) complain("a device was given out twice");
    }
  }
  void start_next(std::uint32_t rank) {
    executor& e = executors_[rank];
    if (e.running || e.inbox.empty()) return;
    const std::size_t index = e.inbox.front();
    e.inbox.pop_front();
    e.running = true;
    const job& j = jobs[index];
    busy_ns += j.ns;
    if (j.wait_at < 0) {
      at(now + j.ns, [this, index, rank] { end(index, rank); });
      return;
    }
    at(now + j.wait_at, [this, index, rank] {  // it waits: the rank is free meanwhile
      executors_[rank].running = false;
      ++executors_[rank].waiting;
      tell_blocked(rank);
      start_next(rank);
      at(now + jobs[index].wait_ns, [this, index, rank] { continue_waiting(index, rank); });
    });
  }
  void continue_waiting(std::size_t index, std::uint32_t rank) {
    executor& e = executors_[rank];
    if (e.running) return at(now + us, [this, index, rank] { continue_waiting(index, rank); });
    e.running = true;
    --e.waiting;
    tell_blocked(rank);
    at(now + jobs[index].ns - jobs[index].wait_at, [this, index, rank] { end(index, rank); });
  }
  void tell_blocked(std::uint32_t rank) {
    at(now + latency_, [this, rank, count = executors_[rank].waiting] {
      s.blocked(rank, count);
      decide();
    });
  }
  void end(std::size_t index, std::uint32_t rank) {
    executors_[rank].running = false;
    start_next(rank);
    at(now + latency_, [this, index, rank] {
      job& j = jobs[index];
      if (++j.ended != 1) complain("a task ended twice");
      --executors_[rank].outstanding;
      if (j.wanted != nullptr && j.wanted->actor) {
        at(now + j.actor_ns, [this, index, rank] {
          s.give_back(rank, *jobs[index].wanted);
          take_back(index, rank);
          decide();
        });
      } else {
        take_back(index, rank);
      }
      s.ended(rank, j.function, j.charge, static_cast<std::uint64_t>(j.ns), j.wanted.get());
      decide();
    });
  }
  void take_back(std::size_t index, std::uint32_t rank) {
    if (jobs[index].wanted == nullptr) return;
    const request& wanted = *jobs[index].wanted;
    for (const auto& [name, units] : wanted.resources) executors_[rank].free[name] += units;
    for (int i = 0; i < 64; ++i) {
      if ((wanted.granted.devices >> i & 1) != 0) {
        executors_[rank].device[i] += std::min(wanted.gpu_units, gpu_set::whole_device);
      }
    }
  }

  std::uint64_t reservations_ = 0;
  std::vector<executor> executors_;
  std::vector<node*> nodes_of_jobs_;
  std::map<std::uint32_t, std::size_t> job_of_node_;
  std::vector<std::unique_ptr<node>> inputs_;
  std::priority_queue<std::pair<std::int64_t, std::uint64_t>, std::vector<std::pair<std::int64_t, std::uint64_t>>,
                      std::greater<>>
      events_;
  std::map<std::uint64_t, std::function<void()>> actions_;
  std::uint64_t sequence_ = 0;
  std::string complaint_;
};

/// How many of the last decisions went to each rank.
std::map<std::uint32_t, int> shares(const world& w) {
  std::map<std::uint32_t, int> result;
  for (const auto& [index, rank] : w.log) ++result[rank];
  return result;
}

/// A world full of everything, from one seed.
void fill_at_random(world& w, std::mt19937_64& draw, int tasks) {
  const std::vector<request_ptr> requests = {
      nullptr,
      nullptr,
      nullptr,
      ask({.name = "only named", .retries = 2}),
      ask({.resources = {{"gpu", 1}}}),
      ask({.resources = {{"gpu", 0.5}, {"slot", 1}}}),
      ask({.resources = {{"slot", 0.1}}}),
      ask({.rank = 2}),
      ask({.node = 1}),
      ask({.cpus = 4}),
      ask({.resources = {{"slot", 0.3}}, .actor = true}),
      ask({.priority = 3}),
      ask({.priority = -2}),
      ask({.spread = true}),
      ask({.gpus = 0.25}),
      ask({.resources = {{"slot", 0.1}}, .gpus = 1, .priority = 1}),
      ask({.gpus = 2}),
      ask({.gpus = 0.5, .near = 3}),
      ask({.near = 0}),
      ask({.actor = true, .gpus = 0.5}),
      ask({.except = {{1, 3}}}),
      ask({.spread = true, .except = {.nodes = {1}}}),
  };
  for (int i = 0; i < tasks; ++i) {
    world::job j;
    j.function = static_cast<std::uint32_t>(draw() % 7);
    j.ns = static_cast<std::int64_t>(1 + draw() % 10) * (j.function % 3 == 0   ? us / 10
                                                         : j.function % 3 == 1 ? 20 * us
                                                                               : ms);
    j.wanted = requests[draw() % requests.size()];
    if (j.wanted != nullptr && j.wanted->actor) j.actor_ns = static_cast<std::int64_t>(draw() % 20) * ms;
    if ((j.wanted == nullptr || !j.wanted->actor) && draw() % 5 == 0) {
      j.wait_at = j.ns / 2;
      j.wait_ns = static_cast<std::int64_t>(draw() % 5) * ms;
    }
    if (draw() % 4 == 0) {
      for (std::uint64_t k = draw() % 4; k > 0; --k) {
        j.inputs.emplace_back(static_cast<std::uint32_t>(draw() % 6), draw() % (4 * rank_choice::large_bytes));
      }
    }
    w.submit(std::move(j));
  }
}

std::vector<capacity> mixed_ranks() {
  std::vector<capacity> all = ranks(5, {{"slot", 1}});
  for (std::size_t r = 0; r < all.size(); ++r) all[r].node = r < 3 ? 0 : 1;
  all[1].cpus = 1;
  all[3].resources = quantities({{"slot", 2}, {"gpu", 1}});
  all[5].resources = quantities({{"gpu", 2}, {"slot", 0.5}});
  all[2].gpus.whole = 0b1011;
  all[3].gpus.whole = 0b1;
  all[5].gpus.part = 2;
  all[5].gpus.part_units = 5000;
  return all;
}

}  // namespace

// ---- promises kept under any load -------------------------------------------------------------------------

TEST_CASE("every task is dispatched exactly once, where it asked to go, and nothing is given out twice") {
  std::mt19937_64 draw(seed("random worlds"));
  for (int round = 0; round < 20; ++round) {
    world w(mixed_ranks());
    fill_at_random(w, draw, 500);
    w.run();
    CHECK(w.complaint() == "");
    CHECK(w.each_once());
    CHECK(w.s.waiting() == 0);
    for (std::uint32_t r = 0; r < 6; ++r) {
      CHECK(w.s.load().sent(r) == 0);
      CHECK(w.s.load().idle(r));
    }
  }
}

TEST_CASE("the same events give the same decisions") {
  const std::uint64_t s = seed("determinism");
  std::vector<std::pair<std::size_t, std::uint32_t>> first;
  for (int time = 0; time < 2; ++time) {
    std::mt19937_64 draw(s);
    world w(mixed_ranks());
    fill_at_random(w, draw, 1000);
    w.run();
    if (time == 0) {
      first = w.log;
    } else {
      CHECK(w.log == first);
    }
  }
}

TEST_CASE("the scheduler counts what waits and what it has sent") {
  world w(ranks(2));
  w.only_log = true;
  CHECK(w.s.waiting() == 0);
  CHECK(w.s.load().idle(1));
  for (int i = 0; i < 5; ++i) w.submit(0, ms);
  CHECK(w.s.waiting() == 5);
  CHECK(w.decide() == 2);
  CHECK(w.s.waiting() == 3);
  CHECK(w.s.load().sent(1) == 1);
  CHECK(w.s.load().sent(2) == 1);
  CHECK_FALSE(w.s.load().idle(1));
  CHECK((std::vector<std::uint32_t>(w.s.load().executing().begin(), w.s.load().executing().end()) ==
         std::vector<std::uint32_t>{1, 2}));
  CHECK(w.decide() == 0);
}

TEST_CASE("tasks without conditions leave in the order in which they became ready") {
  world w(ranks(3));
  for (int i = 0; i < 200; ++i) w.submit(0, 50 * us);
  w.run();
  for (std::size_t i = 0; i < w.log.size(); ++i) CHECK(w.log[i].first == i);
}

TEST_CASE("tasks overtake others if asked to, the newest first, and 64 in turn") {
  world w(ranks(1));
  for (int i = 0; i < 10; ++i) w.submit(0, 50 * us);
  for (int i = 10; i < 110; ++i) {
    world::job j;
    j.ns = 50 * us;
    j.overtakes = true;
    w.submit(std::move(j));
  }
  w.run();
  std::vector<std::size_t> order, expected;
  for (const auto& [job, rank] : w.log) order.push_back(job);
  for (std::size_t i = 110; i-- > 75;) expected.push_back(i);
  for (std::size_t i = 74; i-- > 10;) expected.push_back(i);
  for (std::size_t i = 0; i < 10; ++i) expected.push_back(i);
  expected.push_back(74);
  CHECK(order == expected);
}

// ---- conditions ---------------------------------------------------------------------------------------------

TEST_CASE("as many tasks hold a resource as there is of it, fractions included") {
  world w(ranks(3, quantities({{"gpu", 1}})));
  w.only_log = true;
  const auto tenth = ask({.resources = {{"gpu", 0.1}}, .actor = true});  // actors: a rank takes many
  for (int i = 0; i < 40; ++i) w.submit(0, us, tenth);
  CHECK(w.decide() == 30);
  CHECK(w.complaint() == "");
  for (const auto& [rank, count] : shares(w)) CHECK(count == 10);
  const auto ends = std::find_if(w.jobs.begin(), w.jobs.end(), [](const world::job& j) { return j.rank == 2; });
  w.s.give_back(2, *ends->wanted);
  w.only_log = true;
  w.log.clear();
  std::size_t more = 0;
  w.s.decide([&](node& n, std::uint32_t rank, std::uint32_t) {
    CHECK(rank == 2);
    records.free(n.record);
    n.form = form::none;
    ++more;
  });
  CHECK(more == 1);
}

TEST_CASE("actors are spread: the rank with the fewest gets the next") {
  world w(ranks(4));
  w.only_log = true;
  for (int i = 0; i < 12; ++i) w.submit(0, us, ask({.actor = true}));
  CHECK(w.decide() == 12);
  CHECK(shares(w).size() == 4);
  for (const auto& [rank, count] : shares(w)) CHECK(count == 3);
}

TEST_CASE("tasks that ask for what is taken do not hold up others") {
  world w(ranks(2, quantities({{"gpu", 1}})));
  w.only_log = true;
  const auto gpu = ask({.resources = {{"gpu", 1}}, .actor = true});
  for (int i = 0; i < 5; ++i) w.submit(0, us, gpu);
  w.decide();
  w.log.clear();
  const auto slot = ask({.rank = 2, .actor = true});
  const std::size_t free_one = w.submit(1, us, slot);
  w.decide();
  REQUIRE(w.log.size() == 1);
  CHECK(w.log[0].first == free_one);
}

TEST_CASE("pinned tasks all go to their rank while the others have room") {
  world w(ranks(4));
  for (int i = 0; i < 50; ++i) w.submit(0, 200 * us, ask({.rank = 3}));
  for (int i = 0; i < 150; ++i) w.submit(1, 200 * us);
  w.run();
  CHECK(w.complaint() == "");
  CHECK(w.each_once());
  const std::map<std::uint32_t, int> s = shares(w);
  CHECK(s.at(3) >= 50);
  CHECK(s.at(3) <= 55);  // what may run anywhere was left to the others
}

// ---- devices -------------------------------------------------------------------------------------------------

namespace {
std::vector<capacity> with_devices(std::size_t executing, std::uint64_t whole) {
  std::vector<capacity> all = ranks(executing);
  for (capacity& c : all) c.gpus.whole = whole;
  return all;
}
}  // namespace

TEST_CASE("a part of a device comes from one device, the fullest that still fits, so that others stay whole") {
  device_stock stock(gpu_set{0b111, -1, 0});
  CHECK(stock.take(2500) == 0b001);
  CHECK(stock.take(10000) == 0b010);
  CHECK(stock.take(7500) == 0b001);
  CHECK(stock.take(6000) == 0b100);
  CHECK_FALSE(stock.fits(4001));  // 0.4 of the third is free
  CHECK(stock.fits(4000));
  CHECK_FALSE(stock.fits(10000));
  stock.give(0b010, 10000);
  CHECK(stock.take(4000) == 0b100);
  CHECK(stock.fits(10000));
  stock.give(0b001, 7500);
  stock.give(0b001, 2500);
  CHECK(stock.take(20000) == 0b011);
  CHECK(stock.units() == 0);
}

TEST_CASE("a request never gets parts of two devices") {
  world w(with_devices(1, 0b11));
  w.only_log = true;
  for (int i = 0; i < 3; ++i) w.submit(0, us, ask({.actor = true, .gpus = 0.6}));
  CHECK(w.decide() == 2);  // 0.4 and 0.4 are left
  CHECK(w.jobs[0].wanted->granted.devices != w.jobs[1].wanted->granted.devices);
  for (int i = 0; i < 3; ++i) w.submit(0, us, ask({.actor = true, .gpus = 0.4}));
  CHECK(w.decide() == 2);
  CHECK(w.complaint() == "");
}

TEST_CASE("rank 0 only schedules, but a request that no other ranks can meet says so") {
  std::vector<capacity> all = ranks(3);
  all[0].executes = false;
  const auto needs_rank_0 = [&](const request& r) {
    return manta::graph::require_possible(r, array_of(all), "this task");
  };
  CHECK_FALSE(needs_rank_0(conditions{.rank = 2}.build()));
  CHECK(needs_rank_0(conditions{.rank = 0}.build()));
  CHECK_THROWS_AS(needs_rank_0(conditions{.cpus = 1000, .rank = 0}.build()), manta::unschedulable);
  const int size = static_cast<int>(all.size());
  request gang;
  for (gang.ranks = 1; gang.ranks <= size; ++gang.ranks) CHECK(needs_rank_0(gang) == (gang.ranks == size));
  CHECK_THROWS_WITH_AS(needs_rank_0(gang), doctest::Contains("asks for 5 ranks, and 3 fit (one more with rank 0, "),
                       manta::unschedulable);
  gang.cpus = all[0].cpus + 1;
  CHECK_THROWS_WITH_AS(needs_rank_0(gang), doctest::Contains("asks for 5 ranks, and 0 fit: each"),
                       manta::unschedulable);
  gang.cpus = 1;
  gang.ranks = size;
  all[1].node = -1;  // it has died
  all[1].executes = false;
  CHECK_THROWS_AS(needs_rank_0(gang), manta::unschedulable);
  gang.ranks = size - 1;
  CHECK_THROWS_AS(needs_rank_0(gang), manta::unschedulable);
  CHECK(needs_rank_0(conditions{.rank = 0}.build()));
  all[1] = all[2];
  gang.ranks = size;
  gang.reservation = 7;  // whose bundles are on other ranks
  CHECK_THROWS_AS(needs_rank_0(gang), manta::unschedulable);
}

TEST_CASE("a share of a device never meets a request for a whole one") {
  std::vector<capacity> all = ranks(2);
  all[1].gpus.part = 0;
  all[1].gpus.part_units = 5000;
  CHECK_THROWS_WITH_AS(manta::graph::require_possible(conditions{.gpus = 1}.build(), array_of(all), "this task"),
                       doctest::Contains("lacks gpus = 0.5"), manta::unschedulable);
  CHECK_NOTHROW(manta::graph::require_possible(conditions{.gpus = 0.5}.build(), array_of(all), "this task"));
  CHECK_THROWS_AS(manta::graph::gpu_units(1.5, "gpus"), manta::error);
  CHECK_THROWS_AS(manta::graph::gpu_units(-1, "gpus"), manta::error);
  CHECK_THROWS_AS(manta::graph::gpu_units(std::nan(""), "gpus"), manta::error);
  CHECK(manta::graph::gpu_units(0.25, "gpus") == 2500);
}

// ---- priority, spread, near ----------------------------------------------------------------------------------

TEST_CASE("of what waits the highest priority goes first, in the order in which it came within one") {
  world w(ranks(1, quantities({{"slot", 1}})));
  const auto holder = ask({.resources = {{"slot", 1}}, .actor = true});
  w.only_log = true;
  w.submit(0, us, holder);
  w.decide();
  w.log.clear();
  w.only_log = false;
  const std::vector<int> given = {0, 5, -3, 5, 0, 7, -3, 0, 5, 7};
  for (std::size_t i = 0; i < given.size(); ++i) {  // two kinds of requests at each level
    w.submit(1, ms,
             i % 2 == 0 ? ask({.resources = {{"slot", 1}}, .priority = given[i]})
                        : ask({.resources = {{"slot", 0.9}}, .priority = given[i]}));
  }
  CHECK(w.decide() == 0);
  w.s.give_back(1, *w.jobs[0].wanted);
  w.s.ended(1, 0, w.jobs[0].charge, 1000, w.jobs[0].wanted.get());
  w.run();
  std::vector<std::size_t> order;
  for (const auto& [index, rank] : w.log) order.push_back(index - 1);
  CHECK(order == std::vector<std::size_t>{5, 9, 1, 3, 8, 0, 4, 7, 2, 6});
}

TEST_CASE("tasks without conditions keep their places between higher and lower priorities") {
  world w(ranks(1));
  for (int i = 0; i < 3; ++i) w.submit(0, ms);
  for (int i = 0; i < 3; ++i) w.submit(0, ms, ask({.priority = -1}));
  for (int i = 0; i < 3; ++i) w.submit(0, ms, ask({.priority = 1}));
  w.run();
  std::vector<std::size_t> order;
  for (const auto& [index, rank] : w.log) order.push_back(index);
  CHECK(order == std::vector<std::size_t>{6, 7, 8, 0, 1, 2, 3, 4, 5});
}

TEST_CASE("those with conditions go first while there is room for all, else in turn with those without") {
  world w(ranks(2));
  w.warm_up(0, ms);
  w.warm_up(1, ms);
  w.log.clear();
  const std::size_t first = w.jobs.size();
  for (int i = 0; i < 50; ++i) w.submit(1, ms);
  for (int i = 0; i < 50; ++i) w.submit(0, ms, ask({.rank = 1 + i % 2}));
  w.run();
  int plain = 0, pinned = 0;
  for (const auto& [index, rank] : w.log) {
    ++(index < first + 50 ? plain : pinned);
    if (plain + pinned == 2) CHECK(pinned == 2);
    CHECK(std::abs(plain - pinned) <= 3);
  }
  CHECK(plain == 50);
  CHECK(pinned == 50);
}

TEST_CASE("a task of high priority that does not fit holds up no others") {
  world w(with_devices(2, 0b1));
  w.only_log = true;
  for (int i = 0; i < 2; ++i) w.submit(0, us, ask({.actor = true, .gpus = 1}));
  w.decide();
  for (const world::job& j : w.jobs) w.s.ended(j.rank, 0, j.charge, 1000, j.wanted.get());
  w.submit(1, us, ask({.gpus = 1, .priority = 100}));
  w.submit(0, us, ask({.priority = -100}));
  CHECK(w.decide() == 1);
  CHECK(w.jobs[2].dispatched == 0);
  CHECK(w.jobs[3].dispatched == 1);
}

TEST_CASE("a request is read as it was written, with each of its fields") {
  request r;
  int last = 0;
  const auto fill = [&last]<class Field>(Field& field) {
    if constexpr (std::is_arithmetic_v<Field>) field = static_cast<Field>(++last);
  };
  const auto fill_all = [&fill](auto&... field) { (fill(field), ...); };
  manta::graph::needs::each_field(static_cast<manta::graph::needs&>(r), fill_all);
  manta::graph::place_terms::each_field(static_cast<manta::graph::place_terms&>(r), fill_all);
  manta::graph::run_terms::each_field(static_cast<manta::graph::run_terms&>(r), fill_all);
  r.name = "all";
  r.resources = {{"slot", 0.5}};
  r.except = manta::graph::exceptions({{1, 2}, {3}});
  r.cost = {4, true};
  r.rules.concurrency = 7;
  r.granted.member = 2;
  manta::wire::buffer bytes;
  r.write(bytes);
  manta::wire::source in(bytes.data(), bytes.size());
  request read;
  read.read(in);
  CHECK(read.waits_as(r));
  CHECK(read.name == "all");
  CHECK(read.except.all() == manta::places{{1, 2}, {3}});
  CHECK((read.retries == r.retries && read.restarts == r.restarts && read.deadline == r.deadline &&
         read.duration == r.duration && read.isolate && read.needs_rank_0 && read.journaled));
  CHECK((read.cost.rank == 4 && read.cost.was_killed && read.rules.concurrency == 7));
  manta::wire::buffer again;
  read.write(again);
  CHECK(std::equal(bytes.data(), bytes.data() + bytes.size(), again.data(), again.data() + again.size()));
}

TEST_CASE("tasks go to no rank and no node that they except, and wait in a queue of their own") {
  std::vector<capacity> four = ranks(4);
  four[3].node = four[4].node = 1;
  world w(four);
  for (int i = 0; i < 60; ++i) w.submit(0, ms, ask({.except = {{1, 3}}}));
  for (int i = 0; i < 60; ++i) w.submit(0, ms, ask({.except = {.nodes = {0}}}));
  w.run();
  CHECK(w.log.size() == 120);
  for (std::size_t i = 0; i < w.jobs.size(); ++i) {
    const bool is_first_kind = i < 60;
    CHECK((is_first_kind ? w.jobs[i].rank == 2 || w.jobs[i].rank == 4 : w.jobs[i].rank >= 3));
  }
}

TEST_CASE("spread tasks differ by one at most between ranks at any time") {
  std::mt19937_64 draw(seed("spread"));
  for (int round = 0; round < 10; ++round) {
    world w(ranks(7));
    w.only_log = true;
    std::vector<std::vector<std::size_t>> out(8);
    for (int i = 0; i < 300; ++i) w.submit(0, us, ask({.spread = true}));
    bool even = true;
    for (std::size_t ended = 0; ended < 300;) {
      w.log.clear();
      w.decide();
      for (const auto& [index, rank] : w.log) out[rank].push_back(index);
      std::size_t least = ~std::size_t{0}, most = 0;
      for (std::size_t r = 1; r < 8; ++r) {
        least = std::min(least, out[r].size());
        most = std::max(most, out[r].size());
      }
      if (!w.log.empty()) even = even && most <= least + 1;
      // ends come level by level, so that what differs is what the scheduler did
      std::size_t r = 1 + draw() % 7;
      while (out[r].size() != most) r = r % 7 + 1;
      const std::size_t index = out[r].back();
      out[r].pop_back();
      w.s.ended(static_cast<std::uint32_t>(r), 0, w.jobs[index].charge, 1000, w.jobs[index].wanted.get());
      ++ended;
    }
    CHECK(even);
  }
}

TEST_CASE("spread takes equal ranks in turn") {
  world w(ranks(4));
  w.only_log = true;
  for (int i = 0; i < 12; ++i) w.submit(0, us, ask({.actor = true, .spread = true}));
  CHECK(w.decide() == 12);
  for (std::size_t i = 4; i < 12; ++i) CHECK(w.log[i].second == w.log[i - 4].second);
  for (const auto& [rank, count] : shares(w)) CHECK(count == 3);
}

TEST_CASE("near is that rank, else its node, else anywhere") {
  std::vector<capacity> all = ranks(4);
  all[3].node = all[4].node = 1;
  all[4].cpus = 1;
  world w(all);
  w.only_log = true;
  for (int i = 0; i < 3; ++i) w.submit(0, us, ask({.actor = true, .near = 2}));
  w.submit(0, us, ask({.cpus = 2, .near = 4}));
  w.submit(0, us, ask({.actor = true, .near = 0}));
  w.submit(0, us, ask({.cpus = 3, .node = 1, .actor = true, .near = 1}));
  CHECK(w.decide() == 6);
  for (std::size_t i = 0; i < 3; ++i) CHECK(w.jobs[i].rank == 2);
  CHECK(w.jobs[3].rank == 3);
  CHECK((w.jobs[4].rank == 1 || w.jobs[4].rank == 2));
  CHECK(w.jobs[5].rank == 3);
}

// ---- against a plain scan of all ranks ------------------------------------------------------------------------

namespace {

/// Tasks with conditions, their ends, waits and deaths in random order, ranks that join for those that die, and books of its own by which each decision is
/// what a look at all ranks would have found.
class scanned_world {
 public:
  scanned_world(std::mt19937_64& draw, std::size_t executing)
      : draw_(draw), all_(ranks(executing)), books_(executing + 1) {
    for (std::size_t r = 1; r <= executing; ++r) {
      all_[r].node = static_cast<int>(r / 3);
      all_[r].cpus = 1 + static_cast<int>(draw() % 4);
      all_[r].resources = quantities({{"slot", static_cast<double>(draw() % 5) / 2}});
      books_[r].slots = all_[r].resources.of("slot");
      if (r > executing - executing / 4) {
        all_[r].executes = false;
        all_[r].stands_by = true;
      }
    }
    const auto world = array_of(all_);
    s = std::make_unique<scheduler>(nodes, world);
    for (const conditions& c :
         {conditions{.resources = {{"slot", 0.5}}}, conditions{.resources = {{"slot", 1}}, .priority = 1},
          conditions{.cpus = 2}, conditions{.node = 1}, conditions{.cpus = 3, .resources = {{"slot", 0.2}}},
          conditions{.spread = true}, conditions{.cpus = 2, .spread = true, .priority = -1},
          conditions{.resources = {{"slot", 0.1}}, .actor = true}, conditions{.actor = true},
          conditions{.actor = true, .spread = true}, conditions{.resources = {{"slot", 0.5}}, .node = 0}}) {
      kinds_.push_back(c.build());
    }
    waiting_.resize(kinds_.size());
  }
  ~scanned_world() {
    s->drop_all([this](node& n) { forget(n); });
  }
  scanned_world(const scanned_world&) = delete;
  scanned_world& operator=(const scanned_world&) = delete;

  void step() {
    switch (draw_() % 16) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5: submit(); break;
      case 6: block(); break;
      case 7: end_actor(); break;
      case 8:
        if (draw_() % 40 == 0) die();
        break;
      default: end();
    }
    decide();
  }
  std::string complaint;
  std::size_t decisions = 0, joined = 0;

 private:
  struct running {
    std::uint32_t rank, function, charge;
    request_ptr wanted;
  };
  struct book {
    std::uint64_t charges = 0;
    std::uint32_t sent = 0, blocked = 0, actors = 0, turn = 0;
    std::int64_t slots = 0;
    bool dead = false;
  };
  static constexpr std::uint64_t lengths[] = {10'000, 30'000, 60'000, 5'000'000};

  std::uint32_t active(std::uint32_t r) const {
    return books_[r].sent > books_[r].blocked ? books_[r].sent - books_[r].blocked : 0;
  }
  /// Where a task of this kind and function goes now.
  std::uint32_t scan(const request& wanted, std::uint32_t function) {
    std::uint32_t best = no_index;
    std::tuple<std::uint64_t, std::uint64_t, std::uint32_t> least;
    for (const bool look_at_room : {false, true}) {  // which are the fewest does not depend on room
      const auto fewest = best == no_index ? 0 : std::get<0>(least);
      best = no_index;
      for (std::uint32_t r = 1; r < books_.size(); ++r) {
        const book& b = books_[r];
        if (b.dead || !wanted.possible(static_cast<int>(r), all_[r]) || wanted.resources.of("slot") > b.slots) continue;
        const bool room =
            wanted.actor || active(r) == 0 ||
            (b.sent < rank_load::window_tasks && b.charges + s->load().estimate(function) <= rank_load::window_ns);
        const std::uint64_t count = wanted.actor ? b.actors : wanted.spread ? b.sent : 0;
        const std::uint64_t work = wanted.actor || active(r) == 0 ? 0 : std::max<std::uint64_t>(b.charges, 1);
        if (look_at_room && (!room || count != fewest)) {
          if (wanted.spread || !room) continue;
        }
        const auto each = std::make_tuple(count, work, wanted.spread ? b.turn : 0);
        if (best == no_index || each < least) best = r, least = each;
      }
      if (best == no_index) return no_index;
    }
    return best;
  }
  void submit() {
    const std::size_t kind = draw_() % kinds_.size();
    if (!s->is_possible(kinds_[kind])) return;
    node& n = nodes.make();
    n.function = static_cast<std::uint32_t>(draw_() % std::size(lengths));
    n.form = form::record;
    n.record = records.make(0, 0);
    n.record->function = n.function;
    n.record->request = request_ptr(new request(kinds_[kind]));
    waiting_[kind].push_back(&n);
    s->ready(n);
  }
  void decide() {
    for (std::size_t before = ~std::size_t{0};
         before != decisions;) {  // what goes to one rank may make another the best
      before = decisions;
      decide_once();
    }
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      if (waiting_[kind].empty()) continue;
      const std::uint32_t found = scan(kinds_[kind], waiting_[kind].front()->function);
      if (found != no_index)
        complain("kind " + std::to_string(kind) + " waits, though rank " + std::to_string(found) + " could take it");
    }
  }
  void decide_once() {
    s->decide([this](node& n, std::uint32_t rank, std::uint32_t charge) {
      const request_ptr wanted = n.record->request;
      std::size_t kind = 0;
      while (waiting_[kind].empty() || waiting_[kind].front() != &n) {
        if (++kind == kinds_.size()) return complain("a task left that was not the first of its kind");
      }
      waiting_[kind].pop_front();
      const std::uint32_t found = scan(*wanted, n.function);
      if (found != rank)
        complain("kind " + std::to_string(kind) + " went to rank " + std::to_string(rank) + ", not " +
                 std::to_string(found));
      book& b = books_[rank];
      ++b.sent;
      b.charges += charge;
      b.slots -= wanted->resources.of("slot");
      b.actors += wanted->actor;
      if (wanted->spread) b.turn = ++turns_;
      running_.push_back({rank, n.function, charge, wanted});
      forget(n);
      ++decisions;
    });
  }
  void end() {
    if (running_.empty()) return;
    const std::size_t i = draw_() % running_.size();
    const running r = running_[i];
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    book& b = books_[r.rank];
    --b.sent;
    b.charges -= r.charge;
    if (r.wanted->actor) {
      actors_.push_back(r);
    } else {
      b.slots += r.wanted->resources.of("slot");
    }
    s->ended(r.rank, r.function, r.charge, lengths[r.function] / 2 + draw_() % lengths[r.function], r.wanted.get());
  }
  void end_actor() {
    if (actors_.empty()) return;
    const running a = actors_.back();
    actors_.pop_back();
    --books_[a.rank].actors;
    books_[a.rank].slots += a.wanted->resources.of("slot");
    s->give_back(a.rank, *a.wanted);
  }
  void block() {
    const auto r = static_cast<std::uint32_t>(1 + draw_() % (books_.size() - 1));
    if (books_[r].dead) return;
    books_[r].blocked = static_cast<std::uint32_t>(draw_() % (books_[r].sent + 1));
    s->blocked(r, books_[r].blocked);
  }
  void die() {
    if (s->load().executing().size() < 3) return;
    const std::uint32_t r = s->load().executing()[draw_() % s->load().executing().size()];
    books_[r] = book{};
    books_[r].dead = true;
    const auto there = [r](const running& each) { return each.rank == r; };
    running_.erase(std::remove_if(running_.begin(), running_.end(), there), running_.end());
    actors_.erase(std::remove_if(actors_.begin(), actors_.end(), there), actors_.end());
    if (const std::uint32_t spare = first_standing_by(); spare != no_index) {
      all_[spare].executes = true;
      all_[spare].stands_by = false;
      s->joins(spare, all_[spare]);
      ++joined;
    }
    s->died(r, [this](node& n) {
      for (auto& kind : waiting_) kind.erase(std::remove(kind.begin(), kind.end(), &n), kind.end());
      forget(n);
    });
  }
  std::uint32_t first_standing_by() const {
    for (std::uint32_t r = 1; r < all_.size(); ++r) {
      if (all_[r].stands_by) return r;
    }
    return no_index;
  }
  void forget(node& n) {
    records.free(n.record);
    nodes.free(n);
  }
  void complain(const std::string& text) {
    if (complaint.empty()) complaint = text;
  }

  std::mt19937_64& draw_;
  std::vector<capacity> all_;
  std::vector<book> books_;
  std::vector<request> kinds_;
  std::vector<std::deque<node*>> waiting_;
  std::vector<running> running_, actors_;
  std::uint32_t turns_ = 0;
  node_table nodes;
  std::unique_ptr<scheduler> s;
};

}  // namespace

TEST_CASE("each task with conditions goes where a look at all ranks would send it, and none waits that could go") {
  std::mt19937_64 draw(seed("plain scan"));
  std::size_t decisions = 0, joined = 0;
  for (int round = 0; round < 60; ++round) {
    scanned_world w(draw, 1 + draw() % 30);
    for (int i = 0; i < 1500 && w.complaint.empty(); ++i) w.step();
    CHECK(w.complaint == "");
    decisions += w.decisions;
    joined += w.joined;
  }
  CHECK(decisions > 10'000);
  CHECK(joined > 20);
}

TEST_CASE("of thousands of ranks each gets a task that takes all of its resource, and the next when that has ended") {
  const auto us_a_task = [](std::size_t executing) {
    world w(ranks(executing, quantities({{"slot", 1}})));
    w.warm_up(0, ms);
    w.only_log = true;
    const auto wanted = ask({.resources = {{"slot", 1}}});
    for (std::size_t i = 0; i < 3 * executing; ++i) w.submit(0, ms, wanted);
    std::clock_t spent = 0;
    for (int round = 0; round < 3; ++round) {
      std::vector<int> tasks(executing + 1);
      const auto begin = std::clock();
      w.decide();
      for (const auto& [index, rank] : std::exchange(w.log, {})) {
        w.s.ended(rank, 0, w.jobs[index].charge, ms, w.jobs[index].wanted.get());
        ++tasks[rank];
      }
      spent += std::clock() - begin;
      CHECK(tasks[0] == 0);
      CHECK(std::all_of(tasks.begin() + 1, tasks.end(), [](int count) { return count == 1; }));
    }
    CHECK(w.decide() == 0);
    return static_cast<double>(spent) / CLOCKS_PER_SEC * 1e6 / (3.0 * static_cast<double>(executing));
  };
  (void)us_a_task(1000);
  const double few = us_a_task(1000), many = us_a_task(16'000);
  MESSAGE("a decision and an end with 1000 ranks: " << few << " us, with 16 000: " << many << " us");
}

// ---- reservations --------------------------------------------------------------------------------------------

TEST_CASE("bundles are taken all at once or not at all") {
  world w(with_devices(2, 0b1));
  w.only_log = true;
  w.submit(0, us, ask({.actor = true, .gpus = 1}));
  w.decide();
  const std::uint64_t id = w.reserve({{1, 10000, {}}, {1, 10000, {}}});
  w.decide();
  CHECK_FALSE(w.is_met(id));
  w.submit(0, us, ask({.actor = true, .gpus = 1}));  // the one that is free is free
  CHECK(w.decide() == 1);
  w.s.give_back(w.jobs[0].rank, *w.jobs[0].wanted);
  w.decide();
  CHECK_FALSE(w.is_met(id));
  w.s.give_back(w.jobs[1].rank, *w.jobs[1].wanted);
  w.decide();
  CHECK(w.is_met(id));
  CHECK(w.rank_of(id, 0) != w.rank_of(id, 1));
  w.submit(0, us, ask({.actor = true, .gpus = 0.1}));
  CHECK(w.decide() == 0);
  CHECK(w.release(id) == 0);
  CHECK(w.decide() == 1);
}

TEST_CASE("packed bundles share a node, spread ones do not, and both prefer different ranks") {
  std::vector<capacity> all = ranks(6);
  for (std::size_t r = 0; r < all.size(); ++r) all[r].node = r < 3 ? 0 : 1;  // 2 executing on node 0, 4 on node 1
  world w(all);
  const std::uint64_t packed = w.reserve({{2, 0, {}}, {2, 0, {}}, {2, 0, {}}});
  w.decide();
  REQUIRE(w.is_met(packed));
  std::set<std::uint32_t> used;
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(all[w.rank_of(packed, i)].node == all[w.rank_of(packed, 0)].node);
    used.insert(w.rank_of(packed, i));
  }
  CHECK(used.size() >= 2);
  w.release(packed);
  const std::uint64_t apart = w.reserve({{2, 0, {}}, {2, 0, {}}, {2, 0, {}}, {2, 0, {}}}, strategy::spread);
  w.decide();
  REQUIRE(w.is_met(apart));
  std::map<int, int> nodes;
  used.clear();
  for (std::size_t i = 0; i < 4; ++i) {
    ++nodes[all[w.rank_of(apart, i)].node];
    used.insert(w.rank_of(apart, i));
  }
  CHECK(nodes[0] == 2);
  CHECK(nodes[1] == 2);
  CHECK(used.size() == 4);
}

TEST_CASE("places are found although the first choice would leave none for the rest") {
  std::vector<capacity> all = ranks(2);
  all[1].gpus.whole = 0b1;
  all[1].cpus = 4;
  all[2].cpus = 1;
  all[1].resources = quantities({{"slot", 1}});
  world w(all);
  const std::uint64_t id = w.reserve({{1, 0, {}}, {1, 0, {}}, {3, 10000, {}}, {0, 0, {{"slot", 1}}}}, strategy::spread);
  w.decide();
  REQUIRE(w.is_met(id));
  CHECK(w.rank_of(id, 2) == 1);
  CHECK(w.rank_of(id, 3) == 1);
}

TEST_CASE("what can never be met is refused: a bundle too large, or all of them together") {
  const std::vector<capacity> all = with_devices(3, 0b1);
  bundles large(1);
  large[0].gpu_units = 20000;
  CHECK_THROWS_WITH_AS(require_possible(large, strategy::pack, array_of(all)), doctest::Contains("lacks gpus = 1"),
                       manta::unschedulable);
  bundles many(4);
  for (bundle& b : many) b.gpu_units = 10000;
  CHECK_THROWS_WITH_AS(require_possible(many, strategy::spread, array_of(all)),
                       doctest::Contains("not all of them at once"), manta::unschedulable);
  many[3].gpu_units = 0;
  CHECK_NOTHROW(require_possible(many, strategy::spread, array_of(all)));
}

TEST_CASE("tasks of a reservation run in its bundles and share what these hold") {
  world w(with_devices(3, 0b11));
  const std::uint64_t id = w.reserve({{1, 10000, {}}, {1, 20000, {}}}, strategy::spread);
  std::vector<std::size_t> first, any;
  for (int i = 0; i < 20; ++i) first.push_back(w.submit(0, ms, ask({.gpus = 0.5, .in = id, .bundle = 0})));
  for (int i = 0; i < 20; ++i) any.push_back(w.submit(0, ms, ask({.gpus = 1, .in = id})));
  for (int i = 0; i < 20; ++i) w.submit(0, ms, ask({.gpus = 1}));
  w.run();
  CHECK(w.complaint() == "");
  CHECK(w.each_once());
  for (const std::size_t i : first) CHECK(w.jobs[i].rank == w.rank_of(id, 0));
  for (const std::size_t i : any) CHECK((w.jobs[i].rank == w.rank_of(id, 0) || w.jobs[i].rank == w.rank_of(id, 1)));
  w.release(id);
  for (std::uint32_t r = 1; r <= 3; ++r) {
    CHECK(w.s.held().free_on(r).gpus.units() == 20000);
    CHECK(w.s.held().free_on(r).cpus == 4);
  }
}

TEST_CASE("released early, running tasks keep what they hold, queued ones are refused, later ones are not taken") {
  world w(with_devices(1, 0b1));
  w.only_log = true;
  const std::uint64_t id = w.reserve({{1, 10000, {}}});
  w.submit(0, ms, ask({.gpus = 1, .in = id}));
  w.submit(0, ms, ask({.gpus = 1, .in = id}));
  const std::size_t outside = w.submit(1, ms, ask({.gpus = 1}));
  w.decide();
  CHECK(w.jobs[0].dispatched == 1);
  CHECK(w.jobs[1].dispatched == 0);
  CHECK(w.release(id) == 1);
  CHECK(w.s.release(id, [](node&) {}) == nullptr);
  CHECK(w.s.waiting() == 1);
  CHECK(w.decide() == 0);  // the running one still has the device
  w.s.ended(1, 0, w.jobs[0].charge, 1000, w.jobs[0].wanted.get());
  CHECK(w.decide() == 1);
  CHECK(w.jobs[outside].dispatched == 1);
  node& late = w.nodes.make();
  late.form = form::record;
  late.record = records.make(0, 0);
  late.record->request = ask({.in = id});
  CHECK_FALSE(w.s.ready(late));
  records.free(late.record);
  late.form = form::none;
}

TEST_CASE("reservations are met first come, first served, and small tasks do not starve a large one") {
  world w(with_devices(4, 0b1));
  std::uint64_t large = 0, small = 0;
  int before = 0;
  // a stream of tasks that always leaves some device taken: each that ends is followed by the next
  w.warm_up(0, 100 * us);
  for (int i = 0; i < 2000; ++i) w.submit(0, (50 + 37 * (i % 7)) * us, ask({.gpus = 1}));
  w.decide();
  large = w.reserve({{1, 10000, {}}, {1, 10000, {}}, {1, 10000, {}}, {1, 10000, {}}});
  small = w.reserve({{1, 10000, {}}});
  w.run();
  CHECK(w.complaint() == "");
  // the stream stood still until the large one was met, and waits for it now
  CHECK(w.is_met(large));
  CHECK_FALSE(w.is_met(small));
  for (const world::job& j : w.jobs) before += j.dispatched;
  CHECK(before < 300);
  w.release(large);
  w.run();
  CHECK(w.is_met(small));
  w.release(small);
  w.run();
  CHECK(w.each_once());
}

TEST_CASE("a reservation that waits for an actor's device holds up no tasks") {
  world w(with_devices(2, 0b1));
  w.only_log = true;
  w.submit(1, us, ask({.actor = true, .gpus = 1}));
  w.decide();
  w.only_log = false;
  const std::uint64_t id = w.reserve({{1, 10000, {}}, {1, 10000, {}}});
  for (int i = 0; i < 300; ++i) w.submit(0, ms, ask({.gpus = 1}));
  w.run();
  CHECK_FALSE(w.is_met(id));
  CHECK(std::all_of(w.jobs.begin() + 1, w.jobs.end(), [](const world::job& j) { return j.ended == 1; }));
  CHECK_FALSE(w.s.stop_keeping_free());
}

TEST_CASE("a rank whose cpus are all reserved is left to its reservation while there are others") {
  world w(ranks(3));
  const std::uint64_t one = w.reserve({{4, 0, {}}});
  w.decide();
  for (int i = 0; i < 100; ++i) w.submit(0, ms);
  for (int i = 0; i < 10; ++i) w.submit(0, ms, ask({.cpus = 2}));
  const std::size_t inside = w.submit(0, ms, ask({.in = one}));
  w.run();
  CHECK(w.each_once());
  CHECK(shares(w).at(w.rank_of(one, 0)) == 1);
  CHECK(w.jobs[inside].rank == w.rank_of(one, 0));
  const std::uint64_t rest = w.reserve({{4, 0, {}}, {4, 0, {}}});
  w.decide();
  CHECK(w.is_met(rest));
  w.log.clear();
  for (int i = 0; i < 30; ++i) w.submit(0, ms);
  w.run();
  CHECK(shares(w).size() == 3);  // all are reserved: better there than nowhere
  w.release(one);
  w.log.clear();
  for (int i = 0; i < 30; ++i) w.submit(0, ms);
  w.run();
  CHECK(shares(w).size() == 1);
}

TEST_CASE("many distinct requests wait through any number of events while nothing is free") {
  world w(with_devices(200, 0b1));
  w.only_log = true;
  for (int i = 0; i < 200; ++i) w.submit(0, us, ask({.actor = true, .gpus = 1}));
  w.decide();
  for (int i = 0; i < 2000; ++i) w.submit(1, us, ask({.gpus = 0.0001 * (1 + i)}));
  const auto begin = std::clock();
  for (int i = 0; i < 1000; ++i) {
    w.s.blocked(1 + static_cast<std::uint32_t>(i) % 200, 0);
    CHECK(w.decide() == 0);
  }
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  MESSAGE("a decision with 2000 queues on 200 ranks takes " << seconds / 1000 * 1e6 << " us");
}

// ---- windows -------------------------------------------------------------------------------------------------

TEST_CASE("of a function that has not ended yet every rank gets one") {
  world w(ranks(5));
  w.only_log = true;
  for (int i = 0; i < 100; ++i) w.submit(0, us);
  CHECK(w.s.load().estimate(0) == rank_load::window_ns);
  CHECK(w.decide() == 5);
  CHECK(shares(w).size() == 5);
}

TEST_CASE("the estimate of a function follows what its tasks take") {
  world w(ranks(1));
  const auto end_one = [&](std::uint64_t ns) {
    w.only_log = true;
    w.submit(3, 0);
    w.decide();
    w.s.ended(1, 3, w.jobs.back().charge, ns);
  };
  end_one(800);
  CHECK(w.s.load().estimate(3) == 800);
  end_one(1600);
  CHECK(w.s.load().estimate(3) == 900);  // 800 + 800 / 8
  for (int i = 0; i < 100; ++i) end_one(5000);
  CHECK(w.s.load().estimate(3) >= 4990);
  CHECK(w.s.load().estimate(3) <= 5000);
  CHECK(w.s.load().estimate(2) == rank_load::window_ns);  // another function is still unknown
  CHECK(w.s.load().estimate(1000) == rank_load::window_ns);
  for (int i = 0; i < 200; ++i) end_one(0);
  CHECK(w.s.load().estimate(3) == rank_load::least_charge_ns);
  for (int i = 0; i < 300; ++i) end_one(std::uint64_t{1} << 62);
  CHECK(w.s.load().estimate(3) == 4'000'000'000);
  end_one(manta::graph::not_run);
  CHECK(w.s.load().estimate(3) == 4'000'000'000);
}

TEST_CASE("the shorter the tasks, the more of them are sent ahead of time") {
  for (const std::int64_t ns : {us, 10 * us, 25 * us, 50 * us}) {
    world w(ranks(3));
    w.warm_up(0, ns);
    w.only_log = true;
    for (int i = 0; i < 1000; ++i) w.submit(0, ns);
    w.decide();
    CAPTURE(ns);
    REQUIRE(shares(w).size() == 3);
    for (const auto& [rank, count] : shares(w)) CHECK(count == rank_load::window_ns / ns);
  }
}

TEST_CASE("a window has a largest number of tasks, however short they are") {
  world w(ranks(2));
  w.warm_up(0, 1);
  w.only_log = true;
  for (int i = 0; i < 20'000; ++i) w.submit(0, 1);
  w.decide();
  REQUIRE(shares(w).size() == 2);
  for (const auto& [rank, count] : shares(w)) CHECK(count == static_cast<int>(rank_load::window_tasks));
}

TEST_CASE("long tasks never queue behind each other, nor behind short ones") {
  world w(ranks(4));
  w.warm_up(0, 5 * ms);
  w.warm_up(1, 10 * us);
  std::mt19937_64 draw(seed("long and short"));
  for (int i = 0; i < 500; ++i) {
    const bool is_long = draw() % 10 == 0;
    w.submit(is_long ? 0 : 1, is_long ? 5 * ms : 10 * us);
  }
  bool ok = true;
  w.only_log = true;
  std::vector<std::deque<std::size_t>> sent(5);
  w.decide();
  for (const auto& [index, rank] : w.log) sent[rank].push_back(index);
  std::size_t ended = 0;
  while (ended < 500) {
    for (std::uint32_t rank = 1; rank <= 4; ++rank) {
      const auto longs =
          std::count_if(sent[rank].begin(), sent[rank].end(), [&](std::size_t i) { return w.jobs[i].function == 0; });
      ok = ok && (longs == 0 || sent[rank].size() == 1);
    }
    std::uint32_t rank = 1 + static_cast<std::uint32_t>(draw() % 4);
    while (sent[rank].empty()) rank = rank % 4 + 1;
    const std::size_t index = sent[rank].front();
    sent[rank].pop_front();
    w.s.ended(rank, w.jobs[index].function, w.jobs[index].charge, static_cast<std::uint64_t>(w.jobs[index].ns));
    ++ended;
    w.log.clear();
    w.decide();
    for (const auto& [i, r] : w.log) sent[r].push_back(i);
  }
  CHECK(ok);
}

TEST_CASE("ranks that have nothing to do come before ranks that have room") {
  world w(ranks(4));
  w.warm_up(0, 10 * us);
  w.warm_up(0, 10 * us);  // all have ended: all are idle
  w.only_log = true;
  for (int i = 0; i < 4; ++i) w.submit(0, 10 * us);
  CHECK(w.decide() == 4);
  CHECK(shares(w).size() == 4);
}

TEST_CASE("a burst of short tasks is spread evenly over idle ranks") {
  world w(ranks(8), us);
  w.warm_up(0, 10 * us);
  w.warm_up(0, 10 * us);
  const std::int64_t begin = w.now;
  for (int i = 0; i < 80; ++i) w.submit(0, 10 * us);  // ten for each
  w.run();
  CHECK(w.each_once());
  CHECK(w.now - begin <= 2 * us + 100 * us + 10 * us);
}

TEST_CASE("a rank whose tasks wait inside gets more work") {
  world w(ranks(1));
  w.only_log = true;
  for (int i = 0; i < 10; ++i) w.submit(0, ms);
  CHECK(w.decide() == 1);
  CHECK(w.decide() == 0);
  w.s.blocked(1, 1);
  CHECK(w.s.load().idle(1));
  CHECK(w.decide() == 1);
  CHECK(w.decide() == 0);
  w.s.blocked(1, 2);
  CHECK(w.decide() == 1);
  w.s.blocked(1, 1);  // one of them goes on: nothing more until something ends
  CHECK(w.decide() == 0);
}

TEST_CASE(
    "a rank that runs what its waiting tasks have submitted is not idle: others get work first, then it does too") {
  world w(ranks(2));
  w.only_log = true;
  for (int i = 0; i < 10; ++i) w.submit(0, ms);
  CHECK(w.decide() == 2);
  w.s.blocked(1, 1, true);
  CHECK_FALSE(w.s.load().idle(1));
  w.s.blocked(2, 1);
  CHECK(w.s.load().idle(2));
  CHECK(w.decide() == 2);
  CHECK(w.s.load().sent(1) == 2);
  CHECK(w.s.load().sent(2) == 2);
  w.s.blocked(1, 2, false);
  CHECK(w.s.load().idle(1));
}

TEST_CASE(
    "nothing is sent to a rank that is in a long call of an actor, with conditions or without, until it has ended") {
  world w(ranks(2, {{"oven", 1.0}}));
  w.warm_up(0, 10 * us);
  w.only_log = true;
  w.s.blocked(1, 0, false, true);
  CHECK_FALSE(w.s.load().idle(1));
  for (int i = 0; i < 4; ++i) {
    w.submit(0, 10 * us);
    w.submit(0, 10 * us, ask({.spread = true}));
    w.submit(0, 10 * us, ask({.cpus = 2}));
  }
  w.submit(0, 10 * us, ask({.rank = 1}));
  w.decide();
  CHECK(w.s.load().sent(1) == 0);
  CHECK(w.s.load().sent(2) > 1);
  w.s.blocked(1, 0);
  CHECK(w.s.load().idle(1));
  w.decide();
  CHECK(w.s.load().sent(1) >= 1);
  CHECK(w.s.waiting() == 0);
}

TEST_CASE("parents that wait for children on the same rank do not stop the world") {
  world w(ranks(2));
  for (int i = 0; i < 20; ++i) {
    world::job parent;
    parent.function = 0;
    parent.ns = 10 * ms;
    parent.wait_at = ms;
    parent.wait_ns = 50 * ms;
    w.submit(parent);
  }
  w.run();
  CHECK(w.complaint() == "");
  CHECK(w.each_once());
  CHECK(w.now < 20 * 10 * ms / 2 + 3 * 50 * ms);  // they waited side by side
}

TEST_CASE("what comes back unstarted makes room again and may go elsewhere") {
  world w(ranks(1));
  w.only_log = true;
  w.submit(0, ms);
  w.submit(0, ms);
  CHECK(w.decide() == 1);
  w.s.returned(1, w.jobs[0].charge);
  CHECK(w.s.load().sent(1) == 0);
  CHECK(w.decide() == 1);
}

TEST_CASE("room can be taken without a node, but not past tasks that wait already") {
  world w(ranks(2));
  std::uint32_t charge = 0;
  std::set<std::uint32_t> taken;
  taken.insert(w.s.take_room(0, charge));
  CHECK(charge == rank_load::window_ns);
  taken.insert(w.s.take_room(0, charge));
  CHECK(taken == std::set<std::uint32_t>{1, 2});
  CHECK(w.s.take_room(0, charge) == no_index);
  CHECK(w.s.load().sent(1) == 1);
  w.only_log = true;
  w.submit(0, ms);
  w.s.ended(1, 0, charge, 1000);
  CHECK(w.s.take_room(0, charge) == no_index);
  CHECK(w.decide() == 1);
  CHECK(w.s.take_room(0, charge) == 1);  // 1 us each by now
  CHECK(charge == 1000);
}

TEST_CASE("what is dropped is given up once, whatever it asked for") {
  world w(ranks(1, quantities({{"gpu", 1}})));
  w.only_log = true;
  for (int i = 0; i < 10; ++i)
    w.submit(0, ms, i % 3 == 0 ? nullptr : ask({.resources = {{"gpu", 1}}, .rank = i % 3 == 1 ? -1 : 1}));
  const std::size_t sent = w.decide();
  std::set<node*> dropped;
  w.s.drop_all([&](node& n) { CHECK(dropped.insert(&n).second); });
  CHECK(dropped.size() == 10 - sent);
  CHECK(w.s.waiting() == 0);
  CHECK(w.decide() == 0);
}

// ---- the end of the allocation -------------------------------------------------------------------------------

TEST_CASE("a task that would take longer than what is left is taken out, whatever it asks for; others go past it") {
  world w(ranks(4));
  constexpr std::int64_t second = 1000 * ms;
  w.warm_up(0, 20 * second);  // more than 32 bits of nanoseconds
  w.warm_up(1, 2 * second);
  w.only_log = true;
  const auto takes = [](std::int64_t ns, conditions c) {
    request r = c.build();
    r.duration = ns;
    return request_ptr(new request(r));
  };
  std::set<std::size_t> late;
  const auto decide = [&] {
    const std::size_t sent = w.decide();
    while (node* const n = w.s.take_late()) {
      late.insert(w.job_at(*n));
      w.give_up(*n);
    }
    return sent;
  };
  w.s.set_time_left(25e9);
  w.submit(0, 0, ask({.rank = 1}));
  CHECK(decide() == 1);
  w.s.set_time_left(10e9);
  const std::size_t mean = w.submit(0, 0);
  const std::size_t said = w.submit(1, 0, takes(11 * second, {}));
  const std::size_t there = w.submit(0, 0, ask({.rank = 2}));
  const std::size_t urgent = w.submit(0, 0, ask({.priority = 2}));
  const std::size_t fits = w.submit(1, 0);
  const std::size_t said_to_fit = w.submit(0, 0, takes(9 * second, {.rank = 3}));
  const std::size_t unknown = w.submit(5, 0, ask({.rank = 4}));
  const std::size_t actor = w.submit(0, 0, ask({.rank = 1, .actor = true}));
  CHECK(w.s.waiting() == 8);
  CHECK(decide() == 4);
  CHECK(late == std::set<std::size_t>{mean, said, there, urgent});
  for (const std::size_t i : {fits, said_to_fit, unknown, actor}) CHECK(w.jobs[i].dispatched == 1);
  CHECK(w.s.waiting() == 0);
  CHECK(w.complaint() == "");
}

TEST_CASE("what would take longer than what is left gets no room at once either") {
  world w(ranks(2));
  w.warm_up(0, 20'000 * ms);
  std::uint32_t charge = 0;
  w.s.set_time_left(10e9);
  CHECK(w.s.take_room(0, charge) == no_index);
  CHECK_FALSE(w.s.take_room_on(1, 0, charge));
  const std::uint32_t rank = w.s.take_room(7, charge);
  REQUIRE(rank != no_index);
  CHECK_FALSE(w.s.has_room_on(rank, 0));
  w.s.set_time_left(30e9);
  CHECK(w.s.take_room(0, charge) != no_index);
}

// ---- locality ------------------------------------------------------------------------------------------------

TEST_CASE("a task goes to where most bytes of its large inputs lie") {
  world w(ranks(8));
  w.only_log = true;
  const std::uint64_t large = 2 * rank_choice::large_bytes;
  world::job j;
  j.ns = ms;
  j.inputs = {{5, large}};
  const std::size_t one = w.submit(j);
  j.inputs = {{2, 2 * large}, {3, large}, {3, large}, {3, large}};
  const std::size_t sum = w.submit(j);
  j.inputs = {{7, rank_choice::large_bytes}, {4, rank_choice::large_bytes - 1}, {4, rank_choice::large_bytes - 2}};
  const std::size_t small = w.submit(j);
  w.decide();
  CHECK(w.jobs[one].rank == 5);
  CHECK(w.jobs[sum].rank == 3);
  CHECK(w.jobs[small].rank == 7);  // small inputs do not pull
}

TEST_CASE("a task does not wait for the rank of its inputs when that is busy") {
  world w(ranks(3));
  w.only_log = true;
  world::job j;
  j.ns = 10 * ms;
  j.inputs = {{2, 100 * rank_choice::large_bytes}};
  for (int i = 0; i < 3; ++i) w.submit(j);
  CHECK(w.decide() == 3);
  CHECK(shares(w).size() == 3);
  CHECK(w.jobs[0].rank == 2);
}

TEST_CASE("inputs on a rank that runs no tasks pull nothing there") {
  world w(ranks(3));
  w.only_log = true;
  world::job j;
  j.inputs = {{0, 100 * rank_choice::large_bytes}};
  w.submit(j);
  CHECK(w.decide() == 1);
  CHECK(w.complaint() == "");
}

TEST_CASE("a condition is stronger than locality") {
  world w(ranks(3));
  w.only_log = true;
  world::job j;
  j.inputs = {{2, 100 * rank_choice::large_bytes}};
  j.wanted = ask({.rank = 3});
  const std::size_t pinned = w.submit(j);
  w.decide();
  CHECK(w.jobs[pinned].rank == 3);
}

TEST_CASE("in a loop over blocks most tasks run where their block lies") {
  world w(ranks(10));
  for (int i = 0; i < 1000; ++i) {
    world::job j;
    j.ns = 500 * us;
    j.inputs = {{1 + static_cast<std::uint32_t>(i % 10), 1 << 20}};
    w.submit(std::move(j));
  }
  w.run();
  int local = 0;
  for (const world::job& j : w.jobs) local += j.rank == j.inputs[0].first ? 1 : 0;
  CHECK(local >= 800);
  CHECK(w.busy_ns >= 9 * w.now);  // and the ranks were busy nine tenths of the time
}

// ---- large worlds ----------------------------------------------------------------------------------------------

TEST_CASE("ten thousand ranks and two hundred thousand tasks finish near the ideal") {
  std::mt19937_64 draw(seed("ten thousand ranks"));
  struct mixture {
    const char* name;
    std::int64_t least, spread, longest;
    double utilisation;
  };
  for (const mixture& m :
       {mixture{"a millisecond", ms / 2, ms, 3 * ms / 2, 0.85}, mixture{"20 us", 10 * us, 20 * us, 30 * us, 0.6}}) {
    world w(ranks(10'000), us);
    for (int i = 0; i < 200'000; ++i) {
      w.submit(0, m.least + static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(m.spread)));
    }
    w.run();
    CHECK(w.complaint() == "");
    CHECK(w.each_once());
    const double ideal = static_cast<double>(w.busy_ns) / 10'000;
    const double utilisation = ideal / static_cast<double>(w.now);
    MESSAGE(std::string(m.name) << ": utilisation " << utilisation);
    CHECK(utilisation >= m.utilisation);
  }
}

TEST_CASE("one long task in a hundred short ones does not idle the other ranks") {
  std::mt19937_64 draw(seed("mixed lengths"));
  world w(ranks(100), us);
  for (int i = 0; i < 50'000; ++i) {
    const bool is_long = draw() % 100 == 0;
    w.submit(is_long ? 1 : 0, is_long ? 2 * ms : 20 * us);
  }
  w.run();
  CHECK(w.each_once());
  const double utilisation = static_cast<double>(w.busy_ns) / 100 / static_cast<double>(w.now);
  MESSAGE("utilisation " << utilisation);
  CHECK(utilisation >= 0.8);
}

// ---- what can never run ----------------------------------------------------------------------------------------

TEST_CASE("a request that no rank can meet is refused with what was asked for and what there is") {
  const std::vector<capacity> all = mixed_ranks();
  const auto text_of = [&](const conditions& c) {
    try {
      manta::graph::require_possible(c.build(), array_of(all), "task 'train'");
    } catch (const manta::unschedulable& e) {
      return std::string(e.what());
    }
    return std::string("it was accepted");
  };
  const std::string text = text_of({.cpus = 2, .resources = {{"gpu", 2.5}}, .rank = 5, .node = 1});
  for (const std::string part :
       {"manta: ", "task 'train'", "cpus = 2", "gpu = 2.5", "rank = 5", "node = 1", "the world of size 6",
        "ask for less gpu", "rank 0: no tasks", "nearest is rank 5, which lacks gpu = 0.5;",
        "[rank 5: cpus = 4, node = 1, gpus = 0.5, gpu = 2, slot = 0.5]"}) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, part << " is missing in: " << text);
  }
  CHECK(text_of({.rank = 0}) == "it was accepted");  // it only schedules until then
  CHECK(text_of({.rank = 6}) != "it was accepted");
  CHECK(text_of({.node = 2}) != "it was accepted");
  CHECK(text_of({.cpus = 5}) != "it was accepted");
  CHECK(text_of({.cpus = 4, .rank = 1}) != "it was accepted");
  CHECK(text_of({.resources = {{"unicorn", 0.1}}}).find("unicorn = 0.1") != std::string::npos);
  CHECK(text_of({.resources = {{"gpu", 2}, {"slot", 1}}}) != "it was accepted");  // not on one rank
  CHECK(text_of({.resources = {{"unicorn", 0}}}) == "it was accepted");
  CHECK(text_of({.resources = {{"gpu", 2}}}) == "it was accepted");
  CHECK(text_of({.rank = 5, .node = 1}) == "it was accepted");
}

TEST_CASE("equal ranks are named together") {
  try {
    manta::graph::require_possible(conditions{.cpus = 100}.build(), array_of(ranks(1000)), "this task");
    FAIL("it was accepted");
  } catch (const manta::unschedulable& e) {
    const std::string text = e.what();
    CHECK(text.find("rank 1 and 999 more: cpus = 4") != std::string::npos);
    CHECK(text.size() < 500);
  }
}

TEST_CASE("amounts that are no amounts are refused, and tenths add up") {
  CHECK_THROWS_AS(manta::graph::require_valid(quantities({{"gpu", -1}})), manta::error);
  CHECK_THROWS_AS(manta::graph::require_valid(quantities({{"gpu", std::nan("")}})), manta::error);
  CHECK_THROWS_AS(manta::graph::require_valid(quantities({{"gpu", HUGE_VAL}})), manta::error);
  CHECK_THROWS_WITH(manta::graph::require_valid(quantities({{"gpu", -1}})), doctest::Contains("\"gpu\""));
  CHECK(10 * quantities({{"x", 0.1}})["x"] == quantities({{"x", 1}})["x"]);
  CHECK(manta::graph::describe(quantities({{"a", 2}, {"b", 0.25}, {"c", 10}})) == "a = 2, b = 0.25, c = 10");
}

namespace {

/// A world whose first job is an actor on so many ranks, which lives.
struct world_with_parts : world {
  explicit world_with_parts(int parts) : world(ranks(3)) {
    only_log = true;
    request actor;
    actor.ranks = parts;
    actor.actor = true;
    submit(0, us, request_ptr(new request(actor)));
    decide();
    for (const std::uint32_t rank : s.gang().members()) {
      members.push_back(rank);
      s.ended(rank, 0, jobs[0].charge, us, jobs[0].wanted.get());
    }
  }
  /// Where a task goes that a call on the rank `home` has made.
  std::uint32_t rank_of_made(std::uint32_t home, request wanted = {}) {
    wanted.for_member = true;
    job j;
    j.ns = us;
    j.wanted = request_ptr(new request(wanted));
    j.home = home;
    const std::size_t made = submit(std::move(j));
    decide();
    return jobs[made].rank;
  }
  std::vector<std::uint32_t> members;
};

}  // namespace

TEST_CASE("what a part of an actor on all ranks has made runs beside that part") {
  world_with_parts w(3);
  REQUIRE(w.members.size() == 3);
  for (const std::uint32_t home : w.members) CHECK(w.rank_of_made(home) == home);
  world_with_parts again(3);
  for (const std::uint32_t home : again.members) CHECK(again.rank_of_made(home, conditions{.cpus = 2}.build()) == home);
  CHECK(again.complaint() == "");
}

TEST_CASE("what a part has made runs on a rank without a part, if there is one") {
  world_with_parts w(2);
  REQUIRE(w.members.size() == 2);
  const std::uint32_t other = 6 - w.members[0] - w.members[1];
  CHECK(w.rank_of_made(w.members[0]) == other);
  CHECK(w.rank_of_made(w.members[1], conditions{.cpus = 2}.build()) == other);
  w.s.blocked(other, 2);
  for (int i = 0; i < 4; ++i) {  // and what that has made in turn, which waits there while a part has the room
    const std::uint32_t made = w.rank_of_made(other, conditions{.cpus = 2}.build());
    CHECK((made == other || made == no_index));
  }
  CHECK(w.complaint() == "");
}

TEST_CASE("a task of a part is behind another part as long as the only rank for it is in that one's call") {
  world_with_parts w(3);
  const std::uint32_t home = w.members[0], busy = w.members[1];
  CHECK(w.s.task_behind_member() == nullptr);
  w.s.blocked(busy, 0, false, true);
  CHECK(w.rank_of_made(home, conditions{.rank = static_cast<int>(busy)}.build()) == no_index);
  CHECK(w.s.task_behind_member() != nullptr);
  w.s.blocked(busy, 0, false, false);
  CHECK(w.decide() == 1);
  CHECK(w.s.task_behind_member() == nullptr);
}
