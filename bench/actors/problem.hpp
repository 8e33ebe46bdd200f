// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P12: ten thousand actors are created on the other rank, each answers one call,
// and all end. The time runs from the first creation until the last answer is
// read; ending them is measured apart.
#pragma once

namespace actors {

inline constexpr int actors = 10'000;

class counter {
 public:
  explicit counter(int start) : value_(start) {}
  int next() { return ++value_; }

 private:
  int value_;
};

}  // namespace actors
