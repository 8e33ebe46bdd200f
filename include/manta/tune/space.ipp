// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/tune/space.hpp"

namespace manta::tune {

MANTA_DECL value chooser::operator()(const std::string& name, const domain& where) {
  if (where.is_conditional()) {
    throw error("manta: a space defined by running: \"" + name +
                "\" has .when, which only a list of parameters looks at; write an if");
  }
  return choose_applying(name, where);
}

MANTA_DECL value chooser::choose_applying(const std::string& name, const domain& where) {
  if (const value* v = made_.find(name)) return *v;
  std::optional<value> v;
  if (where.type() == domain::kind::constant) {
    v = where.at(0.5);
  } else if (where.type() != domain::kind::dependent) {
    v = from_(parameter{name, where}, made_);
  } else {
    if (kept_ && where.draws()) v = kept_(name, made_);
    if (!v) v = where.draw(made_, random_);
  }
  made_.set(name, *v);
  return *v;
}

MANTA_DECL std::vector<parameter> space::searched() const {
  std::vector<parameter> those;
  std::copy_if(parameters_.begin(), parameters_.end(), std::back_inserter(those),
               [](const parameter& p) { return p.where.is_searched(); });
  return those;
}

MANTA_DECL config space::make(const chooser::source& from, random& dependent, const chooser::memory& kept) const {
  chooser choose(from, dependent, kept);
  if (program_) {
    program_(choose);
  } else {
    for (const parameter& p : parameters_) {
      if (p.where.applies(choose.made())) choose.choose_applying(p.name, p.where);
    }
  }
  return choose.made();
}

MANTA_DECL config space::draw(random& r) const {
  const auto drawn = [&] {
    return make([&](const parameter& p, const config& before) { return p.where.draw(before, r); }, r);
  };
  if (const auto c = allowed_one(10'000, drawn)) return *c;
  throw error(
      "manta: a space: 10000 configurations drawn at random are all forbidden; loosen tune::forbid, or write the "
      "space as a function that chooses each parameter within what the ones before leave");
}

MANTA_DECL void space::forbid(std::function<bool(const config&)> test) { forbidden_.push_back(std::move(test)); }

MANTA_DECL bool space::allows(const config& c) const {
  return std::none_of(forbidden_.begin(), forbidden_.end(), [&](const auto& test) { return test(c); });
}

MANTA_DECL config space::complete(const config& given, random& r) const {
  const auto quoted = [&](const std::string& name) { return "\"" + name + "\""; };
  config wanted = given;
  if (!program_) {
    for (const auto& [name, v] : given) {
      const parameter* p = find(name);
      if (p == nullptr)
        throw error("manta: " + quoted(name) + " is no parameter of the space, which has " + names(parameters_.size()));
      config required;
      require_conditions(*p, required);
      for (const auto& [other, needed] : required) {
        const value* there = wanted.find(other);
        if (there == nullptr) wanted.set(other, needed);
        if (there != nullptr && !(*there == needed)) {
          throw error("manta: " + quoted(name) + " is there only with " + other + " = " + needed.text() + ", but " +
                      other + " is " + there->text());
        }
      }
    }
  }
  const auto take = [&](const std::string& name, const domain& where, const value& v) {
    if (const auto own = where.find(v)) return *own;
    throw error("manta: " + quoted(name) + " = " + v.text() + " is outside its domain, " + where.text());
  };
  std::string missing;
  bool is_forbidden = false;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const config made = make(
        [&](const parameter& p, const config& before) {
          const value* v = wanted.find(p.name);
          return v == nullptr ? p.where.draw(before, r) : take(p.name, p.where, *v);
        },
        r,
        [&](const std::string& name, const config&) {
          return wanted.find(name) == nullptr ? std::nullopt : std::optional(*wanted.find(name));
        });
    missing.clear();
    for (const auto& [name, v] : given) {
      const value* there = made.find(name);
      const parameter* p = find(name);
      if (there == nullptr) {
        missing = name;
      } else if (p != nullptr && p->where.type() != domain::kind::dependent) {
        (void)take(name, p->where, v);
      } else if (p != nullptr && !(*there == v)) {
        throw error("manta: " + quoted(name) + " = " + v.text() +
                    " cannot be: it is computed from the others, which gives " + there->text());
      }
    }
    is_forbidden = missing.empty() && !allows(made);
    if (missing.empty() && !is_forbidden) return made;
  }
  if (is_forbidden) throw error("manta: it is forbidden (tune::forbid), whatever the rest becomes: " + given.text());
  throw error("manta: " + quoted(missing) +
              (program_ ? " is asked for by none of 1000 runs of the space with these values"
                        : " is not there with these values: its condition does not hold"));
}

MANTA_DECL std::optional<config> space::exactly(const config& values) const {
  random r(0);
  std::size_t missing = 0;
  const config made = make(
      [&](const parameter& p, const config& before) {
        const value* v = values.find(p.name);
        missing += v == nullptr;
        return v == nullptr ? p.where.draw(before, r) : *v;
      },
      r,
      [&](const std::string& name, const config&) {
        return values.find(name) == nullptr ? std::nullopt : std::optional(*values.find(name));
      });
  const auto is_there = [&](const auto& entry) {
    const value* v = made.find(entry.first);
    return v != nullptr && *v == entry.second;
  };
  if (missing > 0 || !std::all_of(values.begin(), values.end(), is_there) || !allows(made)) return std::nullopt;
  return made;
}

MANTA_DECL config space::mended(const config& changed, const config& before, random& r) const {
  config made = make(
      [&](const parameter& p, const config& now) {
        const value* v = changed.find(p.name);
        return v == nullptr ? p.where.draw(now, r) : *v;
      },
      r,
      [&](const std::string& name, const config& now) -> std::optional<value> {
        const auto same = [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; };
        const bool unchanged = now.size() < before.size() && std::equal(now.begin(), now.end(), before.begin(), same);
        const auto old = before.begin() + static_cast<std::ptrdiff_t>(now.size());
        return unchanged && old->first == name ? std::optional(old->second)
                                               : std::nullopt;  // what it depends on is as it was
      });
  for (const auto& [name, v] : changed) {
    const parameter* p = find(name);
    if (p == nullptr || (p->where.type() == domain::kind::constant && made.contains(name))) made.set(name, v);
  }
  return made;
}

MANTA_DECL const parameter* space::find(std::string_view name) const {
  const std::size_t i = index_of(name);
  return i < parameters_.size() ? &parameters_[i] : nullptr;
}

MANTA_DECL std::size_t space::index_of(std::string_view name) const {
  const auto at =
      std::find_if(parameters_.begin(), parameters_.end(), [&](const parameter& p) { return p.name == name; });
  return static_cast<std::size_t>(at - parameters_.begin());
}

MANTA_DECL std::string space::names(std::size_t count) const {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += (all.empty() ? "\"" : ", \"") + parameters_[i].name + "\"";
  return all.empty() ? "none" : all;
}

MANTA_DECL std::string space::text() const {
  if (program_) return "a space defined by running";
  std::string out;
  for (const parameter& p : parameters_) out += p.name + ": " + p.where.text() + "\n";
  return out;
}

MANTA_DECL void space::check() const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const std::string& name = parameters_[i].name;
    if (name.empty()) throw error("manta: a space has a parameter without a name");
    if (index_of(name) < i) {
      throw error("manta: a space has two parameters named \"" + name +
                  "\"; for one with several domains give the conditions to one domain each, under different names");
    }
    check_conditions(i);
  }
}

