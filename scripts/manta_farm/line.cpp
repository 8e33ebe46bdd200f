// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "line.hpp"

#include <algorithm>

namespace farm {

namespace {

int small_number(std::string_view text, std::string_view name, int least) {
  const std::int64_t number = number_of(text, name, least);
  if (number > 1'000'000'000) throw mistake(std::string(name) + "=" + std::string(text) + ": this is too large");
  return static_cast<int>(number);
}

/// Reads `17,20-23`.
std::vector<int> numbers_of(std::string_view text) {
  std::vector<int> numbers;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t dash = part.find('-');
    const int first = small_number(part.substr(0, dash), "after", 1);
    const int last = dash == std::string_view::npos ? first : small_number(part.substr(dash + 1), "after", first);
    for (int number = first; number <= last; ++number) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

const std::vector<std::string_view>& option_names() {
  static const std::vector<std::string_view> names = {"cpus", "ranks", "gpus", "memory", "retries", "timeout", "after"};
  return names;
}

void set_option(line_options& options, std::string_view name, std::string_view value) {
  if (name == "cpus") {
    options.cpus = small_number(value, name, 1);
  } else if (name == "ranks") {
    options.ranks = small_number(value, name, 0);
  } else if (name == "gpus") {
    options.gpus = amount_of(value, name);
  } else if (name == "memory") {
    options.memory = bytes_of(value, name);
  } else if (name == "retries") {
    options.retries = small_number(value, name, 0);
  } else if (name == "timeout") {
    options.timeout = seconds_of(value, name);
  } else if (name == "after") {
    options.after = numbers_of(value);
  } else {
    std::string all;
    for (const std::string_view each : option_names()) all += (all.empty() ? "" : ", ") + std::string(each);
    throw mistake("there is no option '" + std::string(name) + "' of lines; there are " + all);
  }
}

void set_options(line_options& options, std::string_view text) {
  for (const std::string_view word : words_of(text)) {
    const std::size_t equal = word.find('=');
    if (equal == std::string_view::npos)
      throw mistake("'" + std::string(word) + "' behind #manta has to be NAME=VALUE, such as cpus=4");
    set_option(options, word.substr(0, equal), word.substr(equal + 1));
  }
}

bool line_maker::make(std::string_view text, int number, line& into) {
  const auto here = [&](const std::string& what) { return mistake("line " + std::to_string(number) + ": " + what); };
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  if (text.find('\0') != std::string_view::npos)
    throw here("it contains a byte 0, which no command line can have; is the file a text?");
  const std::size_t directive = find_directive(text);
  const std::string_view command = trimmed(text.substr(0, directive));
  try {
    line_options options = for_all_;
    if (directive != std::string_view::npos) {
      constexpr std::size_t sign = 6;  // #manta
      set_options(options, text.substr(directive + sign));
    }
    if (command.empty()) {
      for_all_ = std::move(options);
      return false;
    }
    if (command.front() == '#') return false;
    into.options = std::move(options);
  } catch (const mistake& m) {
    throw here(m.what());
  }
  for (const int other : into.options.after) {
    if (other >= number)
      throw here("after=" + std::to_string(other) + ": a line can wait for lines above it alone; move it down");
  }
  into.number = number;
  into.command = command;
  into.key = key_of(command);
  into.key.equals_before = seen_[into.key]++;
  return true;
}

}  // namespace farm
