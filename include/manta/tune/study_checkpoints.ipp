// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Checkpoints on disk: which file a trial would go on from, and which files go.
#pragma once

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "manta/tune/study.hpp"

namespace manta::tune {

MANTA_DECL void study::set_checkpoint(trial_record& r, std::uint64_t iteration, const std::string& file) {
  if (!r.ended()) {
    files_.use(file, 1);
    files_.use(r.checkpoint_file, -1);
  }
  r.checkpoint = iteration;
  r.checkpoint_file = file;
}

MANTA_DECL void study::checkpointed_of(trial_number t, std::uint64_t iteration, const std::string& file) {
  trial_record& r = records_.at(t);
  const std::size_t bytes = size_of(file);
  if (bytes > 0) files_.add(file, t, iteration, bytes);  // else it has gone since
  set_checkpoint(r, iteration, file);
  if (const auto owed = owed_.find(t); owed != owed_.end() && owed->second <= iteration) owed_.erase(owed);
  note_best_checkpoint(r);
  if (r.iteration == iteration) score_checkpoint(r);     // else its report is the next thing that happens
}

MANTA_DECL void study::score_checkpoint(trial_record& r) {
  if (r.checkpoint != r.iteration || r.checkpoint_file.empty()) return;
  const checkpoint_options& o = options_.checkpoints;
  const bool by_own = !o.minimise.empty() || !o.maximise.empty();
  const double* value = r.last.find(!by_own ? metric_ : o.minimise.empty() ? o.maximise : o.minimise);
  if (value == nullptr || is_nan(*value)) return;
  files_.score(r.id, r.iteration, (by_own ? o.maximise.empty() ? 1 : -1 : sign_) * *value);
  note_best_checkpoint(r);
}

MANTA_DECL void study::note_best_checkpoint(trial_record& r) {
  const auto* const best = files_.best_of(r.id);
  r.best_checkpoint = best == nullptr ? 0 : best->second.iteration;
  r.best_checkpoint_file = best == nullptr ? "" : best->first;
}

MANTA_DECL void study::trim_checkpoints() {
  const checkpoint_options& o = options_.checkpoints;
  const auto worth_of = [&](trial_number t) {
    return checkpoint_files::worth{records_[t].ended(), records_[t].best_loss, t == best_};
  };
  for (const auto& [file, owner] : files_.take_surplus(o.keep, o.keep_best, o.budget_bytes, worth_of)) {
    remove_checkpoint(file);
    note_best_checkpoint(records_[owner]);
  }
}

MANTA_DECL std::string study::path_of(const std::string& file, int member) const {
  return options_.folder + "/" + file + (member == 0 ? "" : "." + std::to_string(member));
}

MANTA_DECL void study::remove_checkpoint(const std::string& file) const {
  for (int member = 0; member < std::max(1, options_.ranks); ++member) ::unlink(path_of(file, member).c_str());
}

MANTA_DECL std::size_t study::size_of(const std::string& file) const {
  std::size_t bytes = 0;
  for (int member = 0; member < std::max(1, options_.ranks); ++member) {
    struct ::stat s = {};
    if (::stat(path_of(file, member).c_str(), &s) != 0) return 0;
    bytes += static_cast<std::size_t>(s.st_size);
  }
  return bytes;
}

MANTA_DECL void study::remove_unknown_checkpoints() const {
  const std::unique_ptr<::DIR, int (*)(::DIR*)> folder(::opendir((options_.folder + "/checkpoints").c_str()), ::closedir);
  if (folder == nullptr) return;
  while (const ::dirent* const each = ::readdir(folder.get())) {
    const std::string name = each->d_name, file = "checkpoints/" + name.substr(0, name.find('.'));
    const bool is_ours = std::isdigit(static_cast<unsigned char>(name[0])) != 0 && name.find_first_not_of("0123456789-.new") == std::string::npos;
    if (is_ours && (!files_.contains(file) || name.ends_with(".new"))) ::unlink((options_.folder + "/checkpoints/" + name).c_str());
  }
}

}  // namespace manta::tune
