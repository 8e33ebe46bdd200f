// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Failures that nobody has looked at: their number, and the first of them in
// words. The ranks tell rank 0 at the end of a run, which tells the user.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "manta/store/failure.hpp"

namespace manta::exec {

class unobserved {
 public:
  static constexpr std::uint64_t most_texts = 5;  ///< texts of one rank

  std::uint64_t count() const { return count_; }
  /// Counts a failure of this rank. True if it is one of the first, of which the text is wanted.
  bool note() { return ++count_ <= most_texts; }
  /// Counts a failure of this rank, and keeps the text of the first ones. Not one that the program has been
  /// told of anyway.
  void note_failure(const store::failure& f) {
    if (f.kind == store::failure::kind::cancelled || f.kind == store::failure::kind::deadlock) return;
    if (note()) add_text(store::describe(f));
  }
  /// Keeps the text of a failure.
  void add_text(std::string text) { texts_.push_back(std::move(text)); }
  /// Rank 0 counts the failures of another rank; `text` is what that rank's `text` returned.
  void add(std::uint64_t count, std::string text) {
    count_ += count;
    if (!text.empty()) texts_.push_back(std::move(text));
  }
  /// The texts, each after `before`, with `between` from one to the next.
  std::string text(const char* before, const char* between) const {
    std::string all;
    for (const std::string& each : texts_) all += (all.empty() ? "" : between) + (before + each);
    return all;
  }
  /// After a deadlock: leaves promises out that were destroyed with the stacks of those that waited. This is no cause.
  void forget_broken_promises() {
    const std::size_t before = texts_.size();
    std::erase_if(texts_, [](const std::string& t) { return t.find("manta::broken_promise") != std::string::npos; });
    count_ -= before - texts_.size();
  }
  void clear() {
    count_ = 0;
    texts_.clear();
  }

 private:
  std::uint64_t count_ = 0;
  std::vector<std::string> texts_;
};

}  // namespace manta::exec
