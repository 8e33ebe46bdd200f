// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a rank offers and what a task asks for. Quantities are admission only:
// manta counts them, it does not enforce them. Devices are told apart, so that
// each task can be told which are its own.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "manta/base/containers.hpp"
#include "manta/base/error.hpp"
#include "manta/base/number.hpp"
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
      : name(std::move(its_name)), units(!base::is_nan(amount) && amount >= 0 && amount <= 1e14 ? std::llround(amount * quantity_units) : invalid) {}
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
  bool has(const std::string& name) const {
    for (const quantity& q : list_) {
      if (q.name == name) return true;
    }
    return false;
  }
  /// The units of this name, 0 if it is not there.
  std::int64_t of(const std::string& name) const {
    for (const quantity& q : list_) {
      if (q.name == name) return q.units;
    }
    return 0;
  }
  /// The amount of this name, 0 if it is not there.
  double amount(const std::string& name) const { return static_cast<double>(of(name)) / quantity_units; }
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
      throw error("manta: the amount of resource \"" + q.name + "\" must be a number from 0 to 1e14");
    }
  }
}

inline bool fits(const quantities& wanted, const quantities& offered) {
  for (const quantity& q : wanted) {
    if (q.units > 0 && offered.of(q.name) < q.units) return false;
  }
  return true;
}

/// Devices that a rank may use, each by its place in the order of the devices that the process sees. A node's ranks
/// share out what they all see: whole devices, or one device in parts.
struct gpu_set {
  static constexpr int most = 64;  ///< places; devices behind them are not used
  static constexpr std::int64_t whole_device = static_cast<std::int64_t>(quantity_units);

  std::uint64_t whole = 0;         ///< one bit for each device that is this rank's alone
  int part = -1;                   ///< a device that it shares with other ranks,
  std::int64_t part_units = 0;     ///< and how much of it

  int whole_count() const { return __builtin_popcountll(whole); }
  std::int64_t units() const { return whole_count() * whole_device + part_units; }
  bool can_fit(std::int64_t wanted) const {
    return wanted <= whole_device ? (wanted <= part_units || whole != 0 || wanted == 0)
                                  : whole_count() * whole_device >= wanted;
  }
  friend bool operator==(const gpu_set&, const gpu_set&) = default;
};

/// What is free of some devices. A request for up to one device gets it from one device, the fullest that fits; a
/// larger one gets whole devices.
class device_stock {
 public:
  device_stock() = default;
  explicit device_stock(const gpu_set& all) {
    for (int i = 0; i < gpu_set::most; ++i) {
      if ((all.whole >> i & 1) != 0) at(i) = gpu_set::whole_device;
    }
    if (all.part >= 0) at(all.part) = all.part_units;
  }

  std::int64_t units() const {
    std::int64_t sum = 0;
    for (const std::int64_t each : free_) sum += each;
    return sum;
  }
  bool fits(std::int64_t wanted) const {
    if (wanted == 0) return true;
    if (wanted <= gpu_set::whole_device) return fullest(wanted) >= 0;
    std::int64_t whole = 0;
    for (const std::int64_t each : free_) whole += each == gpu_set::whole_device;
    return whole * gpu_set::whole_device >= wanted;
  }
  /// What fits is taken; one bit for each device.
  std::uint64_t take(std::int64_t wanted) {
    std::uint64_t taken = 0;
    if (wanted > 0 && wanted <= gpu_set::whole_device) taken = bit(fullest(wanted));
    for (std::size_t i = 0; i < free_.size() && wanted > gpu_set::whole_device; ++i) {
      if (free_[i] != gpu_set::whole_device) continue;
      taken |= bit(static_cast<int>(i));
      if (__builtin_popcountll(taken) * gpu_set::whole_device == wanted) break;
    }
    change(taken, wanted, -1);
    return taken;
  }
  void take(std::uint64_t devices, std::int64_t units) { change(devices, units, -1); }
  void give(std::uint64_t devices, std::int64_t units) { change(devices, units, 1); }
  void give(const device_stock& rest) {
    for (std::size_t i = 0; i < rest.free_.size(); ++i) {
      if (rest.free_[i] != 0) at(static_cast<int>(i)) += rest.free_[i];
    }
  }

