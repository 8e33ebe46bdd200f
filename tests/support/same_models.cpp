// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The other file of serve's deployment_test with the classes of same_models.hpp.
namespace {
constexpr int of_this_file = 20;
}

#include "same_models.hpp"

std::vector<int> answers_of_other_file() { return answers_of_this_file(); }
