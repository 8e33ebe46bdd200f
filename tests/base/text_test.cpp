// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "manta/base/text.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

using manta::base::text;

TEST_CASE("values stand in the places of {}, in their order") {
  const std::string host = "node17";
  CHECK(text("rank {} of {} on {}: '{}'", 3, 8u, host, 'x') == "rank 3 of 8 on node17: 'x'");
  CHECK(text("no value") == "no value");
  CHECK(text("{}", "alone") == "alone");
  CHECK(text("{}{}", std::string("a"), std::string_view("b")) == "ab");
}

TEST_CASE("a value that contains {} stays as it is") { CHECK(text("{} and {}", "{}", 1) == "{} and 1"); }

TEST_CASE("numbers are written whole, and with as few digits as tell them from all others") {
  CHECK(text("{} {}", std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::uint64_t>::max()) ==
        "-9223372036854775808 18446744073709551615");
  CHECK(text("{} {} {}", 0.1, 0.1f, 8425503402.0) == "0.1 0.1 8425503402");
  CHECK(text("{} {}", std::numeric_limits<double>::infinity(), 1e-300) == "inf 1e-300");
}
