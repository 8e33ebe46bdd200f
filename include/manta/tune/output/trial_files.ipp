// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of trial_files.hpp.
#pragma once

#include "manta/tune/output/trial_files.hpp"

namespace manta::tune::detail {

MANTA_DECL std::pair<trial_files::sheet*, bool> trial_files::of(trial_number t) {
  const auto [at, is_new] = sheets_.try_emplace(t);
  if (is_new) {
    const std::string folder = trial_folder(context_, t);
    manta::output::make_folders(folder);
    at->second.file = manta::output::append_file(folder + "/" + name_);
  }
  return {&at->second, is_new};
}

MANTA_DECL void trial_files::end(const trial_record& t) {
  const auto at = sheets_.find(t.id);
  if (at == sheets_.end()) return;
  at->second.file.flush();
  if (t.state != status::failed) sheets_.erase(at);
}

MANTA_DECL void trial_files::flush() {
  for (auto& [id, s] : sheets_) s.file.flush();
}

}  // namespace manta::tune::detail
