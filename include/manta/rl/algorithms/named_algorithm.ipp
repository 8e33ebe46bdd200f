// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <sstream>

#include "manta/base/text.hpp"
#include "manta/output/row.hpp"
#include "manta/rl/algorithms/a2c.hpp"
#include "manta/rl/algorithms/a3c.hpp"
#include "manta/rl/algorithms/apex.hpp"
#include "manta/rl/algorithms/dqn.hpp"
#include "manta/rl/algorithms/impala.hpp"
#include "manta/rl/algorithms/named_algorithm.hpp"
#include "manta/rl/algorithms/ppo.hpp"
#include "manta/rl/algorithms/sac.hpp"
#include "manta/rl/algorithms/td3.hpp"
#include "manta/rl/evolution/ars.hpp"
#include "manta/rl/evolution/es.hpp"

namespace manta::rl {

namespace detail {

template <class Algorithm>
constexpr algorithm_entry entry_of{&named_algorithm<Algorithm>::make, &named_algorithm<Algorithm>::options};

/// impala with a bound on the policy's steps, under the name that this has elsewhere.
struct appo {
  static named_options own() { return {{"clip", "0.4"}, {"epochs", "2"}}; }
  static std::unique_ptr<algorithm> make(const any_environment& e, const named_options& values) {
    named_options all = values;
    all.merge(own());
    return named_algorithm<impala>::make(e, all);
  }
  static named_options options() {
    named_options all = own();
    all.merge(named_algorithm<impala>::options());
    return all;
  }
};

inline std::map<std::string, algorithm_entry>& named_algorithms() {
  static std::map<std::string, algorithm_entry> all = {
      // clang-format off
      {"a2c", entry_of<a2c>},
      {"a3c", entry_of<a3c>},
      {"apex", entry_of<apex>},
      {"appo", {&appo::make, &appo::options}},
      {"ars", entry_of<ars>},
      {"dqn", entry_of<dqn>},
      {"es", entry_of<es>},
      {"impala", entry_of<impala>},
      {"ppo", entry_of<ppo>},
      {"sac", entry_of<sac>},
      {"td3", entry_of<td3>},
      // clang-format on
  };
  return all;
}

template <class Range>
std::string names_of(const Range& named) {
  std::string names;
  for (const auto& [name, value] : named) names += (names.empty() ? "" : ", ") + name;
  return names;
}

inline const algorithm_entry& algorithm_of(const std::string& name) {
  const auto found = named_algorithms().find(name);
  if (found == named_algorithms().end())
    throw error(
        base::text("manta: rl: there is no algorithm \"{}\"; there are {}", name, names_of(named_algorithms())));
  return found->second;
}

MANTA_DECL void register_algorithm(const std::string& name, algorithm_entry entry) { named_algorithms()[name] = entry; }

MANTA_DECL void require_known(const std::string& what, const named_options& values, const named_options& known) {
  for (const auto& [option, value] : values) {
    if (!known.contains(option))
      throw error(base::text("manta: rl: {} has no option \"{}\"; it has {}", what, option, names_of(known)));
  }
}

template <class T>
void read_number(const std::string& option, const std::string& text, T& value, const char* kind) {
  const char* const end = text.data() + text.size();
  T x{};
  const auto [stopped, problem] = std::from_chars(text.data(), end, x);
  if (problem != std::errc{} || stopped != end)
    throw error(base::text("manta: rl: the option {} is \"{}\"; it takes {}", option, text, kind));
  value = x;
}
MANTA_DECL void read_value(const std::string& option, const std::string& text, int& value) {
  read_number(option, text, value, "a whole number");
}
MANTA_DECL void read_value(const std::string& option, const std::string& text, std::uint64_t& value) {
  read_number(option, text, value, "a whole number that is not negative");
}
MANTA_DECL void read_value(const std::string& option, const std::string& text, double& value) {
  read_number(option, text, value, "a number");
}
MANTA_DECL void read_value(const std::string& option, const std::string& text, bool& value) {
  if (text != "true" && text != "false")
    throw error(base::text("manta: rl: the option {} is \"{}\"; it takes true or false", option, text));
  value = text == "true";
}
/// Numbers with a sign between them.
inline std::vector<int> numbers_of(const std::string& option, const std::string& text, char sign, const char* kind) {
  std::vector<int> numbers;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(sign, at), text.size());
    read_number(option, text.substr(at, end - at), numbers.emplace_back(), kind);
    at = end + 1;
  }
  return numbers;
}
MANTA_DECL void read_value(const std::string& option, const std::string& text, std::vector<int>& value) {
  value = numbers_of(option, text, ',', "whole numbers, such as 64,64");
}
MANTA_DECL void read_value(const std::string& option, const std::string& text, std::vector<conv_layer>& value) {
  constexpr auto kind = "layers as filters x kernel x stride, such as 16x3x1,32x3x1";
  std::vector<conv_layer> layers;
  std::istringstream in(text);
  for (std::string layer; std::getline(in, layer, ',');) {
    const std::vector<int> numbers = numbers_of(option, layer, 'x', kind);
    if (numbers.size() != 3)
      throw error(base::text("manta: rl: the option {} is \"{}\"; it takes {}", option, text, kind));
    layers.push_back({.filters = numbers[0], .kernel = numbers[1], .stride = numbers[2]});
  }
  value = std::move(layers);
}

inline constexpr std::array<const char*, 4> activation_names = {"automatic", "tanh", "relu", "gelu"};
MANTA_DECL void read_value(const std::string& option, const std::string& text, activation& value) {
  const auto found = std::ranges::find(activation_names, text);
  if (found == activation_names.end())
    throw error(base::text("manta: rl: the option {} is \"{}\"; it takes automatic, tanh, relu or gelu", option, text));
  value = static_cast<activation>(found - activation_names.begin());
}
MANTA_DECL std::string text_of_value(activation value) { return activation_names.at(static_cast<std::size_t>(value)); }

MANTA_DECL std::string text_of_value(bool value) { return value ? "true" : "false"; }
MANTA_DECL std::string text_of_value(int value) { return std::to_string(value); }
MANTA_DECL std::string text_of_value(std::uint64_t value) { return std::to_string(value); }
MANTA_DECL std::string text_of_value(double value) {
  std::string text;
  output::append_number(text, value);
  return text;
}
MANTA_DECL std::string text_of_value(const std::vector<int>& value) {
  std::string text;
  for (int x : value) {
    if (!text.empty()) text += ',';
    text += std::to_string(x);
  }
  return text;
}

MANTA_DECL std::string text_of_value(const std::vector<conv_layer>& value) {
  std::string text;
  for (const conv_layer& c : value)
    text += base::text("{}{}x{}x{}", text.empty() ? "" : ",", c.filters, c.kernel, c.stride);
  return text;
}

}  // namespace detail

MANTA_DECL std::unique_ptr<algorithm> make_algorithm(const std::string& name, const any_environment& e,
                                                     const named_options& options) {
  const detail::algorithm_entry& entry = detail::algorithm_of(name);
  detail::require_known(name, options, entry.options());
  return entry.make(e, options);
}

MANTA_DECL std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : detail::named_algorithms()) names.push_back(name);
  return names;
}
MANTA_DECL named_options algorithm_options(const std::string& name) { return detail::algorithm_of(name).options(); }

}  // namespace manta::rl
