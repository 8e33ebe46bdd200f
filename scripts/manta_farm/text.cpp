// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "text.hpp"

#include <charconv>
#include <cmath>

namespace farm {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

[[noreturn]] void refuse(std::string_view text, std::string_view name, std::string_view wanted) {
  throw mistake(std::string(name) + "=" + std::string(text) + ": " + std::string(wanted));
}

}  // namespace

std::string quoted(std::string_view word) {
  constexpr std::string_view harmless = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=:,./@%^";
  if (!word.empty() && word.find_first_not_of(harmless) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

std::size_t find_directive(std::string_view line) {
  constexpr std::string_view sign = "#manta";
  char quote = 0;  // the quote inside which the place is
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '\\' && quote != '\'') {
      ++at;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '#' && (at == 0 || is_blank(line[at - 1])) && line.substr(at).starts_with(sign)) {
      const std::size_t end = at + sign.size();
      if (end == line.size() || is_blank(line[end])) return at;
    }
  }
  return std::string_view::npos;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && !is_blank(text[end])) ++end;
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::int64_t number_of(std::string_view text, std::string_view name, std::int64_t least) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least)
    refuse(text, name, "a whole number of at least " + std::to_string(least) + " is wanted");
  return number;
}

double amount_of(std::string_view text, std::string_view name) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!is_number || !std::isfinite(number) || number < 0) refuse(text, name, "a number of at least 0 is wanted");
  return number;
}

double seconds_of(std::string_view text, std::string_view name) {
  constexpr std::string_view units = "smhd";
  constexpr double lengths[] = {1, 60, 3600, 86400};
  double sum = 0;
  std::string_view rest = text;
  do {
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789."), rest.size());
    const std::string_view number = rest.substr(0, digits);
    rest.remove_prefix(digits);
    const std::size_t unit = rest.empty() ? 0 : units.find(rest.front());
    if (number.empty() || unit == std::string_view::npos)
      refuse(text, name, "a time is wanted, such as 90, 10m or 1h30m");
    if (!rest.empty()) rest.remove_prefix(1);
    sum += amount_of(number, name) * lengths[unit];
  } while (!rest.empty());
  return sum;
}

std::uint64_t bytes_of(std::string_view text, std::string_view name) {
  constexpr std::string_view units = "KMGT";
  std::string_view number = text;
  unsigned shift = 0;
  if (!number.empty() && number.back() == 'B') number.remove_suffix(1);
  if (!number.empty()) {
    const std::size_t unit = units.find(number.back());
    if (unit != std::string_view::npos) {
      shift = 10 * (static_cast<unsigned>(unit) + 1);
      number.remove_suffix(1);
    }
  }
  const double bytes = amount_of(number, name) * std::ldexp(1.0, static_cast<int>(shift));
  if (bytes >= 9e18) refuse(text, name, "no machine has as many bytes");
  return static_cast<std::uint64_t>(bytes);
}

std::string line_key::text() const {
  constexpr char digits[] = "0123456789abcdef";
  std::string all;
  for (const std::uint64_t part : {high, low}) {
    for (int shift = 60; shift >= 0; shift -= 4) all += digits[part >> static_cast<unsigned>(shift) & 15U];
  }
  return all + "." + std::to_string(equals_before);
}

line_key line_key::of(std::string_view text) {
  line_key key;
  const auto read = [&](std::string_view part, auto& into, int base) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), into, base);
    if (error != std::errc() || end != part.data() + part.size()) refuse(text, "key", "this is the key of no line");
  };
  if (text.size() < 34 || text[32] != '.') refuse(text, "key", "this is the key of no line");
  read(text.substr(0, 16), key.high, 16);
  read(text.substr(16, 16), key.low, 16);
  read(text.substr(33), key.equals_before, 10);
  return key;
}

line_key key_of(std::string_view command) {
  __extension__ using wide = unsigned __int128;
  constexpr wide prime = (wide{1} << 88U) + 0x13bU;
  wide hash = (wide{0x6c62272e07bb0142U} << 64U) + 0x62b821756295c58dU;
  for (const char c : command) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  return {static_cast<std::uint64_t>(hash >> 64U), static_cast<std::uint64_t>(hash), 0};
}

}  // namespace farm
