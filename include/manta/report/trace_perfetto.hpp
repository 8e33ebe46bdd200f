// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A trace in Perfetto's own format, protobuf, which takes less than half of the bytes of JSON. It needs protozero
// (Debian's libprotozero-dev) where manta is compiled; without it, no such format can be made.
#pragma once

#include <memory>

#include "manta/report/trace_format.hpp"

namespace manta::report {

/// The format, or null where protozero was not found.
MANTA_DECL std::unique_ptr<trace_format> perfetto_format();

}  // namespace manta::report

#ifndef MANTA_COMPILED
#include "manta/report/trace_perfetto.ipp"
#endif