 private:
  static std::uint64_t bit(int i) { return std::uint64_t{1} << i; }
  std::int64_t& at(int i) {
    const auto place = static_cast<std::size_t>(i);
    if (place >= free_.size()) free_.resize(place + 1, 0);
    return free_[place];
  }
  int fullest(std::int64_t wanted) const {
    int best = -1;
    for (std::size_t i = 0; i < free_.size(); ++i) {
      if (free_[i] < wanted) continue;
      if (best < 0 || free_[i] < free_[static_cast<std::size_t>(best)]) best = static_cast<int>(i);
    }
    return best;
  }
  void change(std::uint64_t devices, std::int64_t units, int sign) {
    const std::int64_t each = units < gpu_set::whole_device ? units : gpu_set::whole_device;
    for (int i = 0; devices != 0; ++i, devices >>= 1) {
      if ((devices & 1) != 0) at(i) += sign * each;
    }
  }

  base::list<std::int64_t> free_;  // by place
};

/// What can be given out of a rank or of a part of it.
struct stock {
  int cpus = 0;
  quantities named;
  device_stock gpus;

  bool fits(std::int64_t gpu_units, const quantities& wanted) const {
    return gpus.fits(gpu_units) && manta::graph::fits(wanted, named);
  }
  std::uint64_t take(std::int64_t gpu_units, const quantities& wanted) {
    const std::uint64_t devices = gpus.take(gpu_units);
    for (const quantity& q : wanted) named[q.name] -= q.units;
    return devices;
  }
  void take(std::uint64_t devices, std::int64_t gpu_units, const quantities& wanted) {
    gpus.take(devices, gpu_units);
    for (const quantity& q : wanted) named[q.name] -= q.units;
  }
  void give(std::uint64_t devices, std::int64_t gpu_units, const quantities& wanted) {
    gpus.give(devices, gpu_units);
    for (const quantity& q : wanted) named[q.name] += q.units;
  }
};

/// What one rank has.
struct capacity {
  int cpus = 1;
  gpu_set gpus;
  int node = 0;          ///< -1: the rank has died
  quantities resources;
  bool executes = true;  ///< rank 0 of a larger world only schedules
  bool stands_by = false;  ///< it does not execute until it takes the place of a rank that has died

  stock whole() const { return {cpus, resources, device_stock(gpus)}; }
  void write(wire::buffer& out) const {
    wire::put(out, cpus);
    wire::put(out, gpus);
    wire::put(out, node);
    resources.write(out);
    wire::put(out, executes);
    wire::put(out, stands_by);
  }
  void read(wire::source& in) {
    in.get(cpus);
    in.get(gpus);
    in.get(node);
    resources.read(in);
    in.get(executes);
    in.get(stands_by);
  }
};

/// Why a task was placed where it is.
enum class placement_reason : std::uint8_t {
  none, rank, node, near, data, spread, bundle, least_work, room, gang, gang_near, gang_spread, gang_in_bundles, ahead
};

/// What the scheduler decided for one request.
struct grant {
  std::uint64_t devices = 0;    ///< one bit for each
  std::uint64_t near_bytes = 0; ///< of its inputs on that rank, if they are the reason
  std::int32_t bundle = -1;     ///< of its reservation
  std::int32_t rank = -1;       ///< -1: not placed
  placement_reason reason = placement_reason::none;
};

/// For reports, in a node's `missing`: the rank, and why it was that one; never 0.
inline std::uint32_t where_it_ran(std::uint32_t rank, placement_reason why) {
  return ((rank + 1) & 0xffffff) | static_cast<std::uint32_t>(why) << 24;
}
inline grant grant_of(std::uint32_t where) {
  grant g;
  g.rank = static_cast<std::int32_t>((where & 0xffffff) - 1);
  g.reason = static_cast<placement_reason>(where >> 24);
  return g;
}

