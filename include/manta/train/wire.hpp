// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The form in which gradients travel between workers.
#pragma once

#include "manta/train/source.hpp"

namespace manta::train {

/// as_is: as the module has them. bfloat16: half the bytes of float; what rounding takes off a gradient is added to it
/// in the next step. Parameters keep their full precision.
enum class wire { as_is, bfloat16 };

/// For options: `.exchange = train::bfloat16`.
inline constexpr wire bfloat16 = wire::bfloat16;

}  // namespace manta::train
