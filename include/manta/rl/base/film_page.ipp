// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/output/append_file.hpp"
#include "manta/output/page_style.ipp"
#include "manta/rl/base/film_page.hpp"
#include "manta/rl/base/film_script.ipp"

namespace manta::rl::detail {

inline std::string for_html(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') out += "&lt;";
    if (c == '&') out += "&amp;";
    if (c != '<' && c != '&') out += c;
  }
  return out;
}

MANTA_DECL void write_film(const std::string& path, const film_content& c) {
  const std::string title = for_html(c.title);
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n";
  page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>" + title + "</title><style>";
  page += output::page_style;
  page += film_style;
  page += "</style></head>\n<body><main class=\"film\"><h1>" + title + "</h1>";
  page += film_body;
  page += "<script>\nconst film = {kind: \"" + c.kind + "\", end: \"" + c.end;
  page += "\",\nrewards: " + c.rewards;
  page += ",\nactions: " + c.actions;
  page += ",\nstates: " + c.states + "};";
  page += film_script;
  page += "</script></body></html>\n";
  output::make_folder_of(path);
  output::replace_file(path, page);
}

}  // namespace manta::rl::detail
