// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/value/lineage.hpp: which tasks are kept and for how long, and the books of
// families of handles.
#include <doctest/doctest.h>

#include <cstdint>

#include "manta/exec/value/lineage.hpp"
#include "manta/graph/task_graph.hpp"

using manta::exec::lineage;
using manta::graph::node;
using manta::graph::task;

namespace {

constexpr std::uint64_t plenty = ~std::uint64_t{0};

struct books {
  manta::graph::task_graph graph;
  lineage all;

  node& make_node() { return graph.nodes.make(); }
  task* make_task(std::uint64_t id) {
    task* const t = graph.tasks.make(0, 0);
    t->id = id;
    return t;
  }
  /// A node whose value was made by a kept task.
  node& value_of(std::uint64_t id, std::uint64_t input_bytes = 0) {
    node& n = make_node();
    all.keep(n, make_task(id), input_bytes);
    return n;
  }
};

}  // namespace

TEST_CASE("a kept task is found by its node until it is taken") {
  books b;
  CHECK_FALSE(b.all.has_tasks());
  node& n = b.value_of(7);
  node& other = b.make_node();
  CHECK(b.all.has_tasks());
  CHECK(b.all.task_of(n)->id == 7);
  CHECK(b.all.task_of(other) == nullptr);
  CHECK(b.all.take(n)->id == 7);
  CHECK(b.all.take(n) == nullptr);
  CHECK_FALSE(b.all.has_tasks());
}

TEST_CASE("the oldest tasks are given up until the others fit") {
  books b;
  const std::uint64_t each = 1000 + sizeof(task);
  for (std::uint64_t id = 1; id <= 5; ++id) b.value_of(id, 1000);
  CHECK(b.all.take_excess(5 * each) == nullptr);
  CHECK(b.all.take_excess(3 * each)->id == 1);
  CHECK(b.all.take_excess(3 * each)->id == 2);
  CHECK(b.all.take_excess(3 * each) == nullptr);
  CHECK(b.all.take_excess(0)->id == 3);
}

TEST_CASE("a task that was taken takes no room") {
  books b;
  const std::uint64_t each = 1000 + sizeof(task);
  node& first = b.value_of(1, 1000);
  node& second = b.value_of(2, 1000);
  b.all.take(first);
  CHECK(b.all.take_excess(each) == nullptr);
  CHECK(b.all.task_of(second) != nullptr);
}

TEST_CASE("a task whose value is made again, however often, takes its room once") {
  books b;
  const std::uint64_t each = 1000 + sizeof(task);
  node& first = b.value_of(1, 1000);
  node& second = b.value_of(2, 1000);
  for (int death = 0; death < 5; ++death) {
    for (node* n : {&first, &second}) b.all.keep(*n, b.all.take(*n), 1000);
    CHECK(b.all.take_excess(2 * each) == nullptr);
  }
  CHECK(b.all.take_excess(each) != nullptr);
  CHECK(b.all.take_excess(each) == nullptr);
}

TEST_CASE("a node that is used again for another value keeps the new task") {
  books b;
  node& n = b.value_of(1, 1000);
  b.all.take(n);
  b.all.keep(n, b.make_task(2), 1000);
  CHECK(b.all.take_excess(1000 + sizeof(task)) == nullptr);
  CHECK(b.all.task_of(n)->id == 2);
}

TEST_CASE("a task that is kept without a size is never given up") {
  books b;
  node& actor = b.make_node();
  b.all.keep(actor, b.make_task(1));
  b.value_of(2);
  CHECK(b.all.take_excess(0)->id == 2);
  CHECK(b.all.take_excess(0) == nullptr);
  CHECK(b.all.task_of(actor)->id == 1);
}

TEST_CASE("the handles in a value are a family, and the task that made the value is its parent") {
  books b;
  node& outer = b.value_of(7);
  node& first = b.make_node();
  node& second = b.make_node();
  lineage::family* const f = b.all.found(outer);
  REQUIRE(f != nullptr);
  CHECK(f->parent->id == 7);
  CHECK(b.all.task_of(outer) == nullptr);  // the family has the task
  b.all.join(*f, first, 0);
  b.all.join(*f, second, 3);
  CHECK(f->living == 2);
  CHECK(b.all.family_of(first) == f);
  CHECK(b.all.position_of(second) == 3);
  CHECK(&b.all.at(f->slot) == f);
  b.all.leave(first);
  CHECK(b.all.family_of(first) == nullptr);
  CHECK(b.all.has_members());
  b.all.leave(second);
  CHECK_FALSE(b.all.has_members());
  CHECK(b.all.take_parent(*f)->id == 7);
  CHECK(b.all.take_parent(*f) == nullptr);
  b.all.end(*f);
}

TEST_CASE("handles in the value of a member are a family below its own") {
  books b;
  lineage::family* const above = b.all.found(b.value_of(7));
  node& member = b.make_node();
  b.all.join(*above, member, 5);
  lineage::family* const below = b.all.found(member);
  REQUIRE(below != nullptr);
  CHECK(below->above == above);
  CHECK(below->position == 5);
  CHECK(below->parent == nullptr);
  CHECK(above->living == 2);
}

TEST_CASE("handles in a value of which nothing is known are no family") {
  books b;
  CHECK(b.all.found(b.make_node()) == nullptr);
}

TEST_CASE("an ended family's slot is used again") {
  books b;
  lineage::family* const first = b.all.found(b.value_of(1));
  const std::uint32_t slot = first->slot;
  b.all.take_parent(*first);
  b.all.end(*first);
  lineage::family* const second = b.all.found(b.value_of(2));
  CHECK(second->slot == slot);
  CHECK(second->parent->id == 2);
}

TEST_CASE("a family's parent is given up as other tasks are") {
  books b;
  lineage::family* const f = b.all.found(b.value_of(7, 1000));
  CHECK(b.all.take_excess(plenty) == nullptr);
  CHECK(b.all.take_excess(0)->id == 7);
  CHECK(f->parent == nullptr);
}

TEST_CASE("of two families with the same parent's id the newer one is found by it") {
  books b;
  lineage::family* const first = b.all.found(b.value_of(7, 1000));
  task* const again = b.all.take_parent(*first);  // runs once more, and its new value is read
  node& value = b.make_node();
  b.all.keep(value, again, 1000);
  lineage::family* const second = b.all.found(value);
  CHECK(second->parent == again);
  CHECK(b.all.take_excess(0) == again);
  CHECK(second->parent == nullptr);
}
