// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Pages as Chromium shows them, without a screen.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "support/text.hpp"

namespace manta::testing {

/// Says so if there is none.
inline bool has_browser() {
  const bool is_there = std::system("command -v chromium > /dev/null 2>&1") == 0;
  if (!is_there) MESSAGE("left out: there is no chromium here");
  return is_there;
}

/// The document after its script has run and all its pictures are drawn, as HTML. The script must not have logged anything, nor thrown.
inline std::string shown_by_browser(const std::string& page) {
  const folder f;
  const std::string call =
      "timeout 100 chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=3000 --user-data-dir=" +
      f.path + "/profile --enable-logging=stderr --dump-dom file://$(realpath " + page + ") > " + f.path +
      "/dom.html 2> " + f.path + "/log.txt";
  REQUIRE(std::system(call.c_str()) == 0);
  CHECK(!contains(text_of(f.path + "/log.txt"), "CONSOLE"));
  return text_of(f.path + "/dom.html");
}

}  // namespace manta::testing
