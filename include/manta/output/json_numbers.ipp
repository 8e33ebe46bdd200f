// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>

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
/// Appends the numbers of an array, and of arrays in it down to a depth. `at` is behind its bracket, `level` is 0 for
/// the outermost array. Gives the end of the array; null: it has something else in it.
inline const char* read_numbers(const char* at, const char* end, json_number_array& out, std::size_t level,
                                std::size_t deepest) {
  std::size_t length = 0, arrays = 0;
  if (out.shape.size() <= level) out.shape.resize(level + 1, std::size_t(-1));
  at = skip_spaces(at, end);
  for (bool is_empty = at != end && *at == ']'; at != end;) {
    if (!is_empty) {
      ++length;
      if (*at == '[') {
        ++arrays;
        at = level < deepest ? read_numbers(at + 1, end, out, level + 1, deepest) : nullptr;
      } else {
        double value = 0;
        at = read_number(at, end, value);
        if (at != nullptr) out.numbers.push_back(value);
      }
      if (at == nullptr) return nullptr;
      at = skip_spaces(at, end);
      if (at == end) return nullptr;
    }
    if (*at == ']') {
      if (out.shape[level] == std::size_t(-1)) out.shape[level] = length;
      out.is_even = out.is_even && out.shape[level] == length && (arrays == 0 || arrays == length) &&
                    (length == 0 || (arrays == length) == (out.shape.size() > level + 1));
      return at + 1;
    }
    if (*at != ',') return nullptr;
    at = skip_spaces(at + 1, end);
  }
  return nullptr;
}
}  // namespace detail

MANTA_DECL bool plain_numbers(std::string_view json, std::vector<double>& numbers) {
  using namespace detail;
  const char* const end = json.data() + json.size();
  const char* at = skip_spaces(json.data(), end);
  if (at == end || *at != '[') return false;
  json_number_array all{std::move(numbers)};
  all.numbers.reserve(json.size() / 8);
  at = read_numbers(at + 1, end, all, 0, 0);
  numbers = std::move(all.numbers);
  return at != nullptr && skip_spaces(at, end) == end;
}

MANTA_DECL bool take_out_numbers(std::string_view json, std::string_view key, json_without_numbers& out) {
  using namespace detail;
  constexpr double exact = 9007199254740992.;  // integers below it are themselves
  constexpr std::size_t deepest = 32;
  if (json.find('\\') != std::string_view::npos) return false;  // a key might be written in another way
  const char* const begin = json.data();
  const char* const end = begin + json.size();
  out = {};
  std::size_t taken = 0;  // the text up to here is in `out`
  for (std::size_t open = json.find('"'); open != std::string_view::npos;) {
    const std::size_t close = json.find('"', open + 1);
    if (close == std::string_view::npos) return false;
    const char* at = skip_spaces(begin + close + 1, end);
    const bool is_key = json.substr(open + 1, close - open - 1) == key && at != end && *at == ':';
    open = json.find('"', close + 1);
    if (!is_key) continue;
    at = skip_spaces(at + 1, end);
    if (at == end || *at != '[') return false;
    json_number_array& its = out.arrays.emplace_back();
    its.numbers.reserve(((open == std::string_view::npos ? json.size() : open) - close) / 8);
    const char* const after = read_numbers(at + 1, end, its, 0, deepest);
    if (after == nullptr) return false;
    for (const double number : its.numbers) {
      if (!(std::abs(number) < exact)) return false;
    }
    out.text.append(begin + taken, at).append(std::to_string(out.arrays.size() - 1));
    taken = static_cast<std::size_t>(after - begin);
  }
  out.text.append(json.substr(taken));
  return !out.arrays.empty();
}

}  // namespace manta::output
