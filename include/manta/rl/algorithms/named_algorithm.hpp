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

struct algorithm_entry {
  std::unique_ptr<algorithm> (*make)(const any_environment& e, const named_options& options);
  named_options (*options)();
};

template <class Algorithm>
struct named_algorithm {
  static std::unique_ptr<algorithm> make(const any_environment& e, const named_options& values) {
    typename Algorithm::options o;
    visit_options(o, [&](const std::string& name, auto& member) {
      if (const auto found = values.find(name); found != values.end()) read_value(name, found->second, member);
    });
    return std::make_unique<Algorithm>(e, o);
  }
  static named_options options() {
    typename Algorithm::options o;
    named_options values;
    visit_options(o, [&](const std::string& name, auto& member) { values[name] = text_of_value(member); });
    return values;
  }
};

MANTA_DECL void register_algorithm(const std::string& name, algorithm_entry entry);

}  // namespace detail

/// Gives an algorithm of the program's own a name. The class has `options`, a type with a serialize that names its
/// members (CEREAL_NVP), and a constructor of an environment and these.
template <class Algorithm>
void register_algorithm(const std::string& name) {
  using named = detail::named_algorithm<Algorithm>;
  detail::register_algorithm(name, {&named::make, &named::options});
}

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/algorithms/named_algorithm.ipp"
#endif
