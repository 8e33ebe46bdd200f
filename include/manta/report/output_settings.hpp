// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a run is to say of itself: the settings of these names (options.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace manta::report {

struct output_settings {
  std::string summary = {};
  std::string report = {};
  std::string metrics = {};
  std::string trace = {};
  std::uint64_t trace_bytes = 0;
  double status = 0;
  std::string status_file = {};
  std::string state = {};
  bool slurm_comment = false;
  /// All settings that the environment or the command line gives, with their values.
  std::vector<std::pair<std::string, std::string>> changed = {};
};

}  // namespace manta::report
