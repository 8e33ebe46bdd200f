// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Data-parallel training.
#pragma once

#include "manta/train/source.hpp"
