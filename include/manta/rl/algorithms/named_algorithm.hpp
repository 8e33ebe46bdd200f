// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Algorithms by name, with options as texts, for programs that read both from a command line or a file:
//
//   auto algorithm = rl::make_algorithm("ppo", "CartPole-v1", {{"workers", "2"}, {"hidden", "64,64"}});
#pragma once

#include <charconv>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "manta/error.hpp"
#include "manta/output/members.hpp"
#include "manta/rl/learning/algorithm.hpp"
#include "manta/rl/policies/policy.hpp"

namespace manta::rl {

/// Names of options, as in the algorithm's options, and their values: numbers, true or false, numbers with commas
/// between them, names. Those of `model` stand beside the others: "hidden"; layers of "conv" are "16x3x1,32x3x1":
/// filters x kernel x stride.
using named_options = std::map<std::string, std::string>;

/// Throws manta::error if there is no algorithm or option of a name, with those that there are, and if a value is none.
/// The program registers algorithms of headers that rl.hpp does not include (register_algorithm below).
MANTA_DECL std::unique_ptr<algorithm> make_algorithm(const std::string& name, const any_environment& e,
                                                     const named_options& options = {});
/// The names that there are.
MANTA_DECL std::vector<std::string> algorithm_names();
/// The options of an algorithm with their defaults.
MANTA_DECL named_options algorithm_options(const std::string& name);

namespace detail {

/// Numbers from and to texts. read_value throws manta::error with the option's name.
MANTA_DECL void read_value(const std::string& option, const std::string& text, bool& value);
MANTA_DECL void read_value(const std::string& option, const std::string& text, int& value);
MANTA_DECL void read_value(const std::string& option, const std::string& text, std::uint64_t& value);
MANTA_DECL void read_value(const std::string& option, const std::string& text, double& value);
MANTA_DECL void read_value(const std::string& option, const std::string& text, std::vector<int>& value);
MANTA_DECL void read_value(const std::string& option, const std::string& text, std::vector<conv_layer>& value);
MANTA_DECL void read_value(const std::string& option, const std::string& text, activation& value);
MANTA_DECL std::string text_of_value(bool value);
MANTA_DECL std::string text_of_value(int value);
MANTA_DECL std::string text_of_value(std::uint64_t value);
MANTA_DECL std::string text_of_value(double value);
MANTA_DECL std::string text_of_value(const std::vector<int>& value);
MANTA_DECL std::string text_of_value(const std::vector<conv_layer>& value);
MANTA_DECL std::string text_of_value(activation value);

/// Calls visit(name, member) for each member that a text can set, those of members included.
template <class Options, class Visitor>
void visit_options(Options& options, Visitor&& visit) {
  output::visit_members(options, [&](const std::string& name, auto& member) {
    if constexpr (requires { read_value(name, name, member); }) {
      visit(name, member);
    } else if constexpr (requires(output::member_archive<std::reference_wrapper<std::remove_reference_t<Visitor>>> &
                                  a) { member.serialize(a); }) {
      visit_options(member, visit);
    }
  });
}

/// All options of a kind, with their defaults.
template <class Options>
named_options defaults_of() {
  Options o;
  named_options values;
  visit_options(o, [&](const std::string& name, auto& member) { values[name] = text_of_value(member); });
  return values;
}

struct algorithm_entry {
  std::unique_ptr<algorithm> (*make)(const any_environment& e, const named_options& options);
  named_options (*options)();
};

/// Throws manta::error if one of the values has another name; the text says whose options they are to be.
MANTA_DECL void require_known(const std::string& what, const named_options& values, const named_options& known);

/// Options with those values that are named; others stay as they are.
template <class Options>
Options options_from(const named_options& values) {
  Options o;
  visit_options(o, [&](const std::string& name, auto& member) {
    if (const auto found = values.find(name); found != values.end()) read_value(name, found->second, member);
  });
  return o;
}

template <class Algorithm>
struct named_algorithm {
  static std::unique_ptr<algorithm> make(const any_environment& e, const named_options& values) {
    return std::make_unique<Algorithm>(e, options_from<typename Algorithm::options>(values));
  }
  static named_options options() { return defaults_of<typename Algorithm::options>(); }
};

MANTA_DECL void register_algorithm(const std::string& name, algorithm_entry entry);

}  // namespace detail

/// The options of an algorithm from texts, such as named_options_as<ppo_options>({{"rate", "1e-3"}}). Throws
/// manta::error as make_algorithm does.
template <class Options>
Options named_options_as(const named_options& values) {
  detail::require_known("this kind of options", values, detail::defaults_of<Options>());
  return detail::options_from<Options>(values);
}

/// Gives an algorithm a name: one of the program's own, or one of an opt-in header, such as pets, qmix, vdn,
/// alpha_zero, bc, marwil or cql. The class has `options`, a type with a serialize that names its members (CEREAL_NVP),
/// and a constructor of an environment and these. qmix and vdn learn in rl::joint(game), alpha_zero in the game of
/// rl::against(game); those that learn from files have an option more, "data" (offline.hpp).
template <class Algorithm>
void register_algorithm(const std::string& name) {
  using named = detail::named_algorithm<Algorithm>;
  detail::register_algorithm(name, {&named::make, &named::options});
}

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/algorithms/named_algorithm.ipp"
#endif
