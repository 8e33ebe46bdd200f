// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How much a test tries: less by default, everything with scripts/test --long.
#pragma once

#include <cstdlib>
#include <string_view>

namespace manta::testing {

inline bool is_long() {
  const char* value = std::getenv("MANTA_TEST_LONG");
  return value != nullptr && !std::string_view(value).empty();
}

/// So many rounds by default, and so many in the long suite.
inline int rounds(int few, int many) { return is_long() ? many : few; }

}  // namespace manta::testing
