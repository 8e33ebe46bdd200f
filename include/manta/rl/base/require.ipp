// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/base/require.hpp"

namespace manta::rl::detail {

MANTA_DECL void require_one(const char* option, int value, const char* unit) {
  if (value >= 1) return;
  throw error(base::text("manta: rl: {} is {}; at least one{} is needed", option, value, unit));
}

MANTA_DECL void require_sense(const std::string& option, double value) {
  constexpr std::array<std::string_view, 4> parts = {"discount", "lambda", "epsilon", "replay_beta"};
  constexpr std::array<std::string_view, 2> any_sign = {"target_entropy", "replay_rank"};
  const bool is_part = std::find(parts.begin(), parts.end(), option) != parts.end(),
             has_sign = std::find(any_sign.begin(), any_sign.end(), option) != any_sign.end();
  if (!base::is_nan(value) && (has_sign || value >= 0) && (!is_part || value <= 1)) return;
  char number[32];
  std::snprintf(number, sizeof number, "%g", value);
  throw error("manta: rl: ." + option + " is " + number + "; it has to be " +
              (is_part    ? "from 0 to 1"
               : has_sign ? "a number"
                          : "a number that is not negative"));
}

MANTA_DECL bool all_finite(std::span<const float> numbers) {
  constexpr std::uint32_t exponent = 0x7f80'0000;
  std::uint32_t found = 0;
  for (const float x : numbers) found += (std::bit_cast<std::uint32_t>(x) & exponent) == exponent;
  return found == 0;
}
MANTA_DECL const char* divergence() {
  return "not finite: the training has diverged. Begin anew, or from an earlier checkpoint, with a smaller .rate";
}
MANTA_DECL void fail_diverged(const char* what) { throw error("manta: rl: " + std::string(what) + " " + divergence()); }
MANTA_DECL void require_finite(const char* what, double number) {
  if (!base::is_finite(number)) fail_diverged(what);
}

}  // namespace manta::rl::detail
