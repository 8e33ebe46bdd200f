// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Small networks.
#pragma once

#include "manta/nn/source.hpp"
