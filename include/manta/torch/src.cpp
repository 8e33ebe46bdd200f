// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "manta/torch/src.hpp"  // IWYU pragma: keep
