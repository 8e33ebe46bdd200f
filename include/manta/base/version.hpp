// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The version of manta, as meson.build has it.
#pragma once

/// For the preprocessor: 10000 * major + 100 * minor + patch.
#define MANTA_VERSION 100

namespace manta {

inline constexpr const char* version = "0.1.0";

}  // namespace manta
