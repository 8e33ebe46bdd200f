// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definition of named_offline.hpp.
#pragma once

#include <sstream>

#include "manta/error.hpp"
#include "manta/rl/offline/named_offline.hpp"

namespace manta::rl::detail {

MANTA_DECL episodes named_episodes(const any_environment& e, const named_options& values) {
  std::vector<std::string> files;
  if (const auto found = values.find("data"); found != values.end()) {
    std::istringstream names(found->second);
    for (std::string name; std::getline(names, name, ',');) files.push_back(name);
  }
  if (files.empty())
    throw error(
        "manta: rl: the option data names no file; it takes those that rl::record has written, or .npz, with commas "
        "between them");
  return read_episodes(files, {.environment = e});
}

}  // namespace manta::rl::detail
