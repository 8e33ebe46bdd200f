// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of space.hpp.
#pragma once

#include "manta/tune/space.hpp"

namespace manta::tune {

MANTA_DECL value chooser::operator()(const std::string& name, const domain& where) {
  if (const value* v = made_.find(name)) return *v;
  value v = where.type() == domain::kind::constant    ? where.options().front()
            : where.type() == domain::kind::dependent ? where.draw(made_, random_)
                                                      : from_(parameter{name, where}, made_);
  made_.set(name, v);
  return v;
}

MANTA_DECL config space::make(const chooser::source& from, random& dependent) const {
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

MANTA_DECL config space::draw(random& r) const {
  return make([&](const parameter& p, const config& before) { return p.where.draw(before, r); }, r);
}

MANTA_DECL config space::complete(const config& given, random& r) const {
  config made = make(
      [&](const parameter& p, const config& before) {
        const value* v = given.find(p.name);
        return v == nullptr ? p.where.draw(before, r) : *v;
      },
      r);
  for (const auto& [name, v] : given) made.set(name, v);
  return made;
}

MANTA_DECL std::string space::text() const {
  if (program_) return "a space defined by running";
  std::string out;
  for (const parameter& p : parameters_) out += p.name + ": " + p.where.text() + "\n";
  return out;
}

MANTA_DECL void space::check() const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (parameters_[i].name == parameters_[j].name) {
        throw error("manta: a space has two parameters named \"" + parameters_[i].name +
                    "\"; for one with several domains give the conditions to one domain each, under different names");
      }
    }
  }
}

}  // namespace manta::tune
