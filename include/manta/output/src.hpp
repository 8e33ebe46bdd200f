// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of output, the outputs that the libraries share, compiled once in the compiled mode
// (base/config.hpp). manta/src.hpp includes this file: the engine writes with them too.
#pragma once

#ifndef MANTA_COMPILED
#error "manta/output/src.hpp belongs to the compiled mode: compile every unit of the program with -DMANTA_COMPILED"
#endif
#define MANTA_SOURCE

#include "manta/output/append_file.ipp"
#include "manta/output/bytes.ipp"
#include "manta/output/compare.ipp"
#include "manta/output/crc32c.ipp"
#include "manta/output/csv.ipp"
#include "manta/output/hparams.ipp"
#include "manta/output/json_lines.ipp"
#include "manta/output/page.ipp"
#include "manta/output/row.ipp"
#include "manta/output/saved_state.ipp"
#include "manta/output/tensorboard.ipp"

namespace manta::output {
MANTA_PROVIDES_SOURCE(one_source_of_this_program_has_to_include_manta_src_hpp);
}
