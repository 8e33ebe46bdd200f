// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "manta/base/hash.hpp"
#include "manta/base/text.hpp"
#include "manta/train/told.hpp"

namespace manta::train::detail {

MANTA_DECL std::string digest_text(const std::string& bytes) {
  return base::text("#{}", base::hash_bytes(bytes.data(), bytes.size()) % 1000000000000);
}
MANTA_DECL std::string number_text(double number) { return base::text("{}", number); }

MANTA_DECL void tell(told_settings& all, const char* kind, const std::string& name, std::string text) {
  all.emplace_back(kind + name, std::move(text));
}
MANTA_DECL void tell_settings(const nn::optimizer& o, told_settings& all) {
  for (const auto& [name, value] : o.settings()) tell(all, optimizer_settings, name, number_text(value));
}

}  // namespace manta::train::detail
