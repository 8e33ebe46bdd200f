// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Small work on texts: words for the shell, amounts with units, the identity of a line.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace farm {

/// A mistake of the user in the command line or in a line: the program prints the sentence and ends with status 2.
struct mistake : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The word as the shell reads it back: unchanged if it is harmless, else in single quotes.
std::string quoted(std::string_view word);

/// The place of the comment `#manta` in a command line, outside of quotes and at the begin of a word; npos: none.
std::size_t find_directive(std::string_view line);

/// The words of a text between blanks.
std::vector<std::string_view> words_of(std::string_view text);

/// The text without blanks at both ends.
std::string_view trimmed(std::string_view text);

/// A whole number of at least `least`. `name` says in errors what was read.
std::int64_t number_of(std::string_view text, std::string_view name, std::int64_t least);

/// A number of at least 0, as 0.5.
double amount_of(std::string_view text, std::string_view name);

/// Seconds of `90`, `90s`, `10m`, `1h30m`, `2d`.
double seconds_of(std::string_view text, std::string_view name);

/// Bytes of `4096`, `512M`, `4G` (K, M, G, T: powers of 1024).
std::uint64_t bytes_of(std::string_view text, std::string_view name);

/// Which line it is, whatever its number: the FNV-1a hash of its text, and how many equal lines stand before it.
struct line_key {
  std::uint64_t high = 0, low = 0;
  std::uint32_t equals_before = 0;
  bool operator==(const line_key&) const = default;
  /// For the file of results: 32 digits, a point, and the number of equals.
  std::string text() const;
  /// Reads what text() has written; throws mistake if it is something else.
  static line_key of(std::string_view text);
};

/// The key of the first line with this text.
line_key key_of(std::string_view command);

/// For unordered containers of keys.
struct key_hash {
  std::size_t operator()(const line_key& key) const { return key.low ^ key.equals_before * 0x9e3779b97f4a7c15U; }
};

}  // namespace farm
