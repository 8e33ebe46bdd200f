// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The memory files of a rank that the ranks of its node share: those that hold
// values are counted, those that hold none are kept for the next arrays.
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

  /// At most half of the files that the process may open hold values; `most_kept_bytes` are kept besides.
  void set_limits(std::uint64_t most_kept_bytes) {
    most_kept_bytes_ = most_kept_bytes < most_ever_kept ? most_kept_bytes : most_ever_kept;
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) most_in_use_ = static_cast<std::size_t>(files.rlim_cur / 2);
  }
  /// Bytes of the files of this rank that hold no value and are kept.
  std::uint64_t kept_bytes() const { return kept_bytes_; }
  /// Mappings that nobody needs any more. They go after what a task made has been sent: it takes longer than to make
  /// them.
  std::size_t unwanted() const { return unwanted_.size(); }
  void unmap_unwanted() {
    for (node_file* f : unwanted_) delete f;
    unwanted_.clear();
  }

  /// A file with a copy of these bytes; null if there are too many files, or no memory.
  node_file* copy(const std::byte* array, std::size_t bytes) {
    for (std::size_t i = kept_.size(); i-- > 0;) {  // the one used last is the likeliest to be in the cache
      if (!kept_[i]->made_here() || !kept_[i]->fits(bytes) || kept_[i]->is_looked_at()) continue;
      node_file* const again = take_kept(i);
      again->write(array, bytes);
      return again;
    }
    if (in_use_ + kept_.size() >= most_in_use_ && !kept_.empty()) stop_keeping(0);
    return in_use_ < most_in_use_ ? node_file::with_copy(array, bytes) : nullptr;
  }
  /// A file of another rank that was mapped here before, to be looked at again; null if it is not kept.
  node_file* take_mapped(std::uint64_t identity) {
    for (std::size_t i = kept_.size(); i-- > 0;) {
      if (kept_[i]->identity() != identity) continue;
      node_file* const f = take_kept(i);
      if (!f->made_here()) f->look();
      return f;
    }
    return nullptr;
  }
  /// One more file holds a value.
  void use() { ++in_use_; }
  /// The value in it is gone; takes the file.
  void leave(node_file* f) {
    if (!f->is_open()) return unwanted_.push_back(f);
    --in_use_;
    if (!f->made_here() && !f->look_away()) return unwanted_.push_back(f);
    kept_.push_back(f);
    if (f->made_here()) kept_bytes_ += f->room();
    while (kept_bytes_ > most_kept_bytes_) stop_keeping_own();
    if (kept_.size() > most_kept) stop_keeping(0);
  }
  /// The value in it is elsewhere from now on; others keep what they have mapped.
  void close(node_file& f) {
    f.made_here() ? f.close() : f.look_away_for_good();
    --in_use_;
  }
  /// Frees one of the kept files of this rank; there is one. What others look at still takes its memory afterwards.
  void stop_keeping_own() {
    std::size_t chosen = kept_.size();
    for (std::size_t i = kept_.size(); i-- > 0;) {
      if (kept_[i]->made_here() && (chosen == kept_.size() || !kept_[i]->is_looked_at())) chosen = i;
    }
    stop_keeping(chosen);
  }
  /// A rank has died: what it made, or may have looked at, is not used again.
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

  static constexpr std::size_t most_kept = 32;  // files
  static constexpr std::uint64_t most_ever_kept = std::uint64_t{4} << 30;

  base::list<node_file*> kept_;   // made here for the next arrays, or mapped; the one used last is the last
  std::uint64_t kept_bytes_ = 0;  // of those made here
  std::uint64_t most_kept_bytes_ = most_ever_kept;
  base::list<node_file*> unwanted_;
  std::size_t in_use_ = 0;  // files that hold values
  std::size_t most_in_use_ = 0;
};

}  // namespace manta::store
