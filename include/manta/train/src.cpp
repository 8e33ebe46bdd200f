// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "manta/train/src.hpp"  // IWYU pragma: keep
