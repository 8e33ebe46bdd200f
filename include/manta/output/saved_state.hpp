// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A file with the whole state of something that goes on later: a mark for its kind, a checksum, and bytes (bytes.hpp).
// The file is replaced at once or not at all: a full disk or a killed job leaves the one that was there.
#pragma once

#include <string>

#include "manta/output/source.hpp"

namespace manta::output {

/// Makes missing folders of the path. Throws manta::error with the path and the system's reason; the old file is intact
/// then. `kind` says what the bytes are, as in "train".
MANTA_DECL void write_state(const std::string& path, const std::string& kind, const std::string& bytes);

/// Throws manta::error if there is no such file, it is damaged, or it is of another kind, and says which. `kind` may be
/// the first words of what was written: "rl" reads a file of "rl ppo".
MANTA_DECL std::string read_state(const std::string& path, const std::string& kind);

}  // namespace manta::output

#ifndef MANTA_COMPILED
#include "manta/output/saved_state.ipp"
#endif
