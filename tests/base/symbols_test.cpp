// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "manta/base/symbols.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

namespace hidden {
template <class T>
[[gnu::noinline]] static T twice(T x) {
  asm volatile("");
  return 2 * x;
}
}  // namespace hidden

namespace {
void* address_in(int (*function)(int)) {
  void* address = nullptr;
  std::memcpy(&address, &function, sizeof address);
  return static_cast<char*>(address) + 1;
}
}  // namespace

TEST_CASE("a function of the program has its name, be it local or a template") {
  void* const addresses[] = {address_in(&hidden::twice<int>)};
  const auto places = manta::base::code_places(addresses);
  REQUIRE(places.size() == 1);
  CHECK(places[0].function == "hidden::twice<int>(int)");
  CHECK(places[0].is_program);
  CHECK(hidden::twice(1) == 2);
}

TEST_CASE("a function of a shared library has its exported name") {
  void* address = nullptr;
  int (*const function)(const char*) = &std::atoi;
  std::memcpy(&address, &function, sizeof address);
  void* const addresses[] = {address};
  const auto places = manta::base::code_places(addresses);
  REQUIRE(places.size() == 1);
  CHECK(places[0].function == "atoi");
  CHECK_FALSE(places[0].is_program);
  CHECK(places[0].file.starts_with("libc.so"));
}

TEST_CASE("an address that belongs to nothing has no name, and is no error") {
  void* const addresses[] = {nullptr};
  const auto places = manta::base::code_places(addresses);
  REQUIRE(places.size() == 1);
  CHECK(places[0].function.empty());
}

TEST_CASE("return types and unnamed namespaces are left out of names") {
  using manta::base::without_return_type;
  CHECK(without_return_type("double f<int>(int)") == "f<int>(int)");
  CHECK(without_return_type("std::vector<int, std::allocator<int> > g<int>(int)") == "g<int>(int)");
  CHECK(without_return_type("(anonymous namespace)::solve(mesh const&)") == "solve(mesh const&)");
  CHECK(without_return_type("main::{lambda(int)#1}::operator()(int) const") ==
        "main::{lambda(int)#1}::operator()(int) const");
  CHECK(without_return_type("bool operator< <int>(int, int)") == "operator< <int>(int, int)");
  CHECK(without_return_type("main") == "main");
}
