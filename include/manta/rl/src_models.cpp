// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "manta/rl/src_models.hpp"  // IWYU pragma: keep