/// What one task asks for beyond "run anywhere". A task has one of its own, because what it was given is noted in it.
struct request : base::counted {
  static constexpr int nowhere = -1;      ///< `near`: not asked for
  static constexpr int not_known = -2;    ///< `near`: asked for, the value is not there yet
  static constexpr std::int64_t never = INT64_MAX;

  std::string name;
  int cpus = 1;
  std::int64_t gpu_units = 0;
  quantities resources;
  int ranks = 0;         ///< of a gang, 0 for a task on one rank
  int nodes = 0;         ///< over which its ranks are spread evenly, 0 for any
  int rank = -1;
  int node = -1;
  mutable int near = nowhere;      ///< the rank where the value lies, known when the task is ready
  bool spread = false;
  int priority = 0;
  int retries = 0;
  std::uint64_t reservation = 0;
  int bundle = -1;       ///< of the reservation; -1: any
  std::int64_t deadline = never;    ///< nanoseconds from submission within which it must start
  std::int64_t duration = 0;        ///< nanoseconds that it is likely to take; 0: not said
  // what only the rank that made it looks at, and what is not sent:
  std::int64_t due = never;         ///< the end of the deadline by that rank's clock
  bool (*retry_if)(const task_failed&) = nullptr;
  std::int64_t retry_after = 0;     ///< nanoseconds before the first retry; twice as many before each further one
  bool actor = false;    ///< holds its resources until the actor ends
  bool detached = false;
  bool overlap_const = false;
  bool at_least_once = false;
  bool isolate = false;  ///< its code runs in a child process
  bool needs_rank_0 = false;  ///< which runs no tasks unless there is such a one
  bool journaled = false;     ///< its result is kept however little time it took
  int concurrency = 1;
  int max_pending = 0;       ///< 0: any number
  int restarts = 0;
  int checkpoint_every = 0;  ///< calls; 0: never
  mutable int cost = nowhere;      ///< the rank that died last when it ran there: it does not come to rank 0 then
  mutable std::string checkpoint;  ///< of an actor whose rank has died: what it is made from, instead of by its constructor
  mutable grant granted;

  bool holds() const { return gpu_units > 0 || !resources.empty(); }
  /// May run on any rank: only its name, its priority, how long it takes or when it is to start or run again differ from
  /// the default.
  bool unconditional() const {
    return cpus <= 1 && !holds() && rank < 0 && node < 0 && near == nowhere && !spread && reservation == 0 && !actor &&
           ranks == 0 && cost < 0;
  }
  /// May run at any time too: needs no decision of rank 0.
  bool anywhere() const { return priority == 0 && unconditional(); }
  /// The program ends with rank 0.
  bool may_come_to(int on_rank) const { return cost < 0 || on_rank != 0; }
  bool possible(int on_rank, const capacity& c) const { return c.executes && fits_on(on_rank, c); }
  /// The same if that rank runs tasks.
  bool fits_on(int on_rank, const capacity& c) const {
    return cpus <= c.cpus && (rank < 0 || rank == on_rank) && (node < 0 || node == c.node) && may_come_to(on_rank) &&
           c.gpus.can_fit(gpu_units) && fits(resources, c.resources);
  }
  /// Inputs at the end of the list that the function does not see: the value that it wants to be near, its reservation.
  std::uint8_t hidden_inputs() const {
    return static_cast<std::uint8_t>((near != nowhere ? 1 : 0) + (reservation != 0 ? 1 : 0));
  }
  /// Its record stays at home until it ends: to run it again, to look at the clock, or because it holds its reservation.
  bool kept() const { return retries > 0 || deadline != never || reservation != 0; }

