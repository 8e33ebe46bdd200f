// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>

#include "manta/base/text.hpp"
#include "manta/tune/scheduler.hpp"

namespace manta::tune {

namespace detail {

MANTA_DECL std::string number_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}

MANTA_DECL std::string marks_beyond(double longest, const std::vector<double>& marks, const char* who) {
  std::vector<double> beyond = marks;
  std::erase_if(beyond, [&](double mark) { return mark <= longest; });
  if (longest <= 0 || beyond.empty()) return {};
  std::string names;
  for (const double mark : beyond)
    names += (names.empty() ? "" : mark == beyond.back() ? " and " : ", ") + number_text(mark);
  return base::text(
      "{}: trials end at {}, so none comes to the mark{} {}; give .max = {}, or let the function go on until "
      "report returns false",
      who, number_text(longest), beyond.size() > 1 ? "s" : "", names, number_text(longest));
}

}  // namespace detail

}  // namespace manta::tune
