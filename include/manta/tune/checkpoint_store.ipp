// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "manta/tune/checkpoint.hpp"
#include "manta/tune/checkpoint_store.hpp"

namespace manta::tune::detail {

MANTA_DECL void checkpoint_store::begin(const experiment& e, const ranking& by) {
  options_ = e.checkpoints;
  folder_ = e.folder;
  parts_ = e.repeats > 1 ? e.repeats + 1 : std::max(1, e.ranks);
  const bool by_own = !options_.minimise.empty() || !options_.maximise.empty();
  metric_ = !by_own ? by.metric() : options_.minimise.empty() ? options_.maximise : options_.minimise;
  sign_ = by_own ? (options_.maximise.empty() ? 1 : -1) : by.flipped(1);
}

MANTA_DECL void checkpoint_store::set(trial_record& r, std::uint64_t iteration, const std::string& file) {
  if (!r.ended()) {
    files_.use(file, 1);
    files_.use(r.checkpoint_file, -1);
  }
  r.checkpoint = iteration;
  r.checkpoint_file = file;
}

MANTA_DECL void checkpoint_store::made(trial_record& r, std::uint64_t iteration, const std::string& file) {
  const std::size_t bytes = size_of(file);
  if (bytes > 0) files_.add(file, r.id, iteration, bytes);  // else the file has gone since
  set(r, iteration, file);
  if (const auto at = owed_.find(r.id); at != owed_.end() && at->second <= iteration) owed_.erase(at);
  note_best(r);
  if (r.iteration == iteration) score(r);  // else its report is the next thing that happens
}

MANTA_DECL void checkpoint_store::score(trial_record& r) {
  if (r.checkpoint != r.iteration || r.checkpoint_file.empty()) return;
  const double* value = r.last.find(metric_);
  if (value == nullptr || is_nan(*value)) return;
  files_.score(r.id, r.iteration, sign_ * *value);
  note_best(r);
}

MANTA_DECL void checkpoint_store::note_best(trial_record& r) const {
  const auto* const best = files_.best_of(r.id);
  r.best_checkpoint = best == nullptr ? 0 : best->second.iteration;
  r.best_checkpoint_file = best == nullptr ? "" : best->first;
}

MANTA_DECL void checkpoint_store::release(const trial_record& r) { files_.use(r.checkpoint_file, -1); }
MANTA_DECL void checkpoint_store::claim(const trial_record& r) { files_.use(r.checkpoint_file, 1); }

MANTA_DECL void checkpoint_store::owe(trial_number t, std::uint64_t iteration) { owed_[t] = iteration; }
MANTA_DECL void checkpoint_store::forgive(trial_number t) { owed_.erase(t); }

MANTA_DECL std::optional<std::uint64_t> checkpoint_store::owed(trial_number t) const {
  const auto at = owed_.find(t);
  if (at == owed_.end()) return std::nullopt;
  return at->second;
}

MANTA_DECL void checkpoint_store::trim(std::vector<trial_record>& all, trial_number best) {
  const auto worth_of = [&](trial_number t) {
    return checkpoint_files::worth{all[t].ended(), all[t].best_loss, t == best};
  };
  for (const auto& [file, owner] :
       files_.take_surplus(options_.keep, options_.keep_best, options_.budget_bytes, worth_of)) {
    remove(file);
    note_best(all[owner]);
  }
}

MANTA_DECL std::string checkpoint_store::path_of(const std::string& file, int part) const {
  return checkpoint::part_of(folder_ + "/" + file, part);
}

MANTA_DECL void checkpoint_store::remove(const std::string& file) const {
  for (int part = 0; part < parts_; ++part) ::unlink(path_of(file, part).c_str());
}

MANTA_DECL std::size_t checkpoint_store::size_of(const std::string& file) const {
  std::size_t bytes = 0;
  for (int part = 0; part < parts_; ++part) {
    struct ::stat s = {};
    if (::stat(path_of(file, part).c_str(), &s) != 0) return 0;
    bytes += static_cast<std::size_t>(s.st_size);
  }
  return bytes;
}

MANTA_DECL void checkpoint_store::remove_unknown() const {
  const std::string path = folder_ + "/checkpoints";
  const std::unique_ptr<::DIR, int (*)(::DIR*)> folder(::opendir(path.c_str()), ::closedir);
  if (folder == nullptr) return;
  while (const ::dirent* const each = ::readdir(folder.get())) {
    const std::string name = each->d_name, file = "checkpoints/" + name.substr(0, name.find('.'));
    const bool is_ours = std::isdigit(static_cast<unsigned char>(name[0])) != 0 &&
                         name.find_first_not_of("0123456789-.new") == std::string::npos;
    if (is_ours && (!contains(file) || name.ends_with(".new"))) ::unlink((path + "/" + name).c_str());
  }
}

}  // namespace manta::tune::detail
