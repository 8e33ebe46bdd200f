// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of files.hpp.
#pragma once

#include "manta/tune/output/files.hpp"

namespace manta::tune {

MANTA_DECL void json_lines::add(const trial_record& t) {
  const std::string folder = trial_folder(files_.context(), t.id);
  manta::output::make_folders(folder);
  manta::output::append_file file(folder + "/config.json");
  file.buffer() = t.parameters.text() + "\n";
  file.flush();
}

MANTA_DECL void json_lines::report(const trial_record& t, const metrics& m, double seconds) {
  manta::output::append_file& file = files_.of(t.id).first->file;
  std::string& out = file.buffer();
  out += "{\"iteration\":";
  append_number(out, static_cast<std::int64_t>(t.iteration));
  out += ",\"seconds\":";
  append_number(out, std::floor(seconds * 1e6) / 1e6);
  for (const auto& [name, x] : m) {
    out += ',';
    value::append_quoted(out, name);
    out += ':';
    value::append_json_number(out, x);
  }
  out += "}\n";
  file.written();
}

MANTA_DECL void csv::report(const trial_record& t, const metrics& m, double seconds) {
  const auto [sheet, is_new] = files_.of(t.id);
  detail::trial_files::sheet& s = *sheet;
  std::string& out = s.file.buffer();
  if (is_new) {
    out += "iteration,seconds";
    for (const auto& entry : m) {
      s.columns.push_back(entry.first);
      out += ',';
      append_cell(out, entry.first);
    }
    out += '\n';
  }
  append_number(out, static_cast<std::int64_t>(t.iteration));
  out += ',';
  append_number(out, std::floor(seconds * 1e6) / 1e6);
  for (const std::string& name : s.columns) {
    out += ',';
    if (const double* x = m.find(name)) append_number(out, *x);
  }
  out += '\n';
  s.file.written();
}

MANTA_DECL void csv::append_cell(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) out.append(c == '"' ? 2U : 1U, c);
  out += '"';
}

MANTA_DECL void decision_log::begin(const output_context& c) {
  manta::output::make_folders(c.folder);
  file_ = manta::output::append_file(c.folder + "/decisions.jsonl");
}

MANTA_DECL void decision_log::decision(const trial_record& t, std::string_view what, std::string_view why) {
  std::string& out = file_.buffer();
  out += "{\"trial\":";
  append_number(out, static_cast<std::int64_t>(t.id));
  out += ",\"at\":";
  value::append_json_number(out, t.at);
  out += ",\"decision\":";
  value::append_quoted(out, what);
  out += ",\"why\":";
  value::append_quoted(out, why);
  out += "}\n";
  file_.written();
}

}  // namespace manta::tune