  void write(wire::buffer& out) const {
    wire::put(out, name);
    for (const int number : {cpus, ranks, nodes, rank, node, near, priority, retries, bundle, concurrency, max_pending,
                             restarts, checkpoint_every, cost}) wire::put(out, number);
    for (const bool flag : {spread, actor, detached, overlap_const, at_least_once, isolate, needs_rank_0, journaled}) wire::put(out, flag);
    wire::put(out, gpu_units);
    wire::put(out, reservation);
    wire::put(out, deadline);
    wire::put(out, duration);
    wire::put(out, granted);
    resources.write(out);
  }
  void read(wire::source& in) {
    name = in.get<std::string>();
    for (int* number : {&cpus, &ranks, &nodes, &rank, &node, &near, &priority, &retries, &bundle, &concurrency,
                        &max_pending, &restarts, &checkpoint_every, &cost}) in.get(*number);
    for (bool* flag : {&spread, &actor, &detached, &overlap_const, &at_least_once, &isolate, &needs_rank_0, &journaled}) in.get(*flag);
    in.get(gpu_units);
    in.get(reservation);
    in.get(deadline);
    in.get(duration);
    in.get(granted);
    resources.read(in);
  }
};
using request_ptr = base::shared<const request>;

/// Throws if it is no number of devices.
inline std::int64_t gpu_units(double gpus, const char* where) {
  const double units = gpus * quantity_units;
  if (!base::is_nan(gpus) && gpus > gpu_set::most) {
    throw unschedulable(std::string("manta: ") + where + " = " + std::to_string(gpus) + " is more than the 64 devices that a rank can have");
  }
  if (base::is_nan(gpus) || gpus < 0 || (gpus > 1 && gpus != std::floor(gpus)) || (gpus > 0 && units < 1)) {
    throw error(std::string("manta: ") + where + " = " + std::to_string(gpus) +
                " is no number of devices; give a part of one device (0.25) or a whole number up to 64");
  }
  return std::llround(units);
}

inline std::string describe_units(std::int64_t units) {
  std::string number = std::to_string(static_cast<double>(units) / quantity_units);
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}
inline std::string describe(const quantities& amounts) {
  std::string text;
  for (const quantity& q : amounts) text += (text.empty() ? "" : ", ") + q.name + " = " + describe_units(q.units);
  return text;
}
inline std::string describe(int cpus, std::int64_t gpu_units, const quantities& amounts) {
  std::string text = "cpus = " + std::to_string(cpus);
  if (gpu_units > 0) text += ", gpus = " + describe_units(gpu_units);
  if (!amounts.empty()) text += ", " + describe(amounts);
  return text;
}

/// What the ranks offer, those that offer the same named together.
inline std::string describe(const base::array<capacity>& world) {
  struct kind {
    std::size_t first, count;
  };
  base::list<kind> kinds;
  const auto offers_same = [](const capacity& a, const capacity& b) {
    return a.executes == b.executes && a.stands_by == b.stands_by && a.cpus == b.cpus && a.gpus.units() == b.gpus.units() && a.node == b.node &&
           a.resources == b.resources;
  };
  for (std::size_t rank = 0; rank < world.size(); ++rank) {
    std::size_t k = 0;
    while (k < kinds.size() && !offers_same(world[kinds[k].first], world[rank])) ++k;
    if (k == kinds.size()) kinds.push_back({rank, 0});
    ++kinds[k].count;
  }
  std::string text;
  for (const kind& k : kinds) {
    const capacity& c = world[k.first];
    text += " [rank " + std::to_string(k.first);
    if (k.count > 1) text += " and " + std::to_string(k.count - 1) + " more";
    text += c.executes ? ": cpus = " + std::to_string(c.cpus) + ", node = " + std::to_string(c.node)
           : c.node < 0 ? ": it has died"
           : c.stands_by ? ": no tasks (it stands by for ranks that die)"
                        : ": no tasks (it schedules; runtime_options.rank0_tasks lets it run some)";
    if (c.gpus.units() > 0) text += ", gpus = " + describe_units(c.gpus.units());
    if (!c.resources.empty()) text += ", " + describe(c.resources);
    text += "]";
  }
  return text;
}

