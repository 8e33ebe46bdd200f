// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/amounts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "manta/base/text.hpp"

namespace manta::base {

MANTA_DECL std::string count_text(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ' ');
  return digits;
}

MANTA_DECL std::string number_text(double number, int digits) {
  if (number == 0) return "0";
  const double size = std::fabs(number);
  const double half_step = 0.5 * std::pow(10, std::floor(std::log10(size)) - digits + 1);  // 9.996 is written as 10.0
  const int before = static_cast<int>(std::floor(std::log10(size + half_step))) + 1;
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", std::clamp(digits - before, 0, 40), number);
  std::string result = text;
  if (result.find('.') == std::string::npos) return result;
  result.erase(result.find_last_not_of('0') + 1);
  if (result.back() == '.') result.pop_back();
  return result;
}

MANTA_DECL std::string duration_text(double seconds, int digits) {
  struct unit {
    double seconds;  ///< the length of one
    double to;       ///< the first duration for which the next unit is better
    const char* name;
  };
  static constexpr unit units[] = {
      {1e-9, 9.995e-7, "ns"}, {1e-6, 9.995e-4, "us"}, {1e-3, 0.9995, "ms"}, {1, 599.5, "s"}, {60, 3597, "min"}};
  for (const unit& u : units) {
    if (seconds < u.to) return text("{} {}", number_text(seconds / u.seconds, digits), u.name);
  }
  return text("{} h", number_text(seconds / 3600, digits));
}

MANTA_DECL std::string clock_text(double seconds) {
  const auto all = static_cast<unsigned long long>(std::max(0., seconds) + 0.5);
  char digits[40];
  if (all < 3600) {
    std::snprintf(digits, sizeof digits, "%llu:%02llu", all / 60, all % 60);
  } else {
    std::snprintf(digits, sizeof digits, "%llu:%02llu:%02llu", all / 3600, all / 60 % 60, all % 60);
  }
  return digits;
}

MANTA_DECL std::string length_text(double seconds) {
  return seconds < 59.5 ? duration_text(seconds, 2) : clock_text(seconds);
}

MANTA_DECL std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1024) return text("{} bytes", bytes);
  static constexpr const char* names[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double number = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; number >= 1023.5 && unit + 1 < std::size(names); ++unit) number /= 1024;
  return text("{} {}", number_text(number), names[unit]);
}

MANTA_DECL std::string percent_text(double share) {
  const double percent = 100 * share;
  if (percent < 0.05) return "0 %";
  return text("{} %", percent >= 0.95 ? number_text(std::round(percent)) : number_text(percent, 1));
}

MANTA_DECL std::string things_text(std::uint64_t count, const char* one, const char* many) {
  return text("{} {}", count_text(count), count == 1 ? one : many);
}

}  // namespace manta::base