MANTA_DECL void space::check_conditions(std::size_t i) const {
  const parameter& p = parameters_[i];
  for (const condition& c : p.where.conditions()) {
    if (c.name.empty()) continue;
    const std::string what =
        "manta: a space: \"" + p.name + "\".when(\"" + c.name + "\", " + c.wanted.text() + ") can never hold: ";
    const std::size_t other = index_of(c.name);
    if (other >= i) {
      throw error(what + (other < parameters_.size() ? "\"" + c.name + "\" must stand before it; move it up"
                                                     : "there is no such parameter; before it stand " + names(i)));
    }
    const domain& d = parameters_[other].where;
    if (d.type() == domain::kind::dependent) continue;
    if (!d.find(c.wanted)) throw error(what + "\"" + c.name + "\" is " + d.text());
    if (d.type() == domain::kind::number && !d.is_quantised())
      throw error(what + "\"" + c.name + "\" is any number of " + d.text() +
                  ", and none of them twice; give a function instead");
  }
  config required;
  require_conditions(p, required);
}

MANTA_DECL void space::require_conditions(const parameter& p, config& required) const {
  for (const condition& c : p.where.conditions()) {
    if (c.name.empty()) continue;
    const value* there = required.find(c.name);
    if (there != nullptr && !(*there == c.wanted)) {
      throw error("manta: a space: the conditions of \"" + p.name + "\" can never hold together: \"" + c.name +
                  "\" would have to be " + there->text() + " and " + c.wanted.text());
    }
    required.set(c.name, c.wanted);
    require_conditions(*find(c.name), required);
  }
}

}  // namespace manta::tune
