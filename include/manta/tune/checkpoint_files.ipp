// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/tune/checkpoint_files.hpp"

namespace manta::tune {

MANTA_DECL void checkpoint_files::add(const std::string& file, trial_number owner, std::uint64_t iteration,
                                      std::size_t bytes) {
  const int users = files_.contains(file) ? files_.at(file).users : 0;
  if (contains(file)) forget(file);
  files_[file] = {owner, iteration, infinity, bytes, users};
  of_[owner].push_back(file);
  bytes_ += bytes;
  changed_.insert(owner);
}

MANTA_DECL void checkpoint_files::score(trial_number owner, std::uint64_t iteration, double score) {
  const auto of = of_.find(owner);
  if (of == of_.end()) return;
  entry& last = files_.at(of->second.back());
  if (last.iteration != iteration) return;
  last.score = score;
  changed_.insert(owner);
}

MANTA_DECL void checkpoint_files::use(const std::string& file, int by) {
  const auto at = files_.find(file);
  if (at == files_.end()) return;
  at->second.users += by;
  if (by < 0) changed_.insert(at->second.owner);
}

MANTA_DECL void checkpoint_files::forget(const std::string& file) {
  const auto at = files_.find(file);
  const trial_number owner = at->second.owner;
  bytes_ -= at->second.bytes;
  files_.erase(at);
  std::erase(of_[owner], file);
  if (of_[owner].empty()) of_.erase(owner);
}

MANTA_DECL const std::pair<const std::string, checkpoint_files::entry>* checkpoint_files::best_of(
    trial_number owner) const {
  const auto of = of_.find(owner);
  if (of == of_.end()) return nullptr;
  const std::pair<const std::string, entry>* best = nullptr;
  for (const std::string& file : of->second) {
    const auto& each = *files_.find(file);
    if (best == nullptr || each.second.score <= best->second.score) best = &each;
  }
  return best;
}

}  // namespace manta::tune
