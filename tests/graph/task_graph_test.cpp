// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Nodes, lists of nodes and dependences, without an engine around them. The
// oracle of a random graph is its evaluation in the order of submission.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <list>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "manta/base/hash.hpp"
#include "manta/graph/task_graph.hpp"

using manta::graph::form;
using manta::graph::link_kind;
using manta::graph::no_index;
using manta::graph::node;
using manta::graph::node_list;
using manta::graph::node_table;
using manta::graph::state;
using manta::graph::task;
using manta::graph::task_graph;
using manta::graph::task_list;

namespace {

manta::graph::task_pool records;

std::uint64_t seed(const char* test) {
  const char* const given = std::getenv("MANTA_TEST_SEED");
  const std::uint64_t value = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  MESSAGE(std::string(test) << ": MANTA_TEST_SEED=" << value);
  return value;
}

/// The engine's part of the work, in a few lines: values are 64-bit numbers, tasks hash their inputs.
class evaluator {
 public:
  ~evaluator() {
    for (node* n : nodes_) {
      if (n->form == form::record) records.free(n->record);
      graph.nodes.free(*n);
    }
    CHECK(graph.nodes.live() == 0);
    CHECK(graph.links.live() == 0);
    CHECK(graph.more_dependents.live() == 0);
  }

  node& task_of(const std::vector<node*>& inputs, std::uint64_t salt = 0) {
    node& n = graph.nodes.make();
    nodes_.push_back(&n);
    n.form = form::record;
    n.record = records.make(static_cast<std::uint32_t>(inputs.size()), 8);
    std::copy(inputs.begin(), inputs.end(), n.record->inputs());
    std::memcpy(n.record->arguments(), &salt, 8);
    if (graph.depend(n)) ready.push_back(&n);
    return n;
  }

  /// Runs a task that may start and tells those that wait for it.
  void run(node& n) {
    REQUIRE(n.state == state::pending);
    std::uint64_t value = 0;
    std::memcpy(&value, n.record->arguments(), 8);
    for (std::uint32_t i = 0; i < n.record->input_count; ++i) {
      const node& input = *n.record->inputs()[i];
      REQUIRE(input.state == state::ready);
      value = manta::base::mix(value, value_of(input));
    }
    records.free(n.record);
    n.form = form::plain;
    std::memcpy(n.bytes, &value, 8);
    order.push_back(&n);
    end(n);
  }
  void end(node& n) {
    n.state = state::ready;
    graph.finish(n, [&](const auto& l) {
      CHECK(l.kind == link_kind::input);
      node& dependent = graph.nodes.at(l.index);
      if (--dependent.missing == 0) ready.push_back(&dependent);
    });
  }
  void run_all() {
    while (!ready.empty()) {
      node* n = ready.front();
      ready.erase(ready.begin());
      run(*n);
    }
  }
  static std::uint64_t value_of(const node& n) {
    std::uint64_t value = 0;
    std::memcpy(&value, n.bytes, 8);
    return value;
  }

  task_graph graph;
  std::vector<node*> ready, order;

 private:
  std::vector<node*> nodes_;
};

std::vector<std::uint32_t> indices(node_list& list, node_table& nodes) {
  std::vector<std::uint32_t> result;
  if (!list.empty()) {
    for (std::uint32_t i = list.front().index; i != no_index; i = nodes.at(i).next) result.push_back(i);
  }
  return result;
}

}  // namespace

// ---- nodes ---------------------------------------------------------------------------------------------

