// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Ranks and nodes by their numbers, for the places that a task or an actor must not have.
//
//   manta::async<compress>({.except = {{0, 3}}}, block);              // on any rank but 0 and 3
//   manta::spawn<cache>({.except = {.nodes = {manta::node()}}});      // on another node
#pragma once

#include "manta/graph/places.hpp"  // IWYU pragma: export
