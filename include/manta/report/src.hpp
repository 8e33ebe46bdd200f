// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of report/, compiled once in the compiled mode (base/config.hpp). manta/src.hpp includes this file.
#pragma once

#ifndef MANTA_COMPILED
#error "manta/report/src.hpp belongs to the compiled mode: compile every unit of the program with -DMANTA_COMPILED"
#endif
#define MANTA_SOURCE

#include "manta/report/advice.ipp"
#include "manta/report/children.ipp"
#include "manta/report/outputs.ipp"
#include "manta/report/rules.ipp"
#include "manta/report/run_metrics.ipp"
#include "manta/report/run_page.ipp"
#include "manta/report/run_state.ipp"
#include "manta/report/shares.ipp"
#include "manta/report/statistics.ipp"
#include "manta/report/statistics_json.ipp"
#include "manta/report/status.ipp"
#include "manta/report/summary.ipp"
#include "manta/report/text_table.ipp"
#include "manta/report/trace_arrows.ipp"
#include "manta/report/trace_file.ipp"
#include "manta/report/trace_json.ipp"
#include "manta/report/trace_perfetto.ipp"
#include "manta/report/trace_records.ipp"
#include "manta/report/trace_rows.ipp"
