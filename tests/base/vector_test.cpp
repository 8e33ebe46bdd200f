// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The vector of the engine's records, against that of the standard library.
#include "manta/base/vector.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "manta/base/sorting.hpp"

namespace {

/// A record with a long text; it counts the objects that are alive.
struct record {
  explicit record(int v) : value(v), text("a text that is too long for the string itself: " + std::to_string(v)) {
    if (v == refused) throw std::runtime_error("refused");
    ++alive;
  }
  record() : record(0) {}
  record(const record& other) : value(other.value), text(other.text) { ++alive; }
  record(record&& other) noexcept : value(other.value), text(std::move(other.text)) { ++alive; }
  record& operator=(const record&) = default;
  record& operator=(record&&) noexcept = default;
  ~record() { --alive; }
  bool operator==(const record&) const = default;

  static constexpr int refused = -1;
  int value;
  std::string text;
  static inline int alive = 0;
};

using records = manta::base::vector<record>;

void check_same(const records& ours, const std::vector<record>& theirs) {
  REQUIRE(ours.size() == theirs.size());
  for (std::size_t i = 0; i < theirs.size(); ++i) REQUIRE(ours[i] == theirs[i]);
}

}  // namespace

TEST_CASE("A vector holds what std::vector holds after the same random operations") {
  const char* const given = std::getenv("MANTA_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  MESSAGE("MANTA_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  {
    records ours;
    std::vector<record> theirs;
    for (int step = 0; step < 3000; ++step) {
      const auto below = [&](std::size_t end) { return static_cast<std::ptrdiff_t>(random() % end); };
      const std::ptrdiff_t at = below(theirs.size() + 1);
      switch (random() % 10) {
        case 0:
        case 1: ours.push_back(record(step)), theirs.push_back(record(step)); break;
        case 2: ours.emplace_back(step), theirs.emplace_back(step); break;
        case 3:
          CHECK(*ours.insert(ours.begin() + at, record(step)) == record(step));
          theirs.insert(theirs.begin() + at, record(step));
          break;
        case 4:
          if (theirs.empty()) break;
          ours.pop_back(), theirs.pop_back();
          break;
        case 5: {
          const std::ptrdiff_t end = at + below(theirs.size() + 1 - static_cast<std::size_t>(at)) / 4;
          ours.erase(ours.begin() + at, ours.begin() + end), theirs.erase(theirs.begin() + at, theirs.begin() + end);
          break;
        }
        case 6: {
          const auto count = theirs.size() + random() % 4;
          ours.resize(count), theirs.resize(count);
          break;
        }
        case 7: {
          const std::vector<record> more(random() % 4, record(step));
          ours.append(more), theirs.insert(theirs.end(), more.begin(), more.end());
          break;
        }
        case 8: {
          records copy = ours;
          CHECK(copy == ours);
          ours = std::move(copy);
          if (!theirs.empty()) ours.push_back(ours.front()), theirs.push_back(theirs.front());
          break;
        }
        default:
          if (theirs.size() > 40) ours.clear(), theirs.clear();
      }
      check_same(ours, theirs);
      REQUIRE(record::alive == static_cast<int>(ours.size() + theirs.size()));
    }
    manta::base::sort(ours, [](const record& a, const record& b) { return a.value % 7 < b.value % 7; });
    for (std::size_t i = 1; i < ours.size(); ++i) CHECK(ours[i - 1].value % 7 <= ours[i].value % 7);
  }
  CHECK(record::alive == 0);
}

TEST_CASE("An element whose constructor throws is no element of the vector") {
  {
    records ours;
    ours.emplace_back(1);
    CHECK_THROWS_AS(ours.emplace_back(record::refused), std::runtime_error);
    CHECK(ours.size() == 1);
  }
  CHECK(record::alive == 0);
}

TEST_CASE("A vector from which another one took the elements is empty") {
  records one = {record(1), record(2)};
  const records two = std::move(one);
  CHECK(one.empty());
  CHECK(two.back() == record(2));
  CHECK_FALSE(two == one);
}
