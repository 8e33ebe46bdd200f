// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The containers of plain records, against those of the standard library.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <random>
#include <unordered_map>
#include <vector>

#include "manta/base/containers.hpp"
#include "manta/base/shared.hpp"

using manta::base::index_table;
using manta::base::list;
using manta::base::ring;

namespace {

std::mt19937_64 random_numbers() {
  const char* const given = std::getenv("MANTA_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  MESSAGE("MANTA_TEST_SEED=" << seed);
  return std::mt19937_64(seed);
}

struct record : manta::base::counted {
  explicit record(int v) : value(v) { ++alive; }
  record(const record& other) : counted(other), value(other.value) { ++alive; }
  ~record() { --alive; }
  int value;
  static inline int alive = 0;
};

}  // namespace

TEST_CASE("a list agrees with std::vector") {
  auto draw = random_numbers();
  list<int> mine;
  std::vector<int> theirs;
  bool ok = true;
  for (int i = 0; i < 20'000; ++i) {
    switch (draw() % 8) {
      case 0:
        if (!theirs.empty()) mine.pop_back(), theirs.pop_back();
        break;
      case 1: {  // by value, the first of its kind, in order
        const int value = static_cast<int>(draw() % 50);
        const auto at = std::find(theirs.begin(), theirs.end(), value);
        ok = ok && mine.remove(value) == (at != theirs.end());
        if (at != theirs.end()) theirs.erase(at);
        break;
      }
      case 2:
        if (!theirs.empty()) {
          const std::size_t at = draw() % theirs.size();
          mine.remove_unordered(at);
          theirs[at] = theirs.back();
          theirs.pop_back();
        }
        break;
      case 3:
        if (draw() % 20 == 0) {
          const std::size_t count = draw() % 200;
          mine.resize(count, -1);
          theirs.resize(count, -1);
        }
        break;
      default: mine.push_back(i % 50); theirs.push_back(i % 50);
    }
    ok = ok && mine.size() == theirs.size() && mine.empty() == theirs.empty() &&
         std::equal(mine.begin(), mine.end(), theirs.begin());
  }
  CHECK(ok);
  list<int> moved(std::move(mine));
  CHECK(mine.empty());  // NOLINT(bugprone-use-after-move): promised
  CHECK(moved.size() == theirs.size());
}

TEST_CASE("a list can take an element of its own") {
  list<int> numbers;
  numbers.push_back(7);
  for (int i = 0; i < 100; ++i) numbers.push_back(numbers[0]);
  CHECK(std::count(numbers.begin(), numbers.end(), 7) == 101);
}

TEST_CASE("a ring agrees with std::deque, also when it grows with its ends wrapped around") {
  auto draw = random_numbers();
  for (int round = 0; round < 50; ++round) {
    ring<std::uint64_t> mine;
    std::deque<std::uint64_t> theirs;
    bool ok = true;
    for (int i = 0; i < 2000; ++i) {
      if (theirs.empty() || draw() % 100 < 55) {
        const std::uint64_t value = draw();
        mine.push_back(value);
        theirs.push_back(value);
      } else {
        ok = ok && mine.front() == theirs.front() && mine.pop_front() == theirs.front();
        theirs.pop_front();
      }
      ok = ok && mine.size() == theirs.size();
    }
    while (!theirs.empty()) {
      ok = ok && mine.pop_front() == theirs.front();
      theirs.pop_front();
    }
    CHECK(ok);
    CHECK(mine.empty());
  }
}

TEST_CASE("an index_table agrees with std::unordered_map") {
  auto draw = random_numbers();
  for (const std::uint64_t keys : {4u, 40u, 4000u}) {
    index_table mine;
    std::unordered_map<std::uint64_t, std::uint64_t> theirs;
    bool ok = true;
    for (int i = 0; i < 30'000; ++i) {
      const std::uint64_t key = (draw() % keys) << (draw() % 2 * 32);
      switch (draw() % 3) {
        case 0:
          mine.insert(key) += 3;
          theirs[key] += 3;
          break;
        case 1:
          mine.erase(key);
          theirs.erase(key);
          break;
        default: {
          const std::uint64_t* value = mine.find(key);
          const auto at = theirs.find(key);
          ok = ok && (value == nullptr) == (at == theirs.end()) && (value == nullptr || *value == at->second);
        }
      }
      ok = ok && mine.size() == theirs.size();
    }
    std::size_t visited = 0;
    mine.for_each([&](std::uint64_t key, std::uint64_t value) {
      ++visited;
      ok = ok && theirs.count(key) == 1 && theirs[key] == value;
    });
    CHECK(ok);
    CHECK(visited == theirs.size());
  }
}

TEST_CASE("a shared record dies with its last owner, and a copy of it has owners of its own") {
  using shared = manta::base::shared<const record>;
  {
    shared first(new record(5));
    CHECK(first->owners == 1);
    shared second = first;
    CHECK(first->owners == 2);
    const shared third = std::move(second);
    CHECK(second == nullptr);  // NOLINT(bugprone-use-after-move): promised
    CHECK(third->owners == 2);
    const shared copy(new record(*third));
    CHECK(copy->owners == 1);
    CHECK(copy->value == 5);
    first = nullptr;
    CHECK(third->owners == 1);
    CHECK(record::alive == 2);
  }
  CHECK(record::alive == 0);
}