/// What a rank lacks for a request, and of how many kinds.
inline std::string lacks(const request& wanted, int rank, const capacity& c, int& kinds) {
  std::string text;
  kinds = 0;
  const auto add = [&](const std::string& what) {
    text += (kinds++ == 0 ? "" : ", ") + what;
  };
  if (wanted.rank >= 0 && wanted.rank != rank) add("is not rank " + std::to_string(wanted.rank));
  if (wanted.node >= 0 && wanted.node != c.node) add("is not on node " + std::to_string(wanted.node));
  if (wanted.cpus > c.cpus) add("lacks cpus = " + std::to_string(wanted.cpus - c.cpus));
  if (!c.gpus.can_fit(wanted.gpu_units)) {
    const std::int64_t missing = wanted.gpu_units - c.gpus.units();
    add(missing > 0 ? "lacks gpus = " + describe_units(missing) : std::string("has no device whole enough"));
  }
  for (const quantity& q : wanted.resources) {
    const std::int64_t there = c.resources.of(q.name);
    if (there < q.units) add("lacks " + q.name + " = " + describe_units(q.units - there));
  }
  return text;
}

inline bool all_live(const base::array<capacity>& world) {
  for (const capacity& c : world) {
    if (c.node < 0) return false;
  }
  return true;
}

/// Throws unschedulable if no rank can ever run it, or too few can run a gang, naming what it lacks on the nearest rank
/// that cannot and what there is. True if they can only with rank 0, which otherwise only schedules. It joins no gang when
/// ranks have died already: if another one does, it might wait for it inside MPI, and that is the end of the job.
inline bool require_possible(const request& wanted, const base::array<capacity>& world, const std::string& what) {
  base::list<gang_candidate> possible;
  std::size_t nearest = world.size();
  int fewest = 0;
  for (std::size_t rank = 0; rank < world.size(); ++rank) {
    if (wanted.possible(static_cast<int>(rank), world[rank])) {
      if (wanted.ranks == 0) return false;
      possible.push_back({static_cast<std::uint32_t>(rank), world[rank].node});
      continue;
    }
    int kinds = 0;
    if (world[rank].executes) (void)lacks(wanted, static_cast<int>(rank), world[rank], kinds);
    if (world[rank].executes && (nearest == world.size() || kinds < fewest)) {
      nearest = rank;
      fewest = kinds;
    }
  }
  const gang_shape shape{static_cast<std::size_t>(wanted.ranks), wanted.nodes};
  base::list<std::uint32_t> members;
  if (wanted.ranks > 0 && choose_gang(possible, shape, members)) return false;
  if (!world[0].executes && wanted.reservation == 0 && (wanted.ranks == 0 || all_live(world)) && wanted.fits_on(0, world[0])) {
    possible.push_back({0, world[0].node});
    if (wanted.ranks == 0 || choose_gang(possible, shape, members)) return true;
  }
  std::string text = "manta: no rank can ever run " + what + ": it asks for ";
  if (wanted.ranks > 0) {
    text = "manta: " + what + " can never run: it asks for " + std::to_string(wanted.ranks) + " ranks" +
           (wanted.nodes > 0 ? " on " + std::to_string(wanted.nodes) + " nodes" : "") + ", and " +
           std::to_string(possible.size()) + " fit: each with ";
  }
  text += describe(wanted.cpus, wanted.gpu_units, wanted.resources);
  if (wanted.rank >= 0) text += ", rank = " + std::to_string(wanted.rank);
  if (wanted.node >= 0) text += ", node = " + std::to_string(wanted.node);
  if (nearest < world.size()) {
    text += "; nearest is rank " + std::to_string(nearest) + ", which " +
            lacks(wanted, static_cast<int>(nearest), world[nearest], fewest);
  }
  text += "; there are " + std::to_string(world.size()) + " ranks, which offer:" + describe(world);
  throw unschedulable(text + "; ask for less, start more ranks, or give ranks more in runtime_options");
}

}  // namespace manta::graph
