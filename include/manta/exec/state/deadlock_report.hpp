// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A deadlock in words. Rank 0 gathers what the ranks say of their waits; later
// each rank keeps the text with which its waits fail.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace manta::exec {

class deadlock_report {
 public:
  /// Rank 0 begins a report with its own waits; `others` is the number of ranks that will add theirs.
  void begin(std::uint32_t others, std::string own) {
    missing_ = others;
    who_waits_ = std::move(own);
  }
  /// Adds what another rank says of its waits.
  void add(std::string_view waits) {
    who_waits_ += waits;
    --missing_;
  }
  /// Have all ranks said what waits?
  bool is_complete() const { return missing_ == 0; }
  const std::string& who_waits() const { return who_waits_; }

  /// Keeps the text with which waits fail on this rank.
  void declare(std::string text) { text_ = std::move(text); }
  const std::string& text() const { return text_; }

 private:
  std::uint32_t missing_ = 0;
  std::string who_waits_, text_;
};

}  // namespace manta::exec
