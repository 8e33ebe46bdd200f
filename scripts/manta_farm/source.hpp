// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Where lines come from: a file, the standard input, or a template with lists.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "line.hpp"

namespace farm {

/// What a source has at this moment.
enum class supply { line, nothing_yet, end };

/// Gives lines one after the other; holds no more than one of them, whatever their number.
class source {
 public:
  source() = default;
  source(const source&) = delete;
  source& operator=(const source&) = delete;
  virtual ~source() = default;
  /// The next line. Does not wait. Throws mistake if a line is wrong; the next call goes on behind it.
  virtual supply next(line& into) = 0;
  /// The descriptor that becomes readable when there may be a line; -1: lines are always there.
  virtual int descriptor() const { return -1; }
};

/// Where lines come from, as the command line says it.
struct source_options {
  std::string file;                ///< `-`: the standard input; empty: a template
  std::string pattern;             ///< the template
  std::vector<std::string> lists;  ///< its lists: `1..1000`, `a,b,c`, `inputs/*.dat`
  line_options for_all;
};

/// Opens the source. Throws mistake if there is no such file or list.
std::unique_ptr<source> open_source(const source_options& options);

/// Whether it can be read twice: to check all lines before the first one starts.
bool is_read_twice(const source_options& options);

/// The words of a list: a range of whole numbers, files by a pattern, or words between commas.
std::vector<std::string> list_of(const std::string& text);

/// The template with the words of its lists in place of {}, {1}, {#} and so on.
std::string filled(const std::string& pattern, const std::vector<std::string_view>& words, std::uint64_t number);

}  // namespace farm
