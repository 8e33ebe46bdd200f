// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Reinforcement learning.
#pragma once

#include "manta/rl/source.hpp"
