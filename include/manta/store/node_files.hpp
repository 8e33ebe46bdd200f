// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The memory files of a rank that the ranks of its node share. This class counts the files with values, and keeps files
// without one for the next arrays.
#pragma once

#include <sys/resource.h>

#include "manta/base/containers.hpp"
#include "manta/store/node_file.hpp"

namespace manta::store {

class node_files {
 public:
  node_files() = default;
  node_files(const node_files&) = delete;
  node_files& operator=(const node_files&) = delete;
  ~node_files() {
    while (!kept_.empty()) stop_keeping(0);
    unmap_unwanted();
  }

  /// Sets the limits: at most half of the files that the process may open hold values, and at most `most_kept_bytes`
  /// are kept without values.
  void set_limits(std::uint64_t most_kept_bytes) {
    most_kept_bytes_ = most_kept_bytes < most_ever_kept ? most_kept_bytes : most_ever_kept;
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) most_in_use_ = static_cast<std::size_t>(files.rlim_cur / 2);
  }
  /// Bytes of the files of this rank that are kept without values.
  std::uint64_t kept_bytes() const { return kept_bytes_; }
  /// Number of mappings that are no longer needed. To remove a mapping takes longer than to make it, so the rank first
  /// sends the result of its task.
  std::size_t unwanted() const { return unwanted_.size(); }
  void unmap_unwanted() {
    for (node_file* f : unwanted_) delete f;
    unwanted_.clear();
  }

  /// Gives a file with a copy of these bytes; null if there are too many files or too little memory.
  node_file* copy(const std::byte* array, std::size_t bytes) {
    for (std::size_t i = kept_.size(); i-- > 0;) {  // the file used last is most likely in the cache
      if (!kept_[i]->made_here() || !kept_[i]->fits(bytes) || kept_[i]->is_looked_at()) continue;
      node_file* const again = take_kept(i);
      again->write(array, bytes);
      return again;
    }
    if (in_use_ + kept_.size() >= most_in_use_ && !kept_.empty()) stop_keeping(0);
    return in_use_ < most_in_use_ ? node_file::with_copy(array, bytes) : nullptr;
  }
  /// Gives a file of another rank that was mapped here before, for another use; null if it is not kept.
  node_file* take_mapped(std::uint64_t identity) {
    for (std::size_t i = kept_.size(); i-- > 0;) {
      if (kept_[i]->identity() != identity) continue;
      node_file* const f = take_kept(i);
      if (!f->made_here()) f->look();
      return f;
    }
    return nullptr;
  }
  /// Counts one more file that holds a value.
  void use() { ++in_use_; }
  /// Takes a file whose value is gone.
  void leave(node_file* f) {
    if (!f->is_open()) return unwanted_.push_back(f);
    --in_use_;
    if (!f->made_here() && !f->look_away()) return unwanted_.push_back(f);
    kept_.push_back(f);
    if (f->made_here()) kept_bytes_ += f->room();
    while (kept_bytes_ > most_kept_bytes_) stop_keeping_own();
    if (kept_.size() > most_kept) stop_keeping(0);
  }
  /// Closes a file whose value lies elsewhere from now on; other ranks keep their mappings.
  void close(node_file& f) {
    f.made_here() ? f.close() : f.look_away_for_good();
    --in_use_;
  }
  /// Frees one of this rank's kept files; there must be one. Pages that other processes use still
  /// take memory afterwards.
  void stop_keeping_own() {
    std::size_t chosen = kept_.size();
    for (std::size_t i = kept_.size(); i-- > 0;) {
      if (kept_[i]->made_here() && (chosen == kept_.size() || !kept_[i]->is_looked_at())) chosen = i;
    }
    stop_keeping(chosen);
  }
  /// Notes that a rank has died: files that it made, or may have used, are not used again.
  void rank_died() {
    for (std::size_t i = kept_.size(); i-- > 0;) {
      if (!kept_[i]->made_here() || kept_[i]->is_looked_at()) stop_keeping(i);
    }
  }

 private:
  node_file* take_kept(std::size_t i) {
    node_file* const f = kept_[i];
    kept_.remove(f);
    if (f->made_here()) kept_bytes_ -= f->room();
    return f;
  }
  void stop_keeping(std::size_t i) {
    node_file* const f = take_kept(i);
    if (f->made_here()) f->close();
    unwanted_.push_back(f);
  }

  static constexpr std::size_t most_kept = 32;  // number of kept files
  static constexpr std::uint64_t most_ever_kept = std::uint64_t{4} << 30;

  base::list<node_file*> kept_;   // kept files, made here or mapped, in the order of their last uses
  std::uint64_t kept_bytes_ = 0;  // bytes of the kept files that were made here
  std::uint64_t most_kept_bytes_ = most_ever_kept;
  base::list<node_file*> unwanted_;
  std::size_t in_use_ = 0;  // number of files that hold values
  std::size_t most_in_use_ = 0;
};

}  // namespace manta::store
