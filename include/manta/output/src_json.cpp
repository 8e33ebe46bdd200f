// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "manta/output/src_json.hpp"  // IWYU pragma: keep
