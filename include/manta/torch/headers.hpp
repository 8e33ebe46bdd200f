// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The headers of libtorch. These define CHECK, LOG and others of glog's macros, which silently replace those of doctest
// and other libraries: a macro that the program had before has its former meaning afterwards.
#pragma once

#include "manta/base/config.hpp"

#pragma push_macro("CHECK")
#pragma push_macro("CHECK_EQ")
#pragma push_macro("CHECK_NE")
#pragma push_macro("CHECK_LT")
#pragma push_macro("CHECK_LE")
#pragma push_macro("CHECK_GT")
#pragma push_macro("CHECK_GE")
#pragma push_macro("LOG")

#include <ATen/autocast_mode.h>
#include <torch/script.h>
#include <torch/torch.h>  // not found? Install libtorch-dev, add -isystem /usr/include/torch/csrc/api/include

#pragma pop_macro("CHECK")
#pragma pop_macro("CHECK_EQ")
#pragma pop_macro("CHECK_NE")
#pragma pop_macro("CHECK_LT")
#pragma pop_macro("CHECK_LE")
#pragma pop_macro("CHECK_GT")
#pragma pop_macro("CHECK_GE")
#pragma pop_macro("LOG")
