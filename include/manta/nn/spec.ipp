// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/nn/spec.hpp"

#include <cstdio>

namespace manta::nn {

MANTA_DECL spec& spec::with(const std::string& name, double value, double standard) {
  if (value != standard) options[name] = value;
  return *this;
}

MANTA_DECL double spec::option(const std::string& name, double standard) const {
  const auto found = options.find(name);
  return found == options.end() ? standard : found->second;
}

MANTA_DECL std::string spec::text() const {
  if (kind == "own") return own.name;
  std::string inside;
  const auto add = [&](const std::string& s) { inside += (inside.empty() ? "" : ", ") + s; };
  for (int n : sizes) add(std::to_string(n));
  for (const auto& [name, value] : options) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%g", value);
    add(name + " = " + digits);
  }
  for (const spec& part : parts) add(part.text());
  return kind + "(" + inside + ")";
}

}  // namespace manta::nn