TEST_CASE("a node stays where it is and is found by its index") {
  node_table nodes;
  std::vector<node*> made;
  for (std::uint32_t i = 0; i < 20'000; ++i) {  // several pages
    made.push_back(&nodes.make());
    made.back()->function = i;
  }
  bool ok = true;
  std::set<std::uint32_t> distinct;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    ok = ok && &nodes.at(made[i]->index) == made[i] && made[i]->function == i && nodes.owns(*made[i]);
    distinct.insert(made[i]->index);
  }
  CHECK(ok);
  CHECK(distinct.size() == 20'000);
  CHECK(nodes.live() == 20'000);
  node stranger;
  CHECK_FALSE(nodes.owns(stranger));
  node_table others;
  CHECK_FALSE(others.owns(*made[0]));
}

TEST_CASE("a freed node is the next one made, and nothing of its former life is left") {
  node_table nodes;
  nodes.make();
  node& n = nodes.make();
  const std::uint32_t index = n.index;
  n.state = state::failed;
  n.form = form::plain;
  n.set(node::observed);
  n.set(node::timed);
  n.missing = 3;
  nodes.free(n);
  CHECK(nodes.live() == 1);
  node& again = nodes.make();
  CHECK(&again == &n);
  CHECK(again.index == index);
  CHECK(again.state == state::pending);
  CHECK(again.form == form::none);
  CHECK(again.flags == 0);
  CHECK(again.missing == 0);
  CHECK(again.next == no_index);
  CHECK(again.links == nullptr);
}

TEST_CASE("making and freeing again and again takes no more memory than the most that lived at once") {
  node_table nodes;
  std::vector<node*> live;
  for (int i = 0; i < 4096; ++i) live.push_back(&nodes.make());
  const std::size_t bytes = nodes.bytes();
  for (int round = 0; round < 10; ++round) {
    for (node* n : live) nodes.free(*n);
    for (node*& n : live) n = &nodes.make();
  }
  CHECK(nodes.bytes() == bytes);
  CHECK(nodes.live() == 4096);
}

TEST_CASE("for_each visits what lives and nothing else") {
  node_table nodes;
  std::set<std::uint32_t> expected;
  for (int i = 0; i < 100; ++i) expected.insert(nodes.make().index);
  for (std::uint32_t i = 0; i < 100; i += 3) {
    expected.erase(i);
    nodes.free(nodes.at(i));
  }
  std::set<std::uint32_t> visited;
  nodes.for_each([&](node& n) { CHECK(visited.insert(n.index).second); });
  CHECK(visited == expected);
}

TEST_CASE("flags are set and reset one by one") {
  node n;
  n.set(node::queued);
  n.set(node::timed);
  CHECK(n.has(node::queued));
  CHECK(n.has(node::timed));
  CHECK_FALSE(n.has(node::actor));
  n.reset(node::queued);
  CHECK_FALSE(n.has(node::queued));
  CHECK(n.has(node::timed));
}

// ---- lists -----------------------------------------------------------------------------------------------

TEST_CASE("a list gives up its first, its last, and any in between") {
  node_table nodes;
  node_list list(nodes);
  CHECK(list.empty());
  for (int i = 0; i < 5; ++i) list.push_back(nodes.make());
  CHECK(indices(list, nodes) == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
  list.remove(nodes.at(2));
  CHECK(indices(list, nodes) == std::vector<std::uint32_t>{0, 1, 3, 4});
  list.remove(nodes.at(0));
  list.remove(nodes.at(4));
  CHECK(indices(list, nodes) == std::vector<std::uint32_t>{1, 3});
  list.push_back(nodes.at(2));  // a removed one may come again
  CHECK(list.size() == 3);
  CHECK(&list.pop_back() == &nodes.at(2));
  CHECK(&list.pop_front() == &nodes.at(1));
  CHECK(&list.front() == &list.back());
  list.remove(nodes.at(3));
  CHECK(list.empty());
  CHECK(list.size() == 0);
}

TEST_CASE("random pushes and removals agree with std::list") {
  std::mt19937_64 draw(seed("node_list"));
  node_table nodes;
  node_list list(nodes);
  std::list<std::uint32_t> oracle;
  std::vector<node*> outside;
  for (int i = 0; i < 200; ++i) outside.push_back(&nodes.make());
  bool ok = true;
  for (int step = 0; step < 20'000 && ok; ++step) {
    const std::uint64_t what = draw() % 5;
    if (what < 2 && !outside.empty()) {
      std::swap(outside[draw() % outside.size()], outside.back());
      list.push_back(*outside.back());
      oracle.push_back(outside.back()->index);
      outside.pop_back();
    } else if (!oracle.empty()) {
      auto at = what == 2   ? oracle.begin()
                : what == 3 ? std::prev(oracle.end())
                            : std::next(oracle.begin(), static_cast<long>(draw() % oracle.size()));
      node& n = nodes.at(*at);
      if (what == 2) {
        ok = &list.pop_front() == &n;
      } else if (what == 3) {
        ok = &list.pop_back() == &n;
      } else {
        list.remove(n);
      }
      outside.push_back(&n);
      oracle.erase(at);
    }
    ok = ok && list.size() == oracle.size() && list.empty() == oracle.empty();
    if (step % 100 == 0) ok = ok && indices(list, nodes) == std::vector<std::uint32_t>(oracle.begin(), oracle.end());
  }
  CHECK(ok);
}

// ---- dependences ---------------------------------------------------------------------------------------------

TEST_CASE("a task without inputs, or whose inputs have all ended, may start at once") {
  evaluator e;
  node& a = e.task_of({});
  CHECK(e.ready == std::vector<node*>{&a});
  e.run_all();
  node& b = e.task_of({&a, &a});
  CHECK(e.ready == std::vector<node*>{&b});
  CHECK(b.missing == 0);
  e.run_all();
}

TEST_CASE("a task that waits starts after the last of its inputs, once") {
  evaluator e;
  node& a = e.task_of({});
  node& b = e.task_of({});
  node& sum = e.task_of({&a, &b});
  CHECK(sum.missing == 2);
  e.run(b);
  CHECK(sum.missing == 1);
  CHECK(std::count(e.ready.begin(), e.ready.end(), &sum) == 0);
  e.run(a);
  CHECK(std::count(e.ready.begin(), e.ready.end(), &sum) == 1);
  e.run(sum);
}

TEST_CASE("an input that is given twice counts twice and is told twice") {
  evaluator e;
  node& a = e.task_of({});
  node& b = e.task_of({&a, &a, &a});
  CHECK(b.missing == 3);
  e.ready.clear();
  e.run(a);
  CHECK(b.missing == 0);
  CHECK(e.ready == std::vector<node*>{&b});
  e.run(b);
}

TEST_CASE("those who wait for one node are told in the order in which they came") {
  evaluator e;
  node& source = e.task_of({});
  std::vector<node*> waiting;
  for (int i = 0; i < 10; ++i) waiting.push_back(&e.task_of({&source}));
  e.ready.clear();
  e.run(source);
  CHECK(e.ready == waiting);
  e.run_all();
}

TEST_CASE("a diamond runs top, sides, bottom") {
  evaluator e;
  node& top = e.task_of({}, 1);
  node& left = e.task_of({&top}, 2);
  node& right = e.task_of({&top}, 3);
  node& bottom = e.task_of({&left, &right}, 4);
  e.run_all();
  CHECK(e.order == std::vector<node*>{&top, &left, &right, &bottom});
  using manta::base::mix;
  CHECK(evaluator::value_of(bottom) == mix(mix(4, mix(2, 1)), mix(3, 1)));
}

TEST_CASE("a chain of diamonds a thousand deep ends at the bottom") {
  evaluator e;
  node* top = &e.task_of({}, 1);
  std::uint64_t expected = 1;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    node& left = e.task_of({top}, i);
    node& right = e.task_of({top}, i + 1);
    top = &e.task_of({&left, &right}, i + 2);
    using manta::base::mix;
    expected = mix(mix(i + 2, mix(i, expected)), mix(i + 1, expected));
  }
  e.run_all();
  CHECK(evaluator::value_of(*top) == expected);
}

TEST_CASE("what is told may submit and finish others while the links are being told") {
  task_graph g;
  node& first = g.nodes.make();
  node& other = g.nodes.make();
  for (std::uint32_t i = 0; i < 3; ++i) g.add_link(first, link_kind::input).index = i;
  g.add_link(other, link_kind::input).index = 100;
  std::vector<std::uint32_t> told;
  g.finish(first, [&](const auto& l) {
    told.push_back(l.index);
    if (l.index == 0) g.finish(other, [&](const auto& inner) { told.push_back(inner.index); });
    if (l.index == 1) g.add_link(other, link_kind::input).index = 200;  // takes the record just freed
  });
  CHECK(told == std::vector<std::uint32_t>{0, 100, 1, 2});
  CHECK(first.links == nullptr);
  g.finish(other, [&](const auto& l) { CHECK(l.index == 200); });
  CHECK(g.links.live() == 0);
}

std::vector<std::uint32_t> told_of(task_graph& g, node& n) {
  std::vector<std::uint32_t> told;
  g.finish(n, [&](const auto& l) {
    CHECK(l.kind == link_kind::input);
    told.push_back(l.index);
  });
  CHECK(n.links == nullptr);
  CHECK(g.links.live() == 0);
  CHECK(g.more_dependents.live() == 0);
  return told;
}

TEST_CASE("any number of tasks that wait for a node are told in the order in which they came") {
  constexpr std::uint32_t record = manta::graph::dependents::most;
  for (const std::uint32_t count : {1u, 2u, record, record + 1, record + 2, 2 * record + 1, 500u}) {
    CAPTURE(count);
    task_graph g;
    node& n = g.nodes.make();
    std::vector<std::uint32_t> wanted;
    for (std::uint32_t i = 0; i < count; ++i) {
      g.add_dependent(n, i);
      wanted.push_back(i);
    }
    CHECK(told_of(g, n) == wanted);
  }
}

TEST_CASE("a task that waits for a node no more is not told, each of the others is told once") {
  constexpr std::uint32_t record = manta::graph::dependents::most;
  for (const std::uint32_t count : {1u, 2u, 3u, record + 1, record + 2, 3 * record}) {
    for (std::uint32_t gone = 0; gone < count; ++gone) {
      CAPTURE(count);
      CAPTURE(gone);
      task_graph g;
      node& n = g.nodes.make();
      std::multiset<std::uint32_t> wanted;
      for (std::uint32_t i = 0; i < count; ++i) {
        g.add_dependent(n, i);
        if (i != gone) wanted.insert(i);
      }
      g.remove_dependent(n, gone);
      g.remove_dependent(n, gone);  // it is gone: nothing happens
      g.add_dependent(n, count);
      wanted.insert(count);
      const auto told = told_of(g, n);
      CHECK(std::multiset<std::uint32_t>(told.begin(), told.end()) == wanted);
    }
  }
}

TEST_CASE("all tasks may stop waiting, in any order, and links of other kinds stay") {
  task_graph g;
  node& n = g.nodes.make();
  std::vector<std::uint32_t> left;
  for (std::uint32_t i = 0; i < 100; ++i) {
    if (i == 50) g.add_link(n, link_kind::subscriber).index = 1000;
    g.add_dependent(n, i);
    left.push_back(i);
  }
  std::mt19937 random(7);
  std::shuffle(left.begin(), left.end(), random);
  for (const std::uint32_t i : left) g.remove_dependent(n, i);
  CHECK(g.more_dependents.live() == 0);
  REQUIRE(n.links != nullptr);
  CHECK(n.links->kind == link_kind::subscriber);
  CHECK(n.links->next == nullptr);
  g.add_dependent(n, 1);
  g.add_dependent(n, 2);
  g.drop_links(n);
  CHECK(n.links == nullptr);
  CHECK(g.links.live() == 0);
  CHECK(g.more_dependents.live() == 0);
}

TEST_CASE("links that say what other ranks hold stay first and stay when a node ends") {
  for (const link_kind kept : {link_kind::home, link_kind::exported}) {
    task_graph g;
    node& n = g.nodes.make();
    g.add_link(n, kept).count = 5;
    for (std::uint32_t i = 0; i < 3; ++i) g.add_link(n, i == 1 ? link_kind::subscriber : link_kind::waiter).index = i;
    CHECK(n.links->kind == kept);
    std::vector<std::uint32_t> told;
    g.finish(n, [&](const auto& l) { told.push_back(l.index); });
    CHECK(told == std::vector<std::uint32_t>{0, 1, 2});
    REQUIRE(n.links != nullptr);
    CHECK(n.links->kind == kept);
    CHECK(n.links->count == 5);
    CHECK(n.links->next == nullptr);
    g.finish(n, [&](const auto&) { told.push_back(99); });
    CHECK(told.size() == 3);
    CHECK(g.links.live() == 1);
  }
}

TEST_CASE("a waiter that gives up is told nothing, the others are") {
  task_graph g;
  node& n = g.nodes.make();
  int waiters[3] = {};
  for (int& w : waiters) g.add_link(n, link_kind::waiter).pointer = &w;
  g.add_link(n, link_kind::staged).pointer = &waiters[1];
  g.remove_link(n, link_kind::waiter, &waiters[1]);
  g.remove_link(n, link_kind::waiter, &waiters[1]);  // it is gone: nothing happens
  std::vector<void*> told;
  g.finish(n, [&](const auto& l) { told.push_back(l.pointer); });
  CHECK(told == std::vector<void*>{&waiters[0], &waiters[2], &waiters[1]});
  g.remove_link(n, link_kind::waiter, &waiters[0]);
  CHECK(g.links.live() == 0);
}

TEST_CASE("random graphs give what their evaluation in order of submission gives") {
  std::mt19937_64 draw(seed("random graphs"));
  for (int round = 0; round < 30; ++round) {
    evaluator e;
    const std::size_t tasks = 1 + draw() % 400;
    const std::size_t reach = 1 + draw() % 50;
    std::vector<node*> made;
    std::vector<std::uint64_t> oracle;
    while (made.size() < tasks || !e.ready.empty()) {
      if (made.size() < tasks && (e.ready.empty() || draw() % 3 != 0)) {
        std::vector<node*> inputs;
        std::uint64_t expected = made.size();
        for (std::size_t i = made.empty() ? 0 : draw() % 6; i > 0; --i) {  // recent ones, now and then twice
          const std::size_t at = made.size() - 1 - draw() % std::min(reach, made.size());
          inputs.push_back(made[at]);
          expected = manta::base::mix(expected, oracle[at]);
        }
        oracle.push_back(expected);
        made.push_back(&e.task_of(inputs, made.size()));
      } else {
        std::swap(e.ready[draw() % e.ready.size()], e.ready.back());
        node* n = e.ready.back();
        e.ready.pop_back();
        e.run(*n);
      }
    }
    CHECK(e.order.size() == tasks);
    bool same = true;
    for (std::size_t i = 0; i < tasks; ++i) same = same && evaluator::value_of(*made[i]) == oracle[i];
    CHECK(same);
  }
}

TEST_CASE("the same events give the same order every time") {
  const std::uint64_t s = seed("order");
  std::vector<std::uint32_t> first;
  for (int time = 0; time < 2; ++time) {
    std::mt19937_64 draw(s);
    evaluator e;
    std::vector<node*> made;
    for (std::size_t i = 0; i < 500; ++i) {
      std::vector<node*> inputs;
      for (std::size_t k = i == 0 ? 0 : draw() % 4; k > 0; --k) inputs.push_back(made[draw() % i]);
      made.push_back(&e.task_of(inputs));
    }
    e.run_all();
    std::vector<std::uint32_t> order;
    for (const node* n : e.order) order.push_back(n->index);
    if (time == 0) {
      first = order;
    } else {
      CHECK(order == first);
    }
  }
}

TEST_CASE("a task record, small or large, keeps its inputs and argument bytes side by side") {
  for (const std::uint32_t inputs : {0u, 1u, 3u, 500u}) {
    manta::graph::task_pool pool;
    task* t = pool.make(inputs, 6);
    CHECK(t->input_count == inputs);
    CHECK(t->argument_bytes == 6);
    std::vector<node> nodes(inputs);
    for (std::size_t i = 0; i < inputs; ++i) t->inputs()[i] = &nodes[i];
    std::memcpy(t->arguments(), "hello", 6);
    for (std::size_t i = 0; i < inputs; ++i) CHECK(t->inputs()[i] == &nodes[i]);
    CHECK(std::string(reinterpret_cast<const char*>(t->arguments())) == "hello");
    CHECK(reinterpret_cast<std::uintptr_t>(t->arguments()) % 8 == 0);
    CHECK(pool.live_small() == (inputs < 2 ? 1 : 0));
    pool.free(t);
    CHECK(pool.live_small() == 0);
  }
}

TEST_CASE("tasks may be taken out of a list wherever they stand") {
  task all[4];
  for (task& gone : all) {
    task_list list;
    for (int i = 1; i < 4; ++i) list.push_back(&all[i]);
    list.push_front(&all[0]);
    list.remove(&gone);
    CHECK(list.size() == 3);
    CHECK(list.find([&](const task& t) { return &t == &gone; }) == nullptr);
    CHECK(list.take([&](const task& t) { return &t == &gone; }) == nullptr);
    for (task& t : all) {
      if (&t != &gone) CHECK(list.pop_front() == &t);
    }
    CHECK(list.empty());
    list.push_front(&gone);
    CHECK(list.pop_front() == &gone);
    CHECK(list.empty());
  }
}
