// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Files of each trial, and the log of decisions:
//   trials/00012/config.json     the configuration
//   trials/00012/result.jsonl    a line of JSON for each report
//   trials/00012/progress.csv    a row for each report
//   decisions.jsonl              what scheduler and rules decided, and why
#pragma once

#include <map>

#include "manta/tune/append_file.hpp"
#include "manta/tune/output/output.hpp"

namespace manta::tune {

/// config.json and result.jsonl of each trial.
class json_lines {
 public:
  void begin(const output_context& c) { context_ = c; }
  void add(const trial_record& t) {
    const std::string folder = trial_folder(context_, t.id);
    make_folders(folder);
    append_file file(folder + "/config.json");
    file.buffer() = t.parameters.text() + "\n";
    file.flush();
  }
  void report(const trial_record& t, const metrics& m, double seconds) {
    auto [at, is_new] = files_.try_emplace(t.id);
    if (is_new) at->second = append_file(trial_folder(context_, t.id) + "/result.jsonl");
    std::string& out = at->second.buffer();
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
    at->second.written();
  }
  void end(const trial_record& t) {
    if (const auto at = files_.find(t.id); at != files_.end()) {
      at->second.flush();
      if (t.state != status::failed) files_.erase(at);  // that one may be started again
    }
  }
  void flush() {
    for (auto& [id, file] : files_) file.flush();
  }

 private:
  output_context context_;
  std::map<trial_number, append_file> files_;
};

/// progress.csv of each trial. The columns are the metrics of the first report; others, and what is missing later, stay out.
class csv {
 public:
  void begin(const output_context& c) { context_ = c; }
  void report(const trial_record& t, const metrics& m, double seconds) {
    auto [at, is_new] = files_.try_emplace(t.id);
    sheet& s = at->second;
    if (is_new) {
      const std::string folder = trial_folder(context_, t.id);
      make_folders(folder);
      s.file = append_file(folder + "/progress.csv");
    }
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
  void end(const trial_record& t) {
    if (const auto at = files_.find(t.id); at != files_.end()) {
      at->second.file.flush();
      if (t.state != status::failed) files_.erase(at);  // that one may be started again
    }
  }
  void flush() {
    for (auto& [id, s] : files_) s.file.flush();
  }

  /// A text as one cell: in quotes if it has to be.
  static void append_cell(std::string& out, std::string_view text) {
    if (text.find_first_of(",\"\n") == std::string_view::npos) {
      out += text;
      return;
    }
    out += '"';
    for (const char c : text) out.append(c == '"' ? 2U : 1U, c);
    out += '"';
  }

 private:
  struct sheet {
    append_file file;
    std::vector<std::string> columns;
  };
  output_context context_;
  std::map<trial_number, sheet> files_;
};

/// decisions.jsonl of the experiment.
class decision_log {
 public:
  void begin(const output_context& c) {
    make_folders(c.folder);
    file_ = append_file(c.folder + "/decisions.jsonl");
  }
  void decision(const trial_record& t, std::string_view what, std::string_view why) {
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
  void flush() { file_.flush(); }
  void finish(const std::vector<trial_record>&) { file_.flush(); }

 private:
  append_file file_;
};

}  // namespace manta::tune
