// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What outputs take: rows of named values. A row and its fields refer to names
// and texts of the caller and are used only until the call returns:
//
//   table.write(step, {{"loss", 0.25}, {"episodes", 12}, {"state", "warm"}});
//
//   std::vector<output::field> fields;        // or built up
//   for (const auto& [name, x] : figures) fields.push_back({name, x});
//   table.write(step, fields);
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "manta/output/source.hpp"

namespace manta::output {

/// The double that has the shortest text of a float: 0.1 and not 0.10000000149011612 for 0.1f.
MANTA_DECL double widened(float x);

/// A truth value, an integer, a number or a text.
class cell {
 public:
  cell(bool b) : value_(b) {}
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  cell(I i) {
    if (std::in_range<std::int64_t>(i)) value_ = static_cast<std::int64_t>(i);
    else value_ = static_cast<double>(i);
  }
  cell(double x) : value_(x) {}
  cell(float x) : value_(widened(x)) {}
  cell(std::string_view text) : value_(text) {}
  cell(const std::string& text) : value_(std::string_view(text)) {}
  cell(const char* text) : value_(std::string_view(text)) {}

  bool is_text() const { return std::holds_alternative<std::string_view>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  /// Empty if it is no text.
  std::string_view text() const { return is_text() ? std::get<std::string_view>(value_) : std::string_view(); }
  /// The value as a number, true as 1; a text has none and gives 0.
  MANTA_DECL double number() const;
  /// Appends the cell as JSON. A number that is not finite becomes a text ("nan", "inf"), because JSON has no
  /// number for it.
  MANTA_DECL void append_json(std::string& out) const;
  /// Appends the cell as CSV, in quotes if necessary.
  MANTA_DECL void append_csv(std::string& out) const;

 private:
  std::variant<bool, std::int64_t, double, std::string_view> value_;
};

struct field {
  std::string_view name;
  cell value;
};

/// A view of fields.
class row : public std::span<const field> {
 public:
  row(std::initializer_list<field> fields) : span(fields.begin(), fields.size()) {}
  row(std::span<const field> fields) : span(fields) {}
  row(const std::vector<field>& fields) : span(fields) {}
};

// ---- texts of numbers and strings ------------------------------------------------------------------------

/// The shortest text that reads back as the same number.
MANTA_DECL void append_number(std::string& out, double x);
MANTA_DECL void append_number(std::string& out, std::int64_t x);
/// A number with a point or an exponent, so that it is read again as one with a fraction; "nan" and "inf" in quotes.
MANTA_DECL void append_json_number(std::string& out, double x);
/// A text as a JSON string in quotes. Bytes that are no UTF-8 are taken as Latin-1, so that every JSON reader
/// can read it.
MANTA_DECL void append_json_text(std::string& out, std::string_view text);
/// A text as one cell of CSV: in quotes if it has to be (RFC 4180).
MANTA_DECL void append_csv_text(std::string& out, std::string_view text);

}  // namespace manta::output

#ifndef MANTA_COMPILED
#include "manta/output/row.ipp"
#endif
