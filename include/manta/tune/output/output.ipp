// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of output.hpp.
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
