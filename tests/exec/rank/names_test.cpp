// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/rank/names.hpp: rank 0's table of names, with its questions and
// answers as values.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

#include "manta/exec/rank/names.hpp"

using manta::exec::names;
using manta::graph::no_index;
using verdict = names::verdict;
using actor_state = names::actor_state;

namespace {

constexpr std::uint64_t no_task = 0;

/// A table, and what has been answered, by ticket.
struct table {
  names all;
  std::map<std::uint32_t, actor_state> states;  // by handle; kept where nothing else stands
  std::map<std::uint32_t, names::reply> replies;

  void answer_all() {
    while (all.has_questions()) {
      const std::uint32_t handle = all.handle_in_question();
      const auto at = states.find(handle);
      const names::reply r = all.answer(at == states.end() ? actor_state::kept : at->second);
      if (r.what != verdict::waits) replies[r.ticket] = r;
    }
  }
  void ask(const std::string& name, std::uint32_t ticket, std::uint64_t id = no_task, std::uint32_t asker = 1,
           const std::string& type = "counter") {
    all.ask({name, type, id, asker, ticket});
    answer_all();
  }
  verdict of(std::uint32_t ticket) const {
    const auto at = replies.find(ticket);
    return at == replies.end() ? verdict::waits : at->second.what;
  }
  void set(const std::string& name, std::uint32_t handle) {
    all.set(name, handle);
    answer_all();
  }
  void free(std::uint32_t handle) {
    all.free(handle);
    answer_all();
  }
};

}  // namespace

TEST_CASE("a name that nobody has is missing for who looks, and claimed by who has a task for it") {
  table t;
  t.ask("a", 1);
  CHECK(t.of(1) == verdict::missing);
  t.ask("a", 2, 7);
  CHECK(t.of(2) == verdict::claimed);
  CHECK(t.all.handle_of("a") == no_index);
}

TEST_CASE("who asks for a claimed name waits until it is set, and gets its handle") {
  table t;
  t.ask("a", 1, 7);
  t.ask("a", 2, no_task, 2);
  t.ask("a", 3, 8, 3);
  CHECK(t.of(2) == verdict::waits);
  CHECK(t.of(3) == verdict::waits);
  t.set("a", 42);
  CHECK(t.all.has(42));
  CHECK(t.all.handle_of("a") == 42);
  for (const std::uint32_t ticket : {2u, 3u}) {
    CHECK(t.of(ticket) == verdict::found);
    CHECK(t.replies[ticket].handle == 42);
  }
  CHECK(t.replies[3].asker == 3);
}

TEST_CASE("a task that runs again finds the actor that it has spawned as its own") {
  table t;
  t.ask("a", 1, 7);
  t.set("a", 42);
  t.ask("a", 2, 7);
  t.ask("a", 3, 8);
  CHECK(t.of(2) == verdict::found_own);
  CHECK(t.of(3) == verdict::found);
}

TEST_CASE("an actor of another class is named in the answer, and so is a claim for one") {
  table t;
  t.ask("a", 1, 7);
  t.ask("a", 2, no_task, 1, "clock");
  CHECK(t.of(2) == verdict::wrong_type);
  CHECK(t.replies[2].type == "counter");
  t.set("a", 42);
  t.ask("a", 3, 9, 1, "clock");
  CHECK(t.of(3) == verdict::wrong_type);
}

TEST_CASE(
    "a claim that is given up goes to the first that waits with a task; who only looks hears that there is none") {
  table t;
  t.ask("a", 1, 7, 1);
  t.ask("a", 2, no_task, 2);
  t.ask("a", 3, 8, 3);
  t.ask("a", 4, 9, 4);
  t.all.give_up("a", 5);  // not its own
  t.answer_all();
  CHECK(t.of(2) == verdict::waits);
  t.all.give_up("a", 1);
  t.answer_all();
  CHECK(t.of(2) == verdict::missing);
  CHECK(t.of(3) == verdict::claimed);
  CHECK(t.of(4) == verdict::waits);
  t.set("a", 42);
  CHECK(t.of(4) == verdict::found);
  t.all.give_up("a", 3);  // too late
  CHECK(t.all.handle_of("a") == 42);
}

TEST_CASE("a dead actor loses its name to who claims it, but not to who looks for it") {
  table t;
  t.ask("a", 1, 7);
  t.set("a", 42);
  t.states[42] = actor_state::dead;
  t.ask("a", 2);
  CHECK(t.of(2) == verdict::found);
  t.ask("a", 3, 8);
  CHECK(t.of(3) == verdict::claimed);
  CHECK_FALSE(t.all.has(42));
  t.set("a", 43);
  CHECK(t.all.handle_of("a") == 43);
}

TEST_CASE("who claims the name of an actor that nobody wants waits for its end") {
  table t;
  t.ask("a", 1, 7);
  t.set("a", 42);
  t.states[42] = actor_state::unwanted;
  t.ask("a", 2, 8);
  t.ask("a", 3);
  CHECK(t.of(2) == verdict::waits);
  CHECK(t.of(3) == verdict::found);
  t.free(42);
  CHECK(t.of(2) == verdict::claimed);
}

