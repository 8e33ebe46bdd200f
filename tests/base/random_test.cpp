// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "manta/base/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using manta::base::random_numbers;

TEST_CASE("number i is that of splitmix64, whatever was asked before") {
  const random_numbers r(1234567);  // the first numbers of the published code for this seed
  CHECK(r.bits(2) == 9817491932198370423ULL);
  CHECK(r.bits(0) == 6457827717110365317ULL);
  CHECK(r.bits(1) == 3203168211198807973ULL);
}

TEST_CASE("numbers lie inside of (0, 1), or in [0, 1), with a mean of one half") {
  const random_numbers r(7);
  double sum = 0, least = 1, largest = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    sum += r.inside(i);
    least = std::min(least, r.inside(i));
    largest = std::max(largest, r.inside(i));
    CHECK(r.inside(i) >= r.from_zero(i));
  }
  CHECK(least > 0);
  CHECK(largest < 1);
  CHECK(sum / 10'000 == doctest::Approx(0.5).epsilon(0.02));
}

TEST_CASE("a stream of a seed has the same numbers in every version: results of trainings depend on them") {
  const random_numbers r(manta::base::mix(7), 3, 1, 0xd1b54a32d192ed03U);
  CHECK(r.bits(0) == 0xedf4c93178d83c1ULL);
  CHECK(r.bits(1) == 0x81287141863af773ULL);
}
