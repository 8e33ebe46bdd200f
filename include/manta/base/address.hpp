// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Addresses as numbers, for places of which it is not known whether they lie in one object: stacks, faults.
#pragma once

#include <cstdint>

namespace manta::base {

inline std::uintptr_t address_of(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }
/// The place that has this address.
inline void* place_at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

}  // namespace manta::base
