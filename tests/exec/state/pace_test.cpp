// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/state/pace.hpp, early_messages.hpp, exec/state/tasks_elsewhere.hpp: what a
// rank knows between tasks, messages that come before their run, and the count
// of what is elsewhere.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "manta/exec/rank/work_list.hpp"
#include "manta/exec/state/early_messages.hpp"
#include "manta/exec/state/pace.hpp"
#include "manta/exec/state/tasks_elsewhere.hpp"

using manta::exec::early_messages;
using manta::exec::message;
using manta::exec::pace;
using manta::exec::tasks_elsewhere;
using manta::exec::work_queue;

TEST_CASE("a rank that runs one task after the other looks around in time") {
  pace p;
  p.note_end(100);
  CHECK(p.looked_long_ago(99));
  p.note_look();
  p.note_end(150);
  CHECK_FALSE(p.looked_long_ago(50));
  p.note_end(151);
  CHECK(p.looked_long_ago(50));
}

TEST_CASE("others get their turn after the next task if they can go on, else when it is time to look around") {
  pace p;
  p.note_end(100);
  p.note_look();
  p.put_others_off(50);
  p.note_end(150);
  CHECK_FALSE(p.is_others_turn());
  p.note_end(151);
  CHECK(p.is_others_turn());
  p.put_others_off(500);
  CHECK_FALSE(p.is_others_turn());
  p.hurry();
  CHECK(p.is_others_turn());
}

TEST_CASE("the beginning of a task that follows directly is known without the clock, once") {
  pace p;
  p.note_end(100);
  CHECK(p.take_begin() == 0);
  p.set_follows(true);
  CHECK(p.take_begin() == 100);
  CHECK(p.take_begin() == 0);
  p.set_follows(true);
  p.set_follows(false);
  CHECK(p.take_begin() == 0);
}

TEST_CASE("messages between runs are kept, and handled in their order when the next run begins") {
  early_messages early;
  CHECK(early.are_kept());
  const std::string texts[] = {"a", "", "ccc"};
  std::uint32_t from = 0xfffffd;
  for (const std::string& text : texts) {
    early.keep(from++, message::stuck, reinterpret_cast<const std::byte*>(text.data()), text.size());
  }
  std::vector<std::string> handled;
  early.end([&](std::uint32_t sender, message kind, const std::byte* data, std::size_t bytes) {
    CHECK_FALSE(early.are_kept());
    CHECK(kind == message::stuck);
    CHECK(sender == 0xfffffd + handled.size());
    handled.emplace_back(reinterpret_cast<const char*>(data), bytes);
  });
  CHECK(handled == std::vector<std::string>(texts, texts + 3));
  early.begin();
  CHECK(early.are_kept());
  int more = 0;
  early.end([&](auto&&...) { ++more; });
  CHECK(more == 0);
}

TEST_CASE("a run that ends while kept messages are handled keeps the rest for the next one") {
  early_messages early;
  for (int i = 0; i < 3; ++i) early.keep(static_cast<std::uint32_t>(i), message::stop, nullptr, 0);
  const auto once = [&] {
    std::vector<std::uint32_t> handled;
    early.end([&](std::uint32_t from, message kind, const std::byte* data, std::size_t bytes) {
      if (early.are_kept()) return early.keep(from, kind, data, bytes);  // as the engine does
      handled.push_back(from);
      early.begin();
    });
    return handled;
  };
  CHECK(once() == std::vector<std::uint32_t>{0});
  CHECK(once() == std::vector<std::uint32_t>{1});
  CHECK(once() == std::vector<std::uint32_t>{2});
  CHECK(once().empty());
}

TEST_CASE("tasks that wait for inputs elsewhere are not counted as unfinished") {
  tasks_elsewhere e;
  for (int i = 0; i < 3; ++i) e.note_sent();
  e.note_ahead();
  CHECK(e.unfinished() == 2);
  e.note_back();
  CHECK(e.unfinished() == 1);
  e.note_ahead_back();
  CHECK(e.unfinished() == 2);
  e.clear();
  CHECK(e.unfinished() == 0);
}

TEST_CASE("a work queue does the work in its order, in one loop") {
  work_queue<int> queue;
  std::vector<int> done;
  const auto work = [&](auto& self, int item) -> void {
    if (!queue.add(item)) return;
    for (int next = 0; queue.take(next);) {
      done.push_back(next);
      if (next < 4) {
        self(self, 2 * next);
        self(self, 2 * next + 1);
      }
    }
  };
  work(work, 1);
  CHECK(done == std::vector<int>{1, 2, 3, 4, 5, 6, 7});
  work(work, 9);
  CHECK(done.back() == 9);
}
