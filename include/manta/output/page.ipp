// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of page.hpp. The page's style and script are in page_style.ipp, page_script.ipp and page_kinds.ipp.
#pragma once

#include <cmath>

#include "manta/base/number.hpp"
#include "manta/output/append_file.hpp"
#include "manta/output/page.hpp"
#include "manta/output/page_kinds.ipp"
#include "manta/output/page_script.ipp"
#include "manta/output/page_style.ipp"
#include "manta/output/tensorboard.hpp"

namespace manta::output {

MANTA_DECL void append_page_number(std::string& out, double x) {
  if (base::is_finite(x)) append_number(out, x);
  else out += "null";
}

MANTA_DECL void page::section(std::string_view kind, std::string_view title, std::string_view members) {
  sections_ += sections_.empty() ? "\n{\"kind\":" : ",\n{\"kind\":";
  append_json_text(sections_, kind);
  append_json_text(sections_ += ",\"title\":", title);
  (sections_ += ',') += members;
  sections_ += '}';
}

MANTA_DECL void page::facts(std::string_view title, row values) {
  std::string out = "\"facts\":[";
  for (const field& f : values) {
    if (out.back() != '[') out += ',';
    append_json_text(out += '[', f.name);
    f.value.append_json(out += ',');
    out += ']';
  }
  section("facts", title, out + ']');
}

MANTA_DECL void page::text(std::string_view title, std::string_view words) {
  std::string out = "\"text\":";
  append_json_text(out, words);
  section("text", title, out);
}

namespace detail {
inline void append_pairs(std::string& out, const std::vector<std::pair<double, double>>& pairs) {
  out += '[';
  for (const auto& [first, second] : pairs) {
    if (out.back() != '[') out += ',';
    append_page_number(out += '[', first);
    append_page_number(out += ',', second);
    out += ']';
  }
  out += ']';
}
}  // namespace detail

MANTA_DECL void page::curves(std::string_view title, std::string_view x, std::string_view y,
                             const std::vector<series>& lines) {
  std::string out = "\"x\":";
  append_json_text(out, x);
  append_json_text(out += ",\"y\":", y);
  out += ",\"lines\":[";
  for (const series& s : lines) {
    if (out.back() != '[') out += ',';
    append_json_text(out += "{\"name\":", s.name);
    append_json_text(out += ",\"end\":", s.end);
    detail::append_pairs(out += ",\"points\":", s.points);
    if (!s.band.empty()) detail::append_pairs(out += ",\"band\":", s.band);
    out += '}';
  }
  section("curves", title, out + ']');
}

MANTA_DECL void page::table(std::string_view title, const std::vector<std::string>& columns,
                            const std::vector<std::vector<cell>>& rows) {
  std::string out = "\"columns\":[";
  for (const std::string& c : columns) {
    if (out.back() != '[') out += ',';
    append_json_text(out, c);
  }
  out += "],\"rows\":[";
  for (const auto& cells : rows) {
    if (out.back() != '[') out += ',';
    out += '[';
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) out += ',';
      cells[i].append_json(out);
    }
    out += ']';
  }
  section("table", title, out + ']');
}

MANTA_DECL void page::frames(std::string_view title, const std::vector<std::string>& pictures) {
  std::string out = "\"frames\":[";
  for (const std::string& picture : pictures) {
    if (out.back() != '[') out += ',';
    append_json_text(out, picture);
  }
  section("frames", title, out + ']');
}

MANTA_DECL std::string page::html() const {
  std::string data = "{\"title\":";
  append_json_text(data, title_);
  data += running_ ? ",\"running\":true" : ",\"running\":false";
  append_number(data += ",\"written\":", std::floor(wall_time()));
  data += ",\"sections\":[" + sections_ + "]}";
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"><meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\"><link "
      "rel=\"icon\" "
      "href=\"data:,\">\n<style>";
  out += page_style;
  out += "</style></head><body><main></main>\n<script type=\"application/json\" id=\"data\">";
  for (const char c : data) {
    if (c == '<') out += "\\u003c";  // no text of the data ends the block
    else out += c;
  }
  out += "</script>\n<script>";
  out += page_script;
  out += page_kinds;
  out += script_;
  out += page_start;
  return out + "</script></body></html>\n";
}

MANTA_DECL void page::write(const std::string& path) const {
  make_folder_of(path);
  replace_file(path, html());
}

}  // namespace manta::output
