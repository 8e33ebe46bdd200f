// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Opt-in: libtorch, PyTorch's C++ library, with manta (Debian: libtorch-dev; 1.13 and newer).
//
//   manta::torch_module<float>    a network of libtorch, or a TorchScript file, for train, data_parallel and serve
//   manta::torch_tensor           tensors as arguments and results of tasks
//
// Compile with -isystem /usr/include/torch/csrc/api/include, link with -ltorch -ltorch_cpu -lc10. Each unit that
// includes this header takes the compiler a minute; manta/torch/module.hpp and manta/serve/torch.hpp, which are enough
// for TorchScript files, are quick in the compiled mode. The types are in manta itself, because a namespace
// manta::torch would hide libtorch's from programs that say `using namespace manta`.
#pragma once

#include "manta/torch/module.hpp"
#include "manta/torch/own.hpp"
#include "manta/torch/tensor.hpp"
