// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Builds a JSON text piece by piece, without a parser behind it. Objects and arrays are ended by the caller:
//
//   json_builder b;
//   b.begin('{').key("paths").begin('{').member("/a", 1).end('}').end('}');
//   b.text()                                                  // {"paths":{"/a":1}}
//
// Numbers that are not finite become null, and bytes that are no UTF-8 are taken as Latin-1.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>
#include <utility>

#include "manta/base/number.hpp"
#include "manta/output/row.hpp"

namespace manta::output {

class json_builder {
 public:
  /// An object or an array: '{' or '['.
  json_builder& begin(char bracket) {
    separate();
    text_ += bracket;
    begun_ = false;
    return *this;
  }
  /// The end of an object or an array: '}' or ']'.
  json_builder& end(char bracket) {
    text_ += bracket;
    begun_ = true;
    return *this;
  }
  json_builder& key(std::string_view name) {
    separate();
    append_json_text(text_, name);
    text_ += ':';
    begun_ = false;
    return *this;
  }
  json_builder& value(bool its) { return json(its ? "true" : "false"); }
  json_builder& value(std::string_view its) {
    separate();
    append_json_text(text_, its);
    return *this;
  }
  json_builder& value(const char* its) { return value(std::string_view(its)); }
  json_builder& value(const std::string& its) { return value(std::string_view(its)); }
  template <std::integral I>
  json_builder& value(I its) {
    separate();
    char digits[24];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, its).ptr);
    return *this;
  }
  template <std::floating_point F>
  json_builder& value(F its) {
    if (!base::is_finite(static_cast<double>(its))) return json("null");
    separate();
    char digits[32];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, its).ptr);
    return *this;
  }
  /// A value that is JSON already.
  json_builder& json(std::string_view its) {
    separate();
    text_ += its;
    return *this;
  }
  template <class T>
  json_builder& member(std::string_view name, const T& its) {
    return key(name).value(its);
  }
  /// The text so far.
  [[nodiscard]] std::string& text() { return text_; }

 private:
  void separate() {
    if (std::exchange(begun_, true)) text_ += ',';
  }

  std::string text_;
  bool begun_ = false;  // a value stands before the next one
};

}  // namespace manta::output
