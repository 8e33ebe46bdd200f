// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the programs include that tests start, as world.hpp beside it for the tests. They link no doctest.
#include <manta/manta.hpp>
