// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The two queues of a rank: received messages, first in first out whatever
// their sizes; and an actor's mailbox, in order for each caller.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "manta/exec/rank/actor_slot.hpp"
#include "manta/exec/rank/message_queue.hpp"

using manta::exec::actor_slot;
using manta::exec::message_queue;
using manta::graph::task;

namespace {

manta::graph::task_pool records;

std::uint64_t seed(const char* test) {
  const char* const given = std::getenv("MANTA_TEST_SEED");
  const std::uint64_t value = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  MESSAGE(std::string(test) << ": MANTA_TEST_SEED=" << value);
  return value;
}

void push(message_queue& q, std::uint32_t from, const std::string& text) {
  q.push(from, reinterpret_cast<const std::byte*>(text.data()), text.size());
}
std::string text_of(const message_queue::view& v) { return {reinterpret_cast<const char*>(v.data), v.bytes}; }

/// A mailbox whose calls free themselves.
class mailbox {
 public:
  explicit mailbox(int concurrency = 0) {
    if (concurrency == 0) return;
    auto* const r = new manta::graph::request;
    r->rules.concurrency = concurrency;
    slot.request = manta::graph::request_ptr(r);
  }
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;
  ~mailbox() {
    for (task* t : calls_) records.free(t);
  }

  task* call(std::uint32_t caller, std::uint32_t missing = 0) {
    task* t = records.make(0, 0);
    t->caller = caller;
    t->missing = missing;
    t->id = next_id_++;
    calls_.push_back(t);
    slot.mailbox.push_back(t);
    return t;
  }
  /// Starts one, as the engine does.
  task* start() {
    task* t = slot.take();
    if (t != nullptr) ++slot.active;
    return t;
  }

  actor_slot slot;

 private:
  std::vector<task*> calls_;
  std::uint64_t next_id_ = 0;
};

}  // namespace

// ---- messages ------------------------------------------------------------------------------------------------