TEST_CASE("a dead rank keeps no claim and gets none for questions that it has asked") {
  table t;
  t.ask("a", 1, 7, 5);
  t.ask("a", 2, 8, 5);  // another task of rank 5
  t.ask("a", 3, 9, 6);
  t.ask("b", 4, 10, 5);
  t.set("b", 42);
  t.all.rank_died(5);
  t.answer_all();
  CHECK(t.of(2) == verdict::waits);
  CHECK(t.of(3) == verdict::claimed);
  CHECK(t.all.handle_of("b") == 42);  // rank 0 is the home of an actor with a name
}

TEST_CASE("who claims the name of an actor that has left waits until it has ended") {
  table t;
  t.ask("bank", 1, 10);
  t.set("bank", 5);
  CHECK(!t.all.keep_until_end(5, {2, 7}));  // nobody has asked for that
  t.all.keep_all_until_end();
  CHECK(t.all.keep_until_end(5, {2, 7}));
  CHECK(!t.all.has(5));
  CHECK(!t.all.keep_until_end(5, {2, 7}));
  CHECK(!t.all.free(5));
  t.ask("bank", 2, 20);
  t.ask("bank", 3, 30, 1, "another class");
  t.ask("bank", 4);
  CHECK(t.of(2) == verdict::waits);
  CHECK(t.of(3) == verdict::waits);
  CHECK(t.of(4) == verdict::missing);  // for who only looks it is gone
  t.all.give_up("bank", 2);            // nobody's claim
  CHECK(!t.all.free_ended("bank", {2, 6}));
  CHECK(!t.all.free_ended("bank", {3, 7}));
  CHECK(!t.all.free_ended("cash", {2, 7}));
  CHECK(t.of(2) == verdict::waits);
  CHECK(t.all.free_ended("bank", {2, 7}));
  t.answer_all();
  CHECK(t.of(2) == verdict::claimed);
  CHECK(t.of(3) == verdict::wrong_type);
}

TEST_CASE("a name whose actor has left is free when the rank where it ends has died") {
  table t;
  t.ask("bank", 1, 10);
  t.set("bank", 5);
  t.all.keep_all_until_end();
  CHECK(t.all.keep_until_end(5, {2, 7}));
  t.ask("bank", 2, 20);
  t.all.rank_died(3);
  t.answer_all();
  CHECK(t.of(2) == verdict::waits);
  t.all.rank_died(2);
  t.answer_all();
  CHECK(t.of(2) == verdict::claimed);
}

TEST_CASE("a cleared table has no names and no questions") {
  table t;
  t.ask("a", 1, 7);
  t.ask("a", 2);
  t.ask("b", 3, 8);
  t.set("b", 42);
  t.all.clear();
  CHECK_FALSE(t.all.has_questions());
  CHECK_FALSE(t.all.has(42));
  t.ask("a", 4, 9);
  CHECK(t.of(4) == verdict::claimed);
}

// The oracle is two maps that follow the answers.
TEST_CASE("random questions are all answered, and each name has at most one owner") {
  const char* const given = std::getenv("MANTA_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  MESSAGE("names: MANTA_TEST_SEED=" << seed);
  std::mt19937_64 draw(seed);
  for (int round = 0; round < 30; ++round) {
    table t;
    std::map<std::string, std::uint32_t> claimed;  // name -> claimer
    std::map<std::string, std::uint32_t> owned;    // name -> handle
    std::uint32_t ticket = 0, handle = 100;
    const auto note = [&] {
      for (auto& [number, r] : t.replies) {
        const std::string name = "n" + std::to_string(number % 4);
        if (r.what == verdict::claimed) {
          CHECK(claimed.count(name) + owned.count(name) == 0);
          claimed[name] = r.asker;
        }
        if (r.what == verdict::found) CHECK(owned.at(name) == r.handle);
        if (r.what == verdict::missing) CHECK(owned.count(name) == 0);
      }
      t.replies.clear();
    };
    for (int step = 0; step < 300; ++step) {
      const std::string name = "n" + std::to_string(ticket % 4);
      const std::uint64_t what = draw() % 6;
      if (what < 3) {
        t.ask(name, ticket, what == 0 ? no_task : 1000 + ticket, static_cast<std::uint32_t>(draw() % 3));
        ++ticket;
      } else if (what == 3 && claimed.count(name) != 0) {
        claimed.erase(name);
        owned[name] = ++handle;
        t.set(name, handle);
      } else if (what == 4 && claimed.count(name) != 0) {
        const std::uint32_t claimer = claimed.at(name);
        claimed.erase(name);
        t.all.give_up(name, claimer);
        t.answer_all();
      } else if (what == 5 && owned.count(name) != 0) {
        const std::uint32_t its = owned.at(name);
        owned.erase(name);
        t.free(its);
      } else {
        ++ticket;  // another name
      }
      note();
    }
    for (const auto& [name, claimer] : std::map(claimed)) {
      owned[name] = ++handle;
      claimed.erase(name);
      t.set(name, handle);
      note();
    }
    CHECK_FALSE(t.all.has_questions());
  }
}
