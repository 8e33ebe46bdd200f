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

namespace manta::tune {

struct parameter {
  std::string name;
  domain where;
};

/// Makes one configuration, parameter by parameter. `source` says what a parameter becomes.
class chooser {
 public:
  using source = std::function<value(const parameter&, const config& before)>;
  chooser(source from, random& dependent) : from_(std::move(from)), random_(dependent) {}

  /// The value that the searcher gives this parameter. Asked for a name again, the value is the same.
  value operator()(const std::string& name, const domain& where) {
    if (const value* v = made_.find(name)) return *v;
    value v = where.type() == domain::kind::constant    ? where.options().front()
              : where.type() == domain::kind::dependent ? where.draw(made_, random_)
                                                        : from_(parameter{name, where}, made_);
    made_.set(name, v);
    return v;
  }
  const config& made() const { return made_; }

 private:
  source from_;
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

  /// What parameters there are cannot be known before each configuration is made.
  bool is_program() const { return static_cast<bool>(program_); }
  /// Empty if it is defined by running.
  const std::vector<parameter>& parameters() const { return parameters_; }

  /// One configuration: `from` is asked for each parameter that applies and is neither constant nor dependent.
  config make(const chooser::source& from, random& dependent) const {
    chooser choose(from, dependent);
    if (program_) {
      program_(choose);
    } else {
      for (const parameter& p : parameters_) {
        if (p.where.applies(choose.made())) choose(p.name, p.where);
      }
    }
    return choose.made();
  }
  /// One at random.
  config draw(random& r) const {
    return make([&](const parameter& p, const config& before) { return p.where.draw(before, r); }, r);
  }
  /// Completes a configuration given by hand: what it names is taken, the rest is drawn.
  config complete(const config& given, random& r) const {
    config made = make(
        [&](const parameter& p, const config& before) {
          const value* v = given.find(p.name);
          return v == nullptr ? p.where.draw(before, r) : *v;
        },
        r);
    for (const auto& [name, v] : given) made.set(name, v);
    return made;
  }

  /// For the journal: two spaces with the same text give the same configurations (but for what functions in them do).
  std::string text() const {
    if (program_) return "a space defined by running";
    std::string out;
    for (const parameter& p : parameters_) out += p.name + ": " + p.where.text() + "\n";
    return out;
  }

 private:
  void check() const {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (parameters_[i].name == parameters_[j].name) {
          throw error("manta: a space has two parameters named \"" + parameters_[i].name +
                      "\"; for one with several domains give the conditions to one domain each, under different names");
        }
      }
    }
  }

  std::vector<parameter> parameters_;
  program program_;
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
