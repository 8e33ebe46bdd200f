// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/call/task_kinds.hpp"

namespace manta::detail {

MANTA_DECL std::string_view name_of_constant(std::string_view text) {
  const std::size_t begin = text.find("F = ") + 4;
  std::string_view name = text.substr(begin, text.find_first_of(";]", begin) - begin);
  if (name.starts_with('&')) name.remove_prefix(1);
  if (name.starts_with('(') && name.ends_with(')')) name = name.substr(1, name.size() - 2);
  return name.substr(0, name.find('(', 1));
}

}  // namespace manta::detail
