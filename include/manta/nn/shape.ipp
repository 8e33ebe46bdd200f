// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/nn/shape.hpp"

namespace manta::nn {

MANTA_DECL int shape::size() const {
  int n = 1;
  for (int extent : extents_) n *= extent;
  return n;
}

MANTA_DECL std::string shape::text() const {
  std::string s;
  for (int extent : extents_) s += (s.empty() ? "" : " x ") + std::to_string(extent);
  return s;
}

}  // namespace manta::nn
