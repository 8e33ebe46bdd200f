// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The checksum of journals and of TensorBoard's event files: CRC-32C, with
// Castagnoli's polynomial. "123456789" has e3069283.
#pragma once

#include <cstdint>
#include <string_view>

#include "manta/output/source.hpp"

namespace manta::output {

/// Eight bytes at a time by tables (Kounavis, Berry 2005: "slicing by 8").
MANTA_DECL std::uint32_t crc32c(std::string_view bytes);

}  // namespace manta::output

#ifndef MANTA_COMPILED
#include "manta/output/crc32c.ipp"
#endif
