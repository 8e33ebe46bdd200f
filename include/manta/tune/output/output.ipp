// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/demangle.hpp"
#include "manta/tune/output/output.hpp"

namespace manta::tune {

namespace detail {
MANTA_DECL std::string class_name(const std::type_info& type) {
  std::string name = base::demangle(type.name());
  constexpr std::string_view ours = "manta::tune::";
  if (name.starts_with(ours)) name.erase(0, ours.size());
  return name;
}

MANTA_DECL std::string readable_name(std::string name) {
  const auto drop = [&](std::string_view text) {
    for (std::size_t at = name.find(text); at != std::string::npos; at = name.find(text)) name.erase(at, text.size());
  };
  drop("(anonymous namespace)::");
  for (const std::string_view body : {"function_body<", "lambda_body<", "class_body<"}) {
    const std::string whole = "manta::tune::detail::" + std::string(body);
    if (!name.starts_with(whole) || !name.ends_with(">")) continue;
    name = name.substr(whole.size(), name.size() - whole.size() - 1);
    if (body.starts_with("lambda")) return "a lambda of " + name.substr(0, name.find("::{lambda"));
    if (body.starts_with("class")) return name;
    if (name.starts_with("&(")) name = name.substr(2, name.size() - 3);  // &(train(manta::tune::config const&))
    if (name.starts_with("&")) name.erase(0, 1);
    return name.substr(0, name.find('('));
  }
  return name;
}
}  // namespace detail

MANTA_DECL std::string trial_folder(const std::string& folder, trial_number trial) {
  std::string number = std::to_string(trial);
  if (number.size() < 5) number.insert(0, 5 - number.size(), '0');
  return folder + "/trials/" + number;
}

MANTA_DECL any_output any_output::clone() const {
  any_output a = *this;
  a.held_.reset(held_->clone());
  return a;
}

}  // namespace manta::tune
