// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Builds a JSON text piece by piece, where no C++ type has its form:
//
//   json_builder b;
//   b.begin('{').key("paths").begin('{').key("/a").value(1).end('}').end('}');
//   b.text()                                                  // {"paths":{"/a":1}}
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "manta/serve/json.hpp"

namespace manta::serve::detail {

class json_builder {
 public:
  /// An object or an array: '{' or '['.
  json_builder& begin(char bracket) {
    separate();
    text_ += bracket;
    begun_ = false;
    return *this;
  }
  json_builder& end(char bracket) {
    text_ += bracket;
    begun_ = true;
    return *this;
  }
  json_builder& key(std::string_view name) {
    separate();
    text_ += to_json(std::string(name));
    text_ += ':';
    begun_ = false;
    return *this;
  }
  template <class T>
  json_builder& value(const T& its) {
    return json(to_json(its));
  }
  json_builder& value(const char* its) { return json(to_json(std::string(its))); }
  /// A value that is JSON already.
  json_builder& json(std::string_view its) {
    separate();
    text_ += its;
    begun_ = true;
    return *this;
  }
  template <class T>
  json_builder& member(std::string_view name, const T& its) {
    return key(name).value(its);
  }
  [[nodiscard]] std::string& text() { return text_; }

 private:
  void separate() {
    if (std::exchange(begun_, true)) text_ += ',';
  }
  std::string text_;
  bool begun_ = false;  ///< a value stands before
};

}  // namespace manta::serve::detail
