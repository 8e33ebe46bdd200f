// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/text.hpp"
#include "manta/serve/endpoint.hpp"

namespace manta::serve::detail {

/// The names in braces of a path.
inline std::vector<std::string> names_in_path(const std::string& path) {
  std::vector<std::string> names;
  for (std::size_t open = path.find('{'); open != std::string::npos; open = path.find('{', open + 1)) {
    const std::size_t close = path.find('}', open);
    if (close != std::string::npos) names.push_back(path.substr(open + 1, close - open - 1));
  }
  return names;
}

MANTA_DECL void endpoint::set_sizes(std::int64_t input, std::int64_t output) {
  const auto set = [](std::vector<tensor_type>& all, std::int64_t size) {
    if (size > 0 && all.size() == 1 && all.front().shape.size() == 2) all.front().shape.back() = size;
  };
  set(inputs, input);
  set(outputs, output);
}

MANTA_DECL void name_values(endpoint& e, bool were_named) {
  std::vector<std::string>& names = e.options.inputs;
  const std::vector<std::string> in_path = names_in_path(e.path);
  if (names.empty()) {
    names = in_path;                                                    // in the order of the path
    if (names.size() > e.values.size()) names.resize(e.values.size());  // a whole request has the others
  }
  for (std::size_t i = names.size(); i < e.values.size(); ++i) names.push_back(base::text("input{}", i));
  std::size_t of_path = 0;
  for (std::size_t i = 0; i < e.values.size(); ++i) {
    e.values[i].name = names[i];
    e.values[i].is_in_path = std::find(in_path.begin(), in_path.end(), names[i]) != in_path.end();
    of_path += e.values[i].is_in_path;
  }
  e.may_get = were_named || of_path == e.values.size();
}

}  // namespace manta::serve::detail
