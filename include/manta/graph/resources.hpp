// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a rank offers and what a task asks for. Quantities are admission only:
// manta counts them, it does not enforce them.
#pragma once

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "manta/base/error.hpp"

namespace manta::graph {

/// Named amounts, kept in units of 1/10000 so that fractions add up exactly.
using quantities = std::map<std::string, std::int64_t>;
inline constexpr double quantity_units = 10000;

inline quantities to_quantities(const std::map<std::string, double>& amounts) {
  quantities result;
  for (const auto& [name, amount] : amounts) {
    if (!(amount >= 0) || amount > 1e12) {
      throw error("manta: the amount of resource \"" + name + "\" must be a number of at least 0");
    }
    result[name] = std::llround(amount * quantity_units);
  }
  return result;
}

inline bool fits(const quantities& wanted, const quantities& offered) {
  for (const auto& [name, amount] : wanted) {
    const auto at = offered.find(name);
    if (amount > 0 && (at == offered.end() || at->second < amount)) return false;
  }
  return true;
}

/// What one rank has.
struct capacity {
  int cpus = 1;
  int node = 0;
  quantities resources;
  bool executes = true;  ///< rank 0 of a larger world only schedules

  template <class Archive>
  void serialize(Archive& archive) {
    archive(cpus, node, resources, executes);
  }
};

/// What one task asks for beyond "run anywhere"; shared by the tasks that were given the same options.
struct request {
  std::string name;
  int cpus = 1;
  quantities resources;
  int rank = -1;
  int node = -1;
  int retries = 0;
  bool actor = false;    ///< holds its resources until the actor ends
  bool detached = false;
  int concurrency = 1;

  /// May run on any rank at any time: only its name or its retries differ from the default.
  bool anywhere() const { return cpus <= 1 && resources.empty() && rank < 0 && node < 0 && !actor; }
  bool possible(int on_rank, const capacity& c) const {
    return c.executes && cpus <= c.cpus && (rank < 0 || rank == on_rank) && (node < 0 || node == c.node) &&
           fits(resources, c.resources);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, cpus, resources, rank, node, retries, actor, detached, concurrency);
  }
};

inline std::string describe(const quantities& amounts) {
  std::string text;
  for (const auto& [name, amount] : amounts) {
    std::string number = std::to_string(static_cast<double>(amount) / quantity_units);
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') number.pop_back();
    text += (text.empty() ? "" : ", ") + name + " = " + number;
  }
  return text;
}

/// Throws unschedulable if no rank can ever run it, naming what there is.
inline void require_possible(const request& wanted, const std::vector<capacity>& world, const std::string& what) {
  for (std::size_t rank = 0; rank < world.size(); ++rank) {
    if (wanted.possible(static_cast<int>(rank), world[rank])) return;
  }
  std::string text = "manta: no rank can ever run " + what + ": it asks for cpus = " + std::to_string(wanted.cpus);
  if (!wanted.resources.empty()) text += ", " + describe(wanted.resources);
  if (wanted.rank >= 0) text += ", rank = " + std::to_string(wanted.rank);
  if (wanted.node >= 0) text += ", node = " + std::to_string(wanted.node);
  text += "; there are " + std::to_string(world.size()) + " ranks, which offer:";
  std::map<std::string, std::pair<int, std::size_t>> offers;  // description -> how many, first
  for (std::size_t rank = 0; rank < world.size(); ++rank) {
    const capacity& c = world[rank];
    std::string offer = c.executes ? "cpus = " + std::to_string(c.cpus) + ", node = " + std::to_string(c.node)
                                   : "no tasks (it schedules)";
    if (!c.resources.empty()) offer += ", " + describe(c.resources);
    auto& entry = offers.try_emplace(offer, 0, rank).first->second;
    ++entry.first;
  }
  for (const auto& [offer, entry] : offers) {
    text += " [rank " + std::to_string(entry.second) +
            (entry.first > 1 ? " and " + std::to_string(entry.first - 1) + " more" : "") + ": " + offer + "]";
  }
  throw unschedulable(text + "; ask for less, start more ranks, or give ranks the resource in runtime_options");
}

}  // namespace manta::graph
