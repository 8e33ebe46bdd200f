// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "manta/serve/src_http.hpp"  // IWYU pragma: keep
