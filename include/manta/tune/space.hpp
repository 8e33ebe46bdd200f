// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The space of configurations: parameters by name, in order. Three ways to write
// it, for all searchers alike:
//
//   tune::space s = {{"lr", tune::loguniform(1e-5, 1)}, {"opt", tune::choice({"sgd", "adam"})},
//                    {"momentum", tune::uniform(0.8, 0.99).when("opt", "sgd")}, {"epochs", 10}};
//
//   auto s = tune::space_of<settings>();               // from a struct, see config.hpp
//
//   tune::space s([](tune::chooser& choose) {          // defined by running it: any control flow
//     const int layers = choose("layers", tune::integers(1, 4));
//     for (int i = 0; i < layers; ++i) choose("width" + std::to_string(i), tune::logintegers(8, 256));
//   });
#pragma once

#include "manta/tune/domain.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

struct parameter {
  std::string name;
  domain where;
};

/// Makes one configuration, parameter by parameter. `source` says what a parameter becomes.
class chooser {
 public:
  using source = std::function<value(const parameter&, const config& before)>;
  /// Gives the value that a dependent parameter keeps; nothing: it draws a new one.
  using memory = std::function<std::optional<value>(const std::string& name, const config& before)>;
  chooser(source from, random& dependent, memory kept = {})
      : from_(std::move(from)), kept_(std::move(kept)), random_(dependent) {}

  /// The value that the searcher gives this parameter. Asked for a name again, the value is the same. Throws if the
  /// domain has a condition: a program says it by an `if`.
  MANTA_DECL value operator()(const std::string& name, const domain& where);
  /// The value of a parameter from a list, which has found that the conditions of the domain hold.
  MANTA_DECL value choose_applying(const std::string& name, const domain& where);
  const config& made() const { return made_; }

 private:
  source from_;
  memory kept_;
  random& random_;
  config made_;
};

class space {
 public:
  using program = std::function<void(chooser&)>;

  space() = default;
  space(std::initializer_list<parameter> parameters) : parameters_(parameters) { check(); }
  explicit space(std::vector<parameter> parameters) : parameters_(std::move(parameters)) { check(); }
  explicit space(program defined_by_running) : program_(std::move(defined_by_running)) {}

  /// Whether the space is a function, so that its parameters are known only when a configuration is made.
  bool is_program() const { return static_cast<bool>(program_); }
  /// Empty if it is defined by running.
  const std::vector<parameter>& parameters() const { return parameters_; }

  /// The parameters of the list whose values searchers choose.
  MANTA_DECL std::vector<parameter> searched() const;

  /// One configuration: `from` is asked for each parameter that applies and is neither constant nor dependent.
  MANTA_DECL config make(const chooser::source& from, random& dependent, const chooser::memory& kept = {}) const;
  /// One at random. Throws if of ten thousand draws none is allowed.
  MANTA_DECL config draw(random& r) const;
  /// Forbids the configurations for which the function returns true.
  MANTA_DECL void forbid(std::function<bool(const config&)> test);
  bool forbids_any() const { return !forbidden_.empty(); }
  MANTA_DECL bool allows(const config& c) const;
  /// The first configuration given by `propose` that is not forbidden; nothing if all attempts are.
  template <class Propose>
  std::optional<config> allowed_one(int attempts, Propose propose) const {
    for (int attempt = 0; attempt < attempts; ++attempt) {
      config c = propose();
      if (allows(c)) return c;
    }
    return std::nullopt;
  }
  /// The first of 64 that is not forbidden; if all of them are, one at random.
  template <class Propose>
  config first_allowed(random& r, Propose propose) const {
    const std::optional<config> c = allowed_one(64, propose);
    return c ? *c : draw(r);
  }
  /// Completes a configuration given by hand: what it names is taken, the rest is drawn. Throws if it is outside the
  /// space: names a parameter that is not there, or that the others exclude, or a value that its domain does not have;
  /// or if it is forbidden.
  MANTA_DECL config complete(const config& given, random& r) const;
  /// The configuration of the space with exactly these values, in the space's order; nothing if one is missing or
  /// has no place there, or if it is forbidden.
  MANTA_DECL std::optional<config> exactly(const config& values) const;
  /// Makes a configuration of which some values were changed one of the space again: parameters come and go with their
  /// conditions, dependent ones are computed anew, what is missing is drawn. Values outside their domains stay, and
  /// names that the space does not have. Needs a fixed list of parameters.
  MANTA_DECL config mended(const config& changed, const config& before, random& r) const;

  /// The parameter of that name; null if there is none.
  MANTA_DECL const parameter* find(std::string_view name) const;
  /// For the journal: two spaces with the same text give the same configurations (but for what functions in them do).
  MANTA_DECL std::string text() const;

 private:
  MANTA_DECL void check() const;
  void check_conditions(std::size_t i) const;
  std::size_t index_of(std::string_view name) const;
  /// Collects the values that others must have for this parameter to be there. Throws if one must have two.
  void require_conditions(const parameter& p, config& required) const;
  std::string names(std::size_t count) const;

  std::vector<parameter> parameters_;
  program program_;
  std::vector<std::function<bool(const config&)>> forbidden_;
};

namespace detail {
struct parameter_collector {
  std::vector<parameter> found;
  template <class T>
  void operator()(std::string_view name, T&, const domain& where) {
    found.push_back({std::string(name), where});
  }
  template <class T>
  void operator()(std::string_view, T&) {}
};
}  // namespace detail

/// The space that a described struct writes down; members without a domain are not searched.
template <described T>
space space_of() {
  detail::parameter_collector collect;
  T t{};
  t.describe(collect);
  return space(std::move(collect.found));
}

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/space.ipp"
#endif
