// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Included by each header of output, which has no mark of its own for a missing source: manta's is enough.
#pragma once

#include "manta/base/config.hpp"
