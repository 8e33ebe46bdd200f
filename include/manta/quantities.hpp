// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Named amounts of resources: what ranks offer, and what tasks, actors and bundles take of it.
//
//   manta::async<solve>({.resources = {{"licence", 1}, {"memory", 0.5}}}, problem);
#pragma once

#include "manta/graph/quantity.hpp"

namespace manta {

/// A list of names with their amounts. What a name means is the program's own matter.
using quantities = graph::quantities;

}  // namespace manta
