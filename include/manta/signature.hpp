// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How a C++ function becomes something that can be called elsewhere: its
// parameters, what may be passed for each, how the arguments are written on one
// side and read on the other. Used by async and spawn.
#pragma once

#include "manta/call/argument_form.hpp"
#include "manta/call/argument_reader.hpp"
#include "manta/call/argument_writer.hpp"
#include "manta/call/requirements.hpp"
#include "manta/call/signature.hpp"
