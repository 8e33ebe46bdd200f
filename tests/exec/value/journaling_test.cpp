// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/value/journaling.hpp: which results are kept, and by what they are found
// again, on one node table and a folder.
#include "manta/exec/value/journaling.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "manta/graph/task_graph.hpp"
#include "support/clear_nodes.hpp"
#include "support/text.hpp"

namespace exec = manta::exec;
namespace graph = manta::graph;
namespace store = manta::store;
namespace wire = manta::wire;
using graph::form;
using graph::node;
using graph::state;
using manta::testing::contains;
using manta::testing::folder;
using manta::testing::thrown;

namespace {

constexpr std::uint64_t program = 1;
constexpr std::uint64_t long_ns = 1'000'000'000;

std::uint32_t function(const char* mangled) {
  return wire::add_entry(wire::function_entry{mangled, [] { return std::string_view("f"); }, nullptr, false, false});
}
const std::uint32_t twice = function("twice"), thrice = function("thrice");

/// Says that it holds references, as futures do.
struct referring {
  int value = 0;
  void save(wire::writer& archive) const {
    archive.note_reference();
    archive(value);
  }
  void load(wire::reader& archive) { archive(value); }
};

/// One start of a program: a journal with the nodes and records that it looks at.
struct start {
  exec::journaling journal;
  exec::biased_lock lock;
  graph::task_graph graph;

  explicit start(const folder& where, double least_seconds = 0.01) {
    journal.open(where.path, program, 0, least_seconds);
  }
  ~start() { clear_nodes(graph); }
  start(const start&) = delete;
  start& operator=(const start&) = delete;

  node& value(int v) {
    node& n = graph.nodes.make();
    n.type = wire::type_index<int>::value;
    store::set_plain(n, &v, sizeof v);
    n.state = state::ready;
    return n;
  }
  node& value(const std::string& v) {
    node& n = graph.nodes.make();
    n.type = wire::type_index<std::string>::value;
    store::set_box(n, new std::string(v));
    n.state = state::ready;
    return n;
  }
  /// A pending node with its task.
  node& submit(std::uint64_t id, std::uint32_t what, int argument, std::initializer_list<node*> inputs = {},
               graph::request_ptr request = nullptr) {
    node& n = graph.nodes.make();
    n.function = what;
    n.type = wire::type_index<int>::value;
    graph::task* const t = graph.tasks.make(static_cast<std::uint32_t>(inputs.size()), sizeof argument);
    t->id = id;
    t->function = what;
    t->request = std::move(request);
    std::uint32_t i = 0;
    for (node* input : inputs) t->inputs()[i++] = input;
    std::memcpy(t->arguments(), &argument, sizeof argument);
    n.form = form::record;
    n.record = t;
    journal.identify(*t, n);
    return n;
  }
  void ends(node& n, int result, std::uint64_t ns = long_ns) {
    exec::invocation call(lock);
    call.form = form::plain;
    call.type = n.type;
    std::memcpy(call.plain, &result, sizeof result);
    journal.write(*n.record, call, ns);
  }
  template <class T>
  void ends_with(node& n, T result) {
    exec::invocation call(lock);
    call.form = form::box;
    call.type = wire::type_index<T>::value;
    call.box = &result;
    journal.write(*n.record, call, long_ns);
  }
  /// -1: the journal has no result.
  int taken(node& n) {
    graph::task* const t = n.record;
    if (!journal.take(*t, n)) return -1;
    graph.tasks.free(t);
    int v = 0;
    std::memcpy(&v, n.bytes, sizeof v);
    return v;
  }
};

}  // namespace

TEST_CASE("a later start takes the result of the same task with the same arguments, and no other") {
  const folder where;
  {
    start first(where);
    first.ends(first.submit(7, twice, 21), 42);
    first.journal.finish_run();
  }
  start second(where);
  CHECK(second.taken(second.submit(7, twice, 22)) == -1);
  CHECK(second.taken(second.submit(8, twice, 21)) == -1);
  CHECK(second.taken(second.submit(7, thrice, 21)) == -1);
  CHECK(second.taken(second.submit(7, twice, 21)) == 42);
  CHECK(second.journal.taken() == 1);
}

TEST_CASE("an input is known by its bytes, or by the task that makes it") {
  const folder where;
  {
    start first(where);
    node& a = first.submit(1, twice, 21);
    first.ends(first.submit(2, thrice, 0, {&a, &first.value(5), &first.value(std::string("text"))}), 3);
    first.journal.finish_run();
  }
  start second(where);
  node& same = second.submit(1, twice, 21);
  node& other = second.submit(1, twice, 20);
  node& text = second.value(std::string("text"));
  CHECK(second.taken(second.submit(2, thrice, 0, {&other, &second.value(5), &text})) == -1);
  CHECK(second.taken(second.submit(2, thrice, 0, {&same, &second.value(6), &text})) == -1);
  CHECK(second.taken(second.submit(2, thrice, 0, {&same, &second.value(5), &second.value(std::string("texts"))})) ==
        -1);
  CHECK(second.taken(second.submit(2, thrice, 0, {&same, &second.value(5), &text})) == 3);
}

TEST_CASE("a task whose input cannot be known has no digest, and its result is not kept") {
  const folder where;
  start only(where);
  node& remote = only.graph.nodes.make();
  remote.type = wire::type_index<std::string>::value;
  remote.state = state::ready;
  remote.form = form::remote;
  node& handles = only.graph.nodes.make();
  handles.type = wire::type_index<referring>::value;
  store::set_box(handles, new referring);
  handles.state = state::ready;
  for (node* input : {&remote, &handles}) {
    node& n = only.submit(1, twice, 0, {input});
    CHECK(n.record->digest == 0);
    only.ends(n, 1);
    CHECK(only.taken(n) == -1);
  }
  auto* const actor = new graph::request;
  actor->actor = true;
  CHECK(only.submit(2, twice, 0, {}, graph::request_ptr(actor)).record->digest == 0);
}

