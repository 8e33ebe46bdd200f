// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/output/json_lines.hpp"

namespace manta::output {

MANTA_DECL json_lines::json_lines(std::string path, mode m, std::string step)
    : file_(std::move(path), m), step_(std::move(step)) {
  make_folder_of(file_.path());
  if (m == mode::append) {
    const std::string content = read_file(file_.path());
    if (!content.empty() && content.back() != '\n') file_.buffer() += '\n';  // the last line was cut off
  }
}

MANTA_DECL void json_lines::write(std::int64_t step, row values) {
  std::string& out = file_.buffer();
  out += '{';
  append_json_text(out, step_);
  out += ':';
  append_number(out, step);
  members(values, false);
}

MANTA_DECL void json_lines::write(row values) {
  file_.buffer() += '{';
  members(values, true);
}

MANTA_DECL void json_lines::members(row values, bool first) {
  std::string& out = file_.buffer();
  for (const field& f : values) {
    if (!first) out += ',';
    first = false;
    append_json_text(out, f.name);
    out += ':';
    f.value.append_json(out);
  }
  out += "}\n";
  file_.written();
}

}  // namespace manta::output
