// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Settings from MANTA_* environment variables. A value that cannot be read is an error that names the variable, never
// a silent default.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "manta/base/error.hpp"
#include "manta/base/number.hpp"
#include "manta/base/text.hpp"

namespace manta::base {

inline const char* environment(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

inline constexpr int any_number = 1'000'000'000;

/// The number in a variable, else `otherwise`. Throws if either is not from `least` to `most`.
inline double environment_number(const char* name, double otherwise, int least = -any_number, int most = any_number) {
  const char* text = environment(name);
  char* end = nullptr;
  const double value = text != nullptr ? std::strtod(text, &end) : otherwise;
  if ((text != nullptr && (end == text || *end != '\0')) || is_nan(value) || value < least || value > most) {
    const std::string what = text != nullptr ? std::string(name) + "=" + text
                                             : base::text("{}, of the option that {} overrides,", value, name);
    throw error("manta: " + what + " is not a number" +
                (least > -any_number ? base::text(" from {} to {}", least, most) : "") + "; unset it or give one");
  }
  return value;
}

/// The whole number in a variable, else `otherwise`. Throws if the variable is not from `least` to `most`.
inline std::uint64_t environment_count(const char* name, std::uint64_t otherwise, std::uint64_t least,
                                       std::uint64_t most) {
  const char* text = environment(name);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  errno = 0;
  const std::uint64_t value = std::strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value < least || value > most) {
    throw error(base::text("manta: {}={} is not a whole number from {} to {}", name, text, least, most));
  }
  return value;
}

/// The number of bytes in a variable, else `otherwise`. Units are powers of 1024: 512M, 4G.
inline std::uint64_t environment_bytes(const char* name, std::uint64_t otherwise) {
  const char* text = environment(name);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  double value = std::strtod(text, &end);
  const char units[] = "KMGT";
  const char* const unit = *end != '\0' ? std::strchr(units, *end & ~0x20) : nullptr;
  if (unit != nullptr) {
    for (const char* u = units; u <= unit; ++u) value *= 1024;
    ++end;
  }
  if (end == text || *end != '\0' || is_nan(value) || value < 1 || value >= 1e18) {
    throw error(std::string("manta: ") + name + "=" + text + " is not a number of bytes; give one such as 512M or 4G");
  }
  return static_cast<std::uint64_t>(value);
}

inline bool environment_flag(const char* name, bool otherwise) {
  const char* text = environment(name);
  if (text == nullptr) return otherwise;
  const std::string value = text;
  if (value == "1" || value == "on" || value == "yes" || value == "true") return true;
  if (value == "0" || value == "off" || value == "no" || value == "false") return false;
  throw error(std::string("manta: ") + name + "=" + text + " is neither on nor off; use 1 or 0");
}

}  // namespace manta::base
