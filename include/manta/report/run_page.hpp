// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The page about a run, MANTA_REPORT=report.html: one file that needs no network. Its pictures are drawn from bins of
// time, and not from tasks, so that it is as large after a billion tasks as after a hundred.
#pragma once

#include <string>

#include "manta/report/statistics.hpp"

namespace manta::report {

/// The whole file. A page about a run that goes on reloads itself.
MANTA_DECL std::string run_page(const statistics& s);

}  // namespace manta::report

#ifndef MANTA_COMPILED
#include "manta/report/run_page.ipp"
#endif
