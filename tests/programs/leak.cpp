// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Loses memory on purpose: with the address sanitizer, main.cpp has to find it.
#include <doctest/doctest.h>

TEST_CASE("a leak") {
  int* volatile lost = new int[100];
  lost = nullptr;
  CHECK(lost == nullptr);
}
