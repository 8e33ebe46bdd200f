// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Amounts as people read them: 1 204 311, 5.57 s, 87.5 GiB, 61 %, 1:02:11.
#pragma once

#include "manta/base/config.hpp"

#include <cstdint>
#include <string>

namespace manta::base {

/// A whole number in groups of three digits: 1 204 311.
MANTA_DECL std::string count_text(std::uint64_t count);
/// A number with `digits` significant digits, without zeros at its end and without an exponent: 0.72, 5.57, 312.
MANTA_DECL std::string number_text(double number, int digits = 3);
/// A duration in its own unit: 900 ns, 41 us, 5.57 s, 43.2 min, 2.91 h.
MANTA_DECL std::string duration_text(double seconds, int digits = 3);
/// A point in time as a clock shows it, from the begin of the run: 0:07, 3:26, 1:02:11.
MANTA_DECL std::string clock_text(double seconds);
/// The length of a run: 12 s, from a minute on as a clock shows it.
MANTA_DECL std::string length_text(double seconds);
/// A number of bytes in powers of 1024: 640 bytes, 48 MiB, 87.5 GiB.
MANTA_DECL std::string bytes_text(std::uint64_t bytes);
/// A share of a whole: 61 %, 0.4 %, 0 %.
MANTA_DECL std::string percent_text(double share);
/// A number of things: 1 task, 2 tasks.
MANTA_DECL std::string things_text(std::uint64_t count, const char* one, const char* many);

}  // namespace manta::base

#ifndef MANTA_COMPILED
#include "manta/base/amounts.ipp"
#endif
