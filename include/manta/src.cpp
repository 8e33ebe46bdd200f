// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The source of libmanta.a. A program may add this file to its own sources instead, or include src.hpp in one of them.
#include "manta/src.hpp"
