// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What every example includes: compiled once for all of them (examples/meson.build). An example still includes all that it
// uses, for a user compiles it alone.
#include <iostream>
#include <manta/manta.hpp>
