// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a rank offers and what a task asks for. Quantities are admission only:
// manta counts them, it does not enforce them.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "manta/base/containers.hpp"
#include "manta/base/error.hpp"
#include "manta/base/shared.hpp"
#include "manta/graph/gang_choice.hpp"
#include "manta/wire/bytes.hpp"

namespace manta::graph {

inline constexpr double quantity_units = 10000;

/// One named amount, kept in units of 1/10000 so that fractions add up exactly.
struct quantity {
  static constexpr std::int64_t invalid = -1;

  quantity() = default;
  quantity(std::string its_name, double amount)
      : name(std::move(its_name)), units(amount >= 0 && amount <= 1e12 ? std::llround(amount * quantity_units) : invalid) {}
  friend bool operator==(const quantity& a, const quantity& b) { return a.units == b.units && a.name == b.name; }

  std::string name;
  std::int64_t units = 0;
};

/// Named amounts, in the order of their names: {{"gpu", 1}, {"slot", 0.5}}, or a map from names to numbers.
class quantities {
 public:
  quantities() = default;
  quantities(std::initializer_list<quantity> amounts) {
    for (const quantity& q : amounts) (*this)[q.name] = q.units;
  }
  template <class Map>
    requires requires(const Map& map) { quantity(map.begin()->first, static_cast<double>(map.begin()->second)); }
  quantities(const Map& map) {
    for (const auto& [name, amount] : map) (*this)[name] = quantity(name, static_cast<double>(amount)).units;
  }

