// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// All that split.cpp sees of scale.cu: a plain C++ function.
#pragma once

#include <vector>

/// The elements times the factor, computed on this device. Throws std::runtime_error with CUDA's words.
std::vector<double> scaled_on(int device, std::vector<double> v, double factor);
