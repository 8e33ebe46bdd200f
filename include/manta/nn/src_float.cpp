// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "manta/nn/src_float.hpp"  // IWYU pragma: keep
