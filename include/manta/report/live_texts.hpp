// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Texts about a run that another thread shows while the run goes on: it says which it wants, and rank 0 makes them when
// it looks around.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace manta::report {

class live_texts {
 public:
  enum kind : unsigned {
    state,       ///< what runs where, as MANTA_STATE writes it: JSON
    statistics,  ///< all numbers, as MANTA_SUMMARY=run.json writes them: JSON
    page         ///< the report page: HTML
  };
  /// A text, and how often it was made so far; null: never.
  struct version {
    std::shared_ptr<const std::string> text = nullptr;
    std::uint64_t number = 0;
  };

  /// From the other thread: this text is to be made anew.
  void want(kind which) { wanted_.fetch_or(1U << which); }
  bool is_wanted(kind which) const { return (wanted_.load(std::memory_order_relaxed) >> which & 1U) != 0; }
  /// The text that was made last.
  version get(kind which) const {
    const std::lock_guard hold(mutex_);
    return texts_[which];
  }
  /// On rank 0: the text has been made.
  void put(kind which, std::string text) {
    wanted_.fetch_and(~(1U << which));
    const std::lock_guard hold(mutex_);
    texts_[which] = {std::make_shared<const std::string>(std::move(text)), texts_[which].number + 1};
  }

 private:
  std::atomic<unsigned> wanted_{0};
  mutable std::mutex mutex_;
  std::array<version, 3> texts_;
};

}  // namespace manta::report
