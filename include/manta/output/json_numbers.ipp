// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>

#include "manta/output/json_numbers.hpp"

namespace manta::output {

namespace detail {
inline const char* skip_spaces(const char* at, const char* end) {
  while (at != end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) ++at;
  return at;
}
inline const char* add_digits(const char* at, const char* end, std::uint64_t& number) {
  for (; at != end && *at >= '0' && *at <= '9'; ++at) number = 10 * number + static_cast<std::uint64_t>(*at - '0');
  return at;
}
/// Reads the number that begins here, by JSON's grammar, which is stricter than std::from_chars. Gives its end; null:
/// none begins here, or it is too large.
inline const char* read_number(const char* at, const char* end, double& value) {
  static constexpr double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const char* const begin = at;
  const bool is_negative = at != end && *at == '-';
  const char* const whole = at += is_negative;
  std::uint64_t digits = 0;
  at = add_digits(at, end, digits);
  std::ptrdiff_t count = at - whole, of_fraction = 0;
  if (count == 0 || (*whole == '0' && count > 1)) return nullptr;
  if (at != end && *at == '.') {
    const char* const first = ++at;
    at = add_digits(at, end, digits);
    of_fraction = at - first;
    if (of_fraction == 0) return nullptr;
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at != end && (*at == '+' || *at == '-')) ++at;
    const char* const first = at;
    at = add_digits(at, end, digits);
    if (at == first) return nullptr;
  } else if (count + of_fraction <= 15) {  // both are doubles exactly, so the quotient is rounded once
    const double magnitude = static_cast<double>(digits) / powers[of_fraction];
    value = is_negative ? -magnitude : magnitude;
    return at;
  }
  const auto read = std::from_chars(begin, at, value);
  return read.ec == std::errc() && read.ptr == at ? at : nullptr;
}
}  // namespace detail

MANTA_DECL bool plain_numbers(std::string_view json, std::vector<double>& numbers) {
  using namespace detail;
  const char* const end = json.data() + json.size();
  const char* at = skip_spaces(json.data(), end);
  if (at == end || *at != '[') return false;
  at = skip_spaces(at + 1, end);
  numbers.reserve(json.size() / 8);
  if (at != end && *at == ']') return skip_spaces(at + 1, end) == end;
  while (at != end) {
    double value = 0;
    const char* const after = read_number(at, end, value);
    if (after == nullptr) return false;
    numbers.push_back(value);
    at = skip_spaces(after, end);
    if (at == end) return false;
    if (*at == ']') return skip_spaces(at + 1, end) == end;
    if (*at != ',') return false;
    at = skip_spaces(at + 1, end);
  }
  return false;
}

}  // namespace manta::output