TEST_CASE("messages come out in the order in which they came, with their sender") {
  message_queue q;
  CHECK(q.empty());
  push(q, 3, "first");
  push(q, 1, "");
  push(q, 2, std::string(100'000, 'x'));
  CHECK(q.size() == 3);
  const auto first = q.pop();
  CHECK(text_of(first) == "first");
  CHECK(first.from == 3);
  const auto empty = q.pop();
  CHECK(empty.bytes == 0);
  CHECK(empty.from == 1);
  CHECK(text_of(q.pop()) == std::string(100'000, 'x'));
  CHECK(q.empty());
}

TEST_CASE("a message's bytes are aligned for what is in it") {
  message_queue q;
  for (std::size_t n = 0; n < 100; ++n) push(q, 0, std::string(n, 'a'));
  while (!q.empty()) CHECK(reinterpret_cast<std::uintptr_t>(q.pop().data) % 8 == 0);
}

TEST_CASE("the last message stays readable after it was taken, until the next push") {
  message_queue q;
  push(q, 0, "a");
  push(q, 0, "b");
  const auto a = q.pop();
  const auto b = q.pop();
  CHECK(q.empty());
  CHECK(text_of(a) == "a");
  CHECK(text_of(b) == "b");
}

TEST_CASE("random pushes and pops agree with std::deque") {
  std::mt19937_64 draw(seed("message_queue"));
  for (const std::uint64_t likely : {4u, 5u, 6u}) {  // of 10: emptier, even, fuller
    message_queue q;
    std::deque<std::pair<std::uint32_t, std::string>> oracle;
    bool ok = true;
    for (std::uint32_t step = 0; step < 20'000 && ok; ++step) {
      if (draw() % 10 < likely) {
        std::string text(draw() % 5 == 0 ? draw() % 3000 : draw() % 40, static_cast<char>('a' + step % 26));
        push(q, step, text);
        oracle.emplace_back(step, std::move(text));
      } else if (!oracle.empty()) {
        const auto v = q.pop();
        ok = v.from == oracle.front().first && text_of(v) == oracle.front().second;
        oracle.pop_front();
      }
      ok = ok && q.size() == oracle.size() && q.empty() == oracle.empty();
    }
    while (!oracle.empty() && ok) {
      const auto v = q.pop();
      ok = v.from == oracle.front().first && text_of(v) == oracle.front().second;
      oracle.pop_front();
    }
    CHECK(ok);
    CHECK(q.empty());
  }
}

TEST_CASE("a queue may be turned over: each message taken out and put back") {
  message_queue q;
  for (std::uint32_t i = 0; i < 1000; ++i) push(q, i, std::to_string(i));
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = q.size(); i > 0; --i) {
      const auto v = q.pop();
      const std::string copy = text_of(v);
      push(q, v.from, copy);
    }
  }
  for (std::uint32_t i = 0; i < 1000; ++i) CHECK(text_of(q.pop()) == std::to_string(i));
}

// ---- mailboxes ------------------------------------------------------------------------------------------------

TEST_CASE("an actor starts one call at a time unless it was given more") {
  mailbox one;
  CHECK(one.start() == nullptr);
  task* a = one.call(0);
  task* b = one.call(1);
  CHECK(one.start() == a);
  CHECK_FALSE(one.slot.has_room());
  CHECK(one.start() == nullptr);
  --one.slot.active;
  CHECK(one.start() == b);

  mailbox three(3);
  for (std::uint32_t caller = 0; caller < 5; ++caller) three.call(caller);
  for (int i = 0; i < 3; ++i) CHECK(three.start() != nullptr);
  CHECK(three.start() == nullptr);
  --three.slot.active;
  CHECK(three.start() != nullptr);
}

TEST_CASE("calls of one caller start in the order made, also when the first still waits for its arguments") {
  mailbox m(10);
  task* first = m.call(7, 1);
  task* second = m.call(7);
  CHECK(m.start() == nullptr);
  first->missing = 0;
  CHECK(m.start() == first);
  CHECK(m.start() == second);
}

TEST_CASE("a caller that waits does not hold up others") {
  mailbox m;
  task* late = m.call(1, 2);
  m.call(1);
  task* other = m.call(2);
  CHECK(m.start() == other);
  --m.slot.active;
  CHECK(m.start() == nullptr);
  late->missing = 0;
  CHECK(m.start() == late);
}

TEST_CASE("calls that could all start do so in the order in which they came, whoever called") {
  mailbox m(100);
  std::vector<task*> calls;
  for (std::uint32_t i = 0; i < 20; ++i) calls.push_back(m.call(i % 3));
  for (task* expected : calls) CHECK(m.start() == expected);
  CHECK(m.slot.mailbox.empty());
}

TEST_CASE("random calls keep each caller's order and never idle with something to start") {
  std::mt19937_64 draw(seed("mailbox"));
  for (int round = 0; round < 50; ++round) {
    const int concurrency = 1 + static_cast<int>(draw() % 4);
    mailbox m(concurrency);
    std::vector<task*> waiting_for_arguments;
    std::map<std::uint32_t, std::uint64_t> last_started;  // by caller, 1 + id
    std::size_t called = 0, started = 0;
    bool ok = true;
    while (ok && started < 200) {
      const std::uint64_t what = draw() % 4;
      if (what == 0 && called < 200) {
        task* t = m.call(static_cast<std::uint32_t>(draw() % 5), static_cast<std::uint32_t>(draw() % 3));
        if (t->missing != 0) waiting_for_arguments.push_back(t);
        ++called;
      } else if (what == 1 && !waiting_for_arguments.empty()) {
        std::swap(waiting_for_arguments[draw() % waiting_for_arguments.size()], waiting_for_arguments.back());
        if (--waiting_for_arguments.back()->missing == 0) waiting_for_arguments.pop_back();
      } else if (what == 2 && m.slot.active > 0) {
        --m.slot.active;
      } else if (task* t = m.start()) {
        std::uint64_t& last = last_started[t->caller];
        ok = t->missing == 0 && t->id + 1 > last && m.slot.active <= static_cast<std::uint32_t>(concurrency);
        last = t->id + 1;
        ++started;
      } else if (m.slot.has_room()) {  // then every caller's first call waits for its arguments
        std::map<std::uint32_t, const task*> first;
        for (const task* t2 = m.slot.mailbox.front(); t2 != nullptr; t2 = t2->next) first.try_emplace(t2->caller, t2);
        ok = std::all_of(first.begin(), first.end(), [](const auto& f) { return f.second->missing != 0; });
      }
    }
    CHECK(ok);
  }
}
