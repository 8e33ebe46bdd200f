// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Outputs that the libraries share, and that any program may write its progress
// with: rows of named values as CSV, JSON lines and TensorBoard's event files, and a
// report page for the browser. None of them communicates: they write files of the calling process.
//
//   manta::output::csv table("run/progress.csv");
//   table.write(step, {{"loss", 0.25}, {"accuracy", 0.9}});
#pragma once

#include "manta/base/config.hpp"

#include "manta/output/csv.hpp"
#include "manta/output/json_lines.hpp"
#include "manta/output/page.hpp"
#include "manta/output/tensorboard.hpp"
