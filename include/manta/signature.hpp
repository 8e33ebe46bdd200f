// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How a C++ function becomes something that another rank can call: its parameters, what may be passed for each, how one
// side writes the arguments and the other side reads them. async and spawn use it.
#pragma once

#include "manta/call/argument_form.hpp"
#include "manta/call/argument_reader.hpp"
#include "manta/call/argument_writer.hpp"
#include "manta/call/requirements.hpp"
#include "manta/call/signature.hpp"
