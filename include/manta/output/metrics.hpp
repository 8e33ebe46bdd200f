// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Figures in Prometheus' text format (version 0.0.4), which is scraped over HTTP or read from a file:
//
//   metrics_writer out;
//   out.family("manta_tasks_total", "counter", "Tasks that have ended.");
//   out.sample(label("function", "solve") + "," + label("outcome", "done"), 17);
#pragma once

#include <string>
#include <string_view>

#include "manta/base/text.hpp"

namespace manta::output {

/// Writes families of samples. A family says first what it is.
class metrics_writer {
 public:
  /// `type`: counter, gauge or histogram.
  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += base::text("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  /// A figure of the last family. `labels`: such as R"(route="/a",code="200")", made by label().
  template <class Number>
  void sample(std::string_view labels, Number value, std::string_view suffix = "") {
    text_ += name_;
    text_ += suffix;
    if (!labels.empty()) ((text_ += '{') += labels) += '}';
    text_ += base::text(" {}\n", value);
  }
  /// The text so far.
  [[nodiscard]] std::string& text() { return text_; }

 private:
  std::string_view name_;
  std::string text_;
};

/// A label with its value, whose backslashes, quotes and line breaks are escaped.
inline std::string label(std::string_view name, std::string_view value) {
  std::string text = base::text("{}=\"", name);
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n') text += "\\n";
    else text += c;
  }
  return text + '"';
}

}  // namespace manta::output
