// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// base/sorting.hpp beside std::stable_sort: the same order, also of equal elements.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "manta/base/sorting.hpp"

namespace {

struct entry {
  int key = 0;
  std::string name;
  bool operator==(const entry&) const = default;
};

std::vector<entry> some(std::size_t count, int keys) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<entry> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back({static_cast<int>(random() % static_cast<unsigned>(keys)), std::to_string(i)});
  return all;
}

}  // namespace

TEST_CASE("elements are sorted, and equal ones keep their order") {
  for (const std::size_t count : {0U, 1U, 2U, 3U, 7U, 8U, 9U, 100U, 1000U}) {
    for (const int keys : {1, 3, 1000}) {
      CAPTURE(count);
      CAPTURE(keys);
      std::vector<entry> rising = some(count, keys), falling = rising, expected = rising;
      manta::base::sort(rising, [](const entry& a, const entry& b) { return a.key < b.key; });
      std::stable_sort(expected.begin(), expected.end(), [](const entry& a, const entry& b) { return a.key < b.key; });
      CHECK(rising == expected);
      expected = falling;
      manta::base::sort_falling(falling, &entry::key);
      std::stable_sort(expected.begin(), expected.end(), [](const entry& a, const entry& b) { return a.key > b.key; });
      CHECK(falling == expected);
    }
  }
}
