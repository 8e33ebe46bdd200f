// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <map>

#include "manta/base/demangle.hpp"
#include "manta/base/text.hpp"
#include "manta/run.hpp"
#include "manta/serve/http_handle.hpp"

namespace manta::serve::detail {

MANTA_DECL std::size_t rows_of_a_task(std::size_t rows) {
  const std::size_t ranks = static_cast<std::size_t>(std::max(1, manta::size() - 1));
  constexpr std::size_t for_each_rank = 4;  // so that one that is late has less left than the others
  return std::max<std::size_t>(1, (rows + for_each_rank * ranks - 1) / (for_each_rank * ranks));
}

/// By the names of types; null: there are two types of the name.
inline std::map<std::string, endpoint_maker>& endpoint_makers() {
  static std::map<std::string, endpoint_maker> all;
  return all;
}

MANTA_DECL bool register_endpoint_maker(const char* type, endpoint_maker make) {
  const auto [at, is_new] = endpoint_makers().emplace(type, make);
  if (!is_new && at->second != make) at->second = nullptr;
  return true;
}

MANTA_DECL endpoint_maker find_endpoint_maker(const std::string& type) {
  const auto found = endpoint_makers().find(type);
  if (found != endpoint_makers().end() && found->second != nullptr) return found->second;
  throw error(
      base::text("manta: http.route: {} cannot be used on other ranks (.ranks): the program has two types of "
                 "this name, or ranks run different programs",
                 base::demangle(type.c_str())));
}

}  // namespace manta::serve::detail
