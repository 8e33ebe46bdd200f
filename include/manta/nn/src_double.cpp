// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "manta/nn/src_double.hpp"  // IWYU pragma: keep
