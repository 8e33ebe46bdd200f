// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/value/task_records.hpp: what a task is made of goes to another rank and is
// there again, and all that was held for it is given back.
#include <doctest/doctest.h>

#include <random>
#include <string>

#include "../../support/whole_rank.hpp"

using namespace manta::exec;

namespace {

constexpr std::uint64_t argument = 0x1122334455667788;

/// Two ranks, of which the first has made a record with these inputs.
struct sent_task {
  explicit sent_task(const std::vector<manta::graph::node*>& inputs, manta::graph::request_ptr wanted = nullptr) {
    for (manta::graph::node* const n : inputs) world[0].refs.hold(*n);
    const task_arguments given{reinterpret_cast<const std::byte*>(&argument), sizeof argument, inputs.data(),
                               static_cast<std::uint32_t>(inputs.size())};
    made = world[0].records.make(17, 3, given, std::move(wanted));
  }
  sent_task() = default;
  task& there(std::uint16_t flags = 0) {
    const task_message m{made->id, made->function, 0, 5, 40, made->argument_bytes, 2, static_cast<std::uint8_t>(flags),
                         0};
    world[0].records.send(1, message::run, m, arguments_of(*made), {made->request.get(), nullptr, 99});
    std::mt19937_64 random(1);
    letters().deliver_one(random, [&](std::uint32_t to, std::uint32_t from, const letter& l) {
      CHECK(to == 1);
      read = world[1].records.read(from, l.bytes.data());
    });
    REQUIRE(read != nullptr);
    return *read;
  }
  block_world& letters() { return world.letters(); }
  ~sent_task() {
    if (read != nullptr) world[1].records.free(read);
    if (made != nullptr) world[0].records.free(made);
    world.run();
  }

  whole_world world{2};
  task* made = nullptr;
  task* read = nullptr;
};

manta::graph::node& value_on(whole_rank& r, std::uint64_t number) {
  manta::graph::node& n = r.refs.make_node(no_index, manta::wire::type_index<std::uint64_t>::value);
  manta::store::set_plain(n, reinterpret_cast<const std::byte*>(&number), sizeof number);
  r.completion.complete(n);
  return n;
}

}  // namespace

TEST_CASE("a task without inputs is on the other rank as it was made") {
  auto* const wanted = new manta::graph::request;
  wanted->name = "brew";
  wanted->cpus = 3;
  sent_task sent({}, manta::graph::request_ptr(wanted));
  const task& t = sent.there();
  CHECK(t.id == 17);
  CHECK(t.function == 3);
  CHECK(t.home_rank == 0);
  CHECK(t.home_index == 5);
  CHECK(t.attempt == 2);
  CHECK(t.digest == 99);
  REQUIRE(t.argument_bytes == sizeof argument);
  CHECK(std::memcmp(const_cast<task&>(t).arguments(), &argument, sizeof argument) == 0);
  REQUIRE(t.request != nullptr);
  CHECK(t.request->name == "brew");
  CHECK(t.request->cpus == 3);
}

TEST_CASE("small inputs go with a task, for others a reference does, and both are given back") {
  sent_task sent;
  whole_rank& home = sent.world[0];
  manta::graph::node& here = value_on(home, 42);
  manta::graph::node& pending = home.refs.make_node(no_index, manta::wire::type_index<std::uint64_t>::value);
  for (manta::graph::node* const n : {&here, &pending}) home.refs.hold(*n);
  manta::graph::node* const inputs[] = {&here, &pending};
  sent.made = home.records.make(17, 3, {nullptr, 0, inputs, 2}, nullptr);
  task& t = sent.there();
  REQUIRE(t.input_count == 2);
  REQUIRE(t.inputs()[0]->state == state::ready);
  CHECK(sent.world[1].number_in(*t.inputs()[0]) == 42);
  CHECK(t.inputs()[1]->state == state::pending);
  CHECK(is_stand_in(*t.inputs()[1]));
  CHECK(sent.world[1].refs.home_of(*t.inputs()[1]).index == pending.index);
  sent.world[1].records.free(std::exchange(sent.read, nullptr));
  home.records.free(std::exchange(sent.made, nullptr));
  for (manta::graph::node* const n : {&here, &pending}) home.refs.release(*n);
  sent.world.run();
  CHECK(sent.world.live_nodes() == 0);
}

TEST_CASE("the inputs of a task are given up before its record where they are needed no more") {
  sent_task sent;
  whole_rank& home = sent.world[0];
  manta::graph::node& n = value_on(home, 1);
  manta::graph::node* const inputs[] = {&n};
  sent.made = home.records.make(17, 3, {nullptr, 0, inputs, 1}, nullptr);  // takes the only reference
  home.records.drop_inputs(sent.made);
  CHECK(sent.made->inputs()[0] == nullptr);
  CHECK(sent.world.live_nodes() == 0);
}
