// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/tune/config.hpp"

namespace manta::tune {

MANTA_DECL const value& config::operator[](std::string_view name) const {
  if (const value* v = find(name)) return *v;
  std::string known;
  for (const entry& e : *this) known += (known.empty() ? "" : ", ") + e.first;
  throw error("manta: the configuration has no \"" + std::string(name) + "\"; it has " +
              (known.empty() ? "nothing" : known) +
              (known.empty() ? ""
                             : " (a conditional parameter is there only "
                               "while its condition holds: ask contains() first)"));
}

MANTA_DECL std::string config::text() const {
  std::string out;
  append_to(out);
  return out;
}

}  // namespace manta::tune
