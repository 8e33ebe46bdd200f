// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "manta/tune/nsga2.hpp"

namespace manta::tune {

MANTA_DECL nsga2::nsga2(options o) : options_(o) {
  if (o.population < 2 || is_nan(o.crossover + o.mutation + o.spread) || o.spread <= 0)
    throw error("manta: nsga2 needs a population of at least 2, probabilities, and spread > 0");
  if (o.startup == 0) options_.startup = std::max<std::size_t>(2, o.population / 2);
}

MANTA_DECL void nsga2::begin(const space& where, std::uint64_t seed) {
  cube_ = cube(where, "nsga2");
  seed_ = seed;
  asked_ = 0;
  history_.clear();
  parents_.clear();
}

MANTA_DECL std::optional<config> nsga2::ask(trial_number t) {
  random r(seed_, asked_++, 0x6e736761ULL);
  const bool is_starting = history_.done().size() < options_.startup || history_.succeeded() < 2;
  config c = is_starting ? cube_.where().draw(r) : cube_.where().first_allowed(r, [&] { return child(r); });
  history_.began(t, c);
  return c;
}

MANTA_DECL void nsga2::again(trial_number t, const config& c) {
  ++asked_;
  history_.began(t, c);
}

MANTA_DECL void nsga2::tell(trial_number t, const outcome& o) {
  history_.ended(t, o);
  history_.trim(4 * options_.population);
  parents_.clear();
  for (const tried* each : detail::ranked(history_.done())) {
    if (parents_.size() < options_.population) parents_.push_back(each->parameters);
  }
}

MANTA_DECL const config& nsga2::parent(random& r) const {
  const std::size_t a = r.index(parents_.size()), b = r.index(parents_.size());
  return parents_[std::min(a, b)];
}

MANTA_DECL config nsga2::child(random& r) const {
  const config first = parent(r), second = r.chance(options_.crossover) ? parent(r) : first;
  const double mutation =
      options_.mutation > 0 ? options_.mutation : 1 / static_cast<double>(std::max<std::size_t>(1, cube_.dimensions()));
  std::vector<double> u(cube_.dimensions());
  for (std::size_t i = 0; i < u.size(); ++i) {
    const parameter& p = cube_.axes()[i];
    const value *a = first.find(p.name), *b = second.find(p.name);
    if (a == nullptr) std::swap(a, b);
    if (a == nullptr) {  // neither has it
      u[i] = r.uniform();
      continue;
    }
    const double x = p.where.position(*a);
    u[i] = b == nullptr ? x : crossed(p.where, x, p.where.position(*b), r);
    if (r.chance(mutation)) u[i] = mutated(p.where, u[i], r);
  }
  return cube_.at(u, r);
}

MANTA_DECL double nsga2::crossed(const domain& d, double a, double b, random& r) const {
  const bool of_first = r.chance(0.5);
  if (d.type() == domain::kind::choice || r.chance(0.5)) return of_first ? a : b;
  // Simulated binary crossover (Deb, Agrawal, Complex Systems 9, 1995).
  const double u = r.uniform(), power = 1 / (options_.spread + 1);
  const double beta = u < 0.5 ? std::pow(2 * u, power) : std::pow(1 / (2 - 2 * u), power);
  return std::clamp(0.5 * ((a + b) + (of_first ? -beta : beta) * (b - a)), 0.0, 1.0);
}

MANTA_DECL double nsga2::mutated(const domain& d, double x, random& r) const {
  if (d.type() == domain::kind::choice) return r.uniform();
  const double u = r.uniform(), power = 1 / (options_.spread + 1);
  const double delta = u < 0.5 ? std::pow(2 * u, power) - 1 : 1 - std::pow(2 - 2 * u, power);
  return std::clamp(x + delta, 0.0, 1.0);
}

}  // namespace manta::tune