  bool empty() const { return list_.empty(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  /// The units of this name; added as 0 if it was not there.
  std::int64_t& operator[](const std::string& name) {
    std::size_t at = 0;
    while (at < list_.size() && list_[at].name < name) ++at;
    if (at == list_.size() || list_[at].name != name) {
      list_.emplace_back();
      for (std::size_t i = list_.size() - 1; i > at; --i) std::swap(list_[i], list_[i - 1]);
      list_[at].name = name;
    }
    return list_[at].units;
  }
  /// The units of this name, 0 if it is not there.
  std::int64_t of(const std::string& name) const {
    for (const quantity& q : list_) {
      if (q.name == name) return q.units;
    }
    return 0;
  }
  friend bool operator==(const quantities& a, const quantities& b) { return a.list_ == b.list_; }

  void write(wire::buffer& out) const {
    wire::put(out, list_.size());
    for (const quantity& q : list_) {
      wire::put(out, q.name);
      wire::put(out, q.units);
    }
  }
  void read(wire::source& in) {
    for (auto count = in.get<std::size_t>(); count > 0; --count) {
      const std::string name = in.get<std::string>();
      (*this)[name] = in.get<std::int64_t>();
    }
  }

 private:
  std::vector<quantity> list_;
};

inline void require_valid(const quantities& amounts) {
  for (const quantity& q : amounts) {
    if (q.units == quantity::invalid) {
      throw error("manta: the amount of resource \"" + q.name + "\" must be a number from 0 to 1e12");
    }
  }
}

inline bool fits(const quantities& wanted, const quantities& offered) {
  for (const quantity& q : wanted) {
    if (q.units > 0 && offered.of(q.name) < q.units) return false;
  }
  return true;
}

/// What one rank has.
struct capacity {
  int cpus = 1;
  int node = 0;
  quantities resources;
  bool executes = true;  ///< rank 0 of a larger world only schedules

  void write(wire::buffer& out) const {
    wire::put(out, cpus);
    wire::put(out, node);
    resources.write(out);
    wire::put(out, executes);
  }
  void read(wire::source& in) {
    in.get(cpus);
    in.get(node);
    resources.read(in);
    in.get(executes);
  }
};

/// What one task asks for beyond "run anywhere"; shared by the tasks that were given the same options.
struct request : base::counted {
  static constexpr std::int64_t never = INT64_MAX;

  std::string name;
  int cpus = 1;
  quantities resources;
  int ranks = 0;         ///< of a gang, 0 for a task on one rank
  int nodes = 0;         ///< over which its ranks are spread evenly, 0 for any
  int rank = -1;
  int node = -1;
  int retries = 0;
  std::int64_t deadline = never;    ///< nanoseconds from submission within which it must start
  // what only the rank that made it looks at, and what is not sent:
  std::int64_t due = never;         ///< the end of the deadline by that rank's clock
  bool (*retry_if)(const task_failed&) = nullptr;
  std::int64_t retry_after = 0;     ///< nanoseconds before the first retry; twice as many before each further one
  bool actor = false;    ///< holds its resources until the actor ends
  bool detached = false;
  bool overlap_const = false;
  bool at_least_once = false;
  int concurrency = 1;
  int max_pending = 0;       ///< 0: any number
  int restarts = 0;
  int checkpoint_every = 0;  ///< calls; 0: never

  /// Its home needs the record until it has ended.
  bool kept() const { return retries > 0 || deadline != never; }
  /// May run on any rank at any time: only its name or when it is to start or run again differ from the default.
  bool anywhere() const { return cpus <= 1 && resources.empty() && rank < 0 && node < 0 && !actor && ranks == 0; }
  bool possible(int on_rank, const capacity& c) const {
    return c.executes && cpus <= c.cpus && (rank < 0 || rank == on_rank) && (node < 0 || node == c.node) &&
           fits(resources, c.resources);
  }

  void write(wire::buffer& out) const {
    wire::put(out, name);
    for (const int number : {cpus, ranks, nodes, rank, node, retries, concurrency, max_pending, restarts,
                             checkpoint_every}) wire::put(out, number);
    for (const bool flag : {actor, detached, overlap_const, at_least_once}) wire::put(out, flag);
    wire::put(out, deadline);
    resources.write(out);
  }
  void read(wire::source& in) {
    name = in.get<std::string>();
    for (int* number : {&cpus, &ranks, &nodes, &rank, &node, &retries, &concurrency, &max_pending, &restarts,
                        &checkpoint_every}) in.get(*number);
    for (bool* flag : {&actor, &detached, &overlap_const, &at_least_once}) in.get(*flag);
    in.get(deadline);
    resources.read(in);
  }
};
using request_ptr = base::shared<const request>;

inline std::string describe(const quantities& amounts) {
  std::string text;
  for (const quantity& q : amounts) {
    std::string number = std::to_string(static_cast<double>(q.units) / quantity_units);
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') number.pop_back();
    text += (text.empty() ? "" : ", ") + q.name + " = " + number;
  }
  return text;
}

/// Throws unschedulable if no rank can ever run it, naming what there is.
inline void require_possible(const request& wanted, const base::array<capacity>& world, const std::string& what) {
  base::list<gang_candidate> possible;
  for (std::size_t rank = 0; rank < world.size(); ++rank) {
    if (!wanted.possible(static_cast<int>(rank), world[rank])) continue;
    if (wanted.ranks == 0) return;
    possible.push_back({static_cast<std::uint32_t>(rank), world[rank].node});
  }
  base::list<std::uint32_t> members;
  if (wanted.ranks > 0 && choose_gang(possible, static_cast<std::size_t>(wanted.ranks), wanted.nodes, members)) return;
  std::string text = "manta: no rank can ever run " + what + ": it asks for cpus = " + std::to_string(wanted.cpus);
  if (wanted.ranks > 0) {
    text = "manta: " + what + " can never run: it asks for " + std::to_string(wanted.ranks) + " ranks" +
           (wanted.nodes > 0 ? " on " + std::to_string(wanted.nodes) + " nodes" : "") + ", and " +
           std::to_string(possible.size()) + " fit: with cpus = " + std::to_string(wanted.cpus);
  }
  if (!wanted.resources.empty()) text += ", " + describe(wanted.resources);
  if (wanted.rank >= 0) text += ", rank = " + std::to_string(wanted.rank);
  if (wanted.node >= 0) text += ", node = " + std::to_string(wanted.node);
  text += "; there are " + std::to_string(world.size()) + " ranks, which offer:";
  struct kind {
    std::size_t first, count;
  };
  base::list<kind> kinds;  // ranks that offer the same are named together
  const auto offers_same = [](const capacity& a, const capacity& b) {
    return a.executes == b.executes && a.cpus == b.cpus && a.node == b.node && a.resources == b.resources;
  };
  for (std::size_t rank = 0; rank < world.size(); ++rank) {
    std::size_t k = 0;
    while (k < kinds.size() && !offers_same(world[kinds[k].first], world[rank])) ++k;
    if (k == kinds.size()) kinds.push_back({rank, 0});
    ++kinds[k].count;
  }
  for (const kind& k : kinds) {
    const capacity& c = world[k.first];
    text += " [rank " + std::to_string(k.first);
    if (k.count > 1) text += " and " + std::to_string(k.count - 1) + " more";
    text += c.executes ? ": cpus = " + std::to_string(c.cpus) + ", node = " + std::to_string(c.node)
                       : ": no tasks (it schedules)";
    if (!c.resources.empty()) text += ", " + describe(c.resources);
    text += "]";
  }
  throw unschedulable(text + "; ask for less, start more ranks, or give ranks the resource in runtime_options");
}

}  // namespace manta::graph