TEST_CASE("a forgotten node's index is known by nothing") {
  const folder where;
  start only(where);
  CHECK_FALSE(only.journal.has_records());
  node& pending = only.submit(1, twice, 0);
  CHECK(only.journal.has_records());
  CHECK(only.submit(2, thrice, 0, {&pending}).record->digest != 0);
  only.journal.forget(pending);
  CHECK(only.submit(3, thrice, 0, {&pending}).record->digest == 0);
}

TEST_CASE("results of short tasks are kept only if the task asks for it") {
  const folder where;
  {
    start first(where);
    auto* const request = new graph::request;
    request->journaled = true;
    first.ends(first.submit(1, twice, 0), 1, 1000);
    first.ends(first.submit(2, twice, 0, {}, graph::request_ptr(request)), 2, 1000);
    first.journal.finish_run();
  }
  start second(where);
  CHECK(second.taken(second.submit(1, twice, 0)) == -1);
  CHECK(second.taken(second.submit(2, twice, 0)) == 2);
}

TEST_CASE("a boxed result comes back as its bytes; one that holds futures is not kept") {
  const folder where;
  {
    start first(where);
    first.ends_with(first.submit(1, twice, 0), std::string("kept"));
    first.ends_with(first.submit(2, twice, 0), referring{});
    first.journal.finish_run();
  }
  start second(where);
  node& n = second.submit(1, twice, 0);
  const graph::task& t = *n.record;
  REQUIRE(second.journal.take(t, n));
  n.type = wire::type_index<std::string>::value;
  n.state = state::ready;
  CHECK(*static_cast<const std::string*>(store::decode(n)) == "kept");
  CHECK(second.taken(second.submit(2, twice, 0)) == -1);
}

TEST_CASE("the state of an actor with a name and checkpoints is kept, for its own class, until the actor ends") {
  const folder where;
  graph::request r;
  r.name = "counter";
  const wire::buffer seven("7", 1);
  {
    start first(where);
    CHECK_FALSE(first.journal.keeps_state(r));
    r.rules.checkpoint_every = 1;
    CHECK(first.journal.keeps_state(r));
    first.journal.keep_state({r, twice, 5}, seven);
    first.journal.finish_run();
  }
  wire::buffer found;
  {
    start second(where);
    CHECK_FALSE(second.journal.find_state({r, thrice, 5}, found));
    REQUIRE(second.journal.find_state({r, twice, 5}, found));
    CHECK(std::memcmp(found.data(), seven.data(), found.size()) == 0);
    second.journal.forget_state({r, twice, 5});
    second.journal.finish_run();
  }
  start third(where);
  CHECK_FALSE(third.journal.find_state({r, twice, 5}, found));
}

TEST_CASE("actors of one name that were made with other arguments have states of their own") {
  const folder where;
  graph::request r;
  r.name = "simulation";
  r.actor = true;
  r.rules.checkpoint_every = 1;
  start first(where);
  const auto made_with = [&](int argument) {
    graph::task& t = *first.submit(1, twice, argument, {}, graph::request_ptr(new graph::request(r))).record;
    first.journal.identify_actor(t);
    return t.digest;
  };
  CHECK(made_with(1) == made_with(1));
  CHECK(made_with(1) != made_with(2));
  first.journal.keep_state({r, twice, made_with(1)}, wire::buffer("1", 1));
  wire::buffer found;
  CHECK_FALSE(first.journal.find_state({r, twice, made_with(2)}, found));
  CHECK(first.journal.find_state({r, twice, made_with(1)}, found));
}

TEST_CASE("of two runs in one folder at the same time, one alone has the state of an actor") {
  const folder where;
  graph::request r;
  r.name = "shared";
  r.rules.checkpoint_every = 1;
  wire::buffer found;
  {
    start first(where);
    first.journal.keep_state({r, twice, 5}, wire::buffer("1", 1));
    start second(where);  // another process in a job: locks belong to open files, not to processes
    CHECK_FALSE(second.journal.find_state({r, twice, 5}, found));
    second.journal.keep_state({r, twice, 5}, wire::buffer("2", 1));
    second.journal.forget_state({r, twice, 5});
    first.journal.finish_run();
    second.journal.finish_run();
  }
  start third(where);
  REQUIRE(third.journal.find_state({r, twice, 5}, found));
  CHECK(found.data()[0] == std::byte{'1'});
}

TEST_CASE("without a folder nothing is noted, kept or found") {
  exec::journaling none;
  exec::biased_lock lock;
  graph::task_graph graph;
  node& n = graph.nodes.make();
  graph::task* const t = graph.tasks.make(0, 0);
  t->function = twice;
  none.identify(*t, n);
  CHECK(t->digest == 0);
  CHECK_FALSE(none.has_records());
  none.write(*t, exec::invocation(lock), long_ns);
  CHECK_FALSE(none.take(*t, n));
  none.finish_run();
  CHECK(none.taken() == 0);
}

TEST_CASE("a folder that cannot be made is an error that names it") {
  exec::journaling j;
  const std::string what = thrown<manta::error>([&] { j.open("/proc/no/such", program, 0, 0); });
  CHECK(contains(what, "/proc/no/such"));
  CHECK_FALSE(j.is_open());
}
