// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/hash.hpp"
#include "manta/base/text.hpp"
#include "manta/train/told.hpp"

namespace manta::train::detail {

MANTA_DECL std::string digest_text(const std::string& bytes) {
  return base::text("#{}", base::hash_bytes(bytes.data(), bytes.size()) % 1000000000000);
}
MANTA_DECL std::string number_text(double number) { return base::text("{}", number); }

}  // namespace manta::train::detail
