// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The version of manta, as meson.build has it.
#pragma once

namespace manta {

inline constexpr const char* version = "0.1.0";

}  // namespace manta
