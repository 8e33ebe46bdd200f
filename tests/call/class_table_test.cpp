// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>

#include "manta/call/class_table.hpp"

using manta::detail::class_table;

namespace {

std::string words() { return "the model 'resnet'"; }

}  // namespace

TEST_CASE("a class is found by its name, or by its number where two classes have the same name") {
  class_table<int> table;
  CHECK(table.add("one", 1) == 0);
  CHECK(table.add("two", 2) == 1);
  CHECK(table.add("two", 3) == 2);
  CHECK(table.at(words, "one") == 1);
  CHECK(table.at(words, "two") == 2);
  CHECK(table.at(words, "two", 2) == 3);
  CHECK(table.at(words, "one", 2) == 1);  // the number is that of another class
  CHECK(*table.find("two", 17) == 2);
}

TEST_CASE("a class that the program does not have is named, with what to do") {
  class_table<int> table;
  table.add("one", 1);
  CHECK(table.find("three") == nullptr);
  CHECK_THROWS_WITH_AS(
      table.at(words, "three", 0),
      "manta: this rank's program does not have the model 'resnet': start the same program on all ranks", manta::error);
}
