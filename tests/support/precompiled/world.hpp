// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What nearly every test includes: compiled once for all of them (tests/meson.build). A test still includes all that it
// uses: scripts/test --long also builds without this header.
#include "../world.hpp"
