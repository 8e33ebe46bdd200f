// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Tables of text for a terminal: the first column stands on the left, numbers on the right, and the last column, for
// remarks, on the left again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manta/base/config.hpp"

namespace manta::report {

/// A text as a part of one line: names may have any characters, also line breaks.
MANTA_DECL std::string one_line(std::string text);

class text_table {
 public:
  explicit text_table(std::vector<std::string> titles) { rows_.push_back(std::move(titles)); }
  /// A row; cells that it lacks are empty.
  void add(std::vector<std::string> cells) {
    for (std::string& each : cells) each = one_line(std::move(each));
    rows_.push_back(std::move(cells));
  }
  /// All rows, each with `indent` before it and a line break.
  MANTA_DECL std::string text(std::string_view indent) const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the titles first
};

/// A text of at most `most` columns: of a longer one, the begin and "...". Columns are characters of UTF-8.
MANTA_DECL std::string shortened(std::string_view text, std::size_t most);

}  // namespace manta::report

#ifndef MANTA_COMPILED
#include "manta/report/text_table.ipp"
#endif
