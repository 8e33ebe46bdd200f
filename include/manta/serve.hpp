// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Model serving.
#pragma once

#include "manta/serve/source.hpp"
