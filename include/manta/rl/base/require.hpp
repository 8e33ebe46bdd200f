// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What options and learners have to satisfy. All functions throw manta::error, which says what is wrong and what to do.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "manta/output/members.hpp"
#include "manta/rl/source.hpp"

namespace manta::rl::detail {

/// The option is positive: ".workers is 0; at least one is needed".
MANTA_DECL void require_one(const char* option, int value, const char* unit = "");

/// The number is one that an option of this name can have: from 0 to 1 for ".discount" and its like, else not negative,
/// and never NaN.
MANTA_DECL void require_sense(const std::string& option, double value);
/// Each number of an algorithm's options is one that an option of its name can have.
template <class Options>
void require_sense(Options o) {
  output::visit_members(o, [](const std::string& name, auto& value) {
    if constexpr (std::is_same_v<decltype(value), int&> || std::is_same_v<decltype(value), double&>)
      require_sense(name, static_cast<double>(value));
    if constexpr (std::is_same_v<decltype(value), std::optional<double>&>) {
      if (value) require_sense(name, *value);
    }
  });
}

/// Whether all are finite, also under -ffast-math.
[[nodiscard]] MANTA_DECL bool all_finite(std::span<const float> numbers);
/// What a learner has computed is finite: "the loss is not finite: the training has diverged. ..".
MANTA_DECL void require_finite(const char* what, double number);
/// Throws the error that require_finite throws.
[[noreturn]] MANTA_DECL void fail_diverged(const char* what);
/// "not finite: the training has diverged. ..", for sentences that begin in another way.
MANTA_DECL const char* divergence();

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/base/require.ipp"
#endif
