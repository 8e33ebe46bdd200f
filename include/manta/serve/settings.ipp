// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/demangle.hpp"
#include "manta/serve/settings.hpp"

namespace manta::serve::detail {

MANTA_DECL void refuse_settings(const std::string& taken, const std::string& given) {
  if (taken.empty()) throw error("the deployed class has no method `reconfigure`");
  throw error("`reconfigure` of the deployed class takes " + base::demangle(taken.c_str()) + ", and was given " +
              base::demangle(given.c_str()));
}

}  // namespace manta::serve::detail
