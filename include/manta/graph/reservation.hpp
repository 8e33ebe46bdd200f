// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Reservations: several bundles of resources that the scheduler takes in one step, all or none. This header finds
// places for the bundles; the scheduler decides when, and gives the resources in the bundles to tasks.
#pragma once

#include "manta/base/text.hpp"
#include "manta/graph/node.hpp"
#include "manta/graph/possible.hpp"

namespace manta::graph {

/// A part of one rank.
struct bundle : needs {
  bool fits(const stock& s) const { return cpus <= s.cpus && s.fits(*this); }
  /// Whether a task with this request could run in the bundle if nothing in it were taken.
  bool is_enough_for(const request& r) const {
    return r.cpus <= cpus && r.gpu_units <= gpu_units && graph::fits(r.resources, resources);
  }
  std::uint64_t take_from(stock& s) const {
    s.cpus -= cpus;
    return s.take(*this);
  }
  void give_to(stock& s, std::uint64_t devices) const {
    s.cpus += cpus;
    s.give(devices, *this);
  }
  void write(wire::buffer& out) const {
    wire::put(out, cpus);
    wire::put(out, gpu_units);
    resources.write(out);
  }
  void read(wire::source& in) {
    in.get(cpus);
    in.get(gpu_units);
    resources.read(in);
  }
};
using bundles = base::array<bundle>;

inline std::string describe(const bundles& all) {
  std::string text;
  for (const bundle& b : all) {
    text += (text.empty() ? "[" : " [") + describe(b) + "]";
  }
  return text;
}

/// pack: on as few nodes as possible. spread: on as many nodes as possible. Both use as many ranks as possible, because
/// a rank runs one task at a time.
enum class strategy : std::uint8_t { pack, spread };

/// A rank on which a bundle may be placed, with its free resources. Lists of sites are ordered by node.
struct site {
  stock* here;
  std::uint32_t rank;
  int node;
};

/// Finds places for bundles: the best first, then, within a limit of steps, others until all bundles have one.
class place_finder {
 public:
  place_finder(base::list<site>& sites, const bundles& wanted, strategy how)
      : sites_(sites), wanted_(wanted), how_(how), on_site_(sites.size()) {
    int nodes = 0;
    for (const site& s : sites) nodes = s.node >= nodes ? s.node + 1 : nodes;
    on_node_.resize(static_cast<std::size_t>(nodes), 0);
    order_.resize(wanted.size(), 0);
    for (std::uint32_t i = 0; i < wanted.size(); ++i) {  // large bundles come first
      std::uint32_t at = i;
      for (; at > 0 && larger(wanted[i], wanted[order_[at - 1]]); --at) order_[at] = order_[at - 1];
      order_[at] = i;
    }
    chosen_.resize(wanted.size(), 0);
  }

  /// Whether there is a place for each bundle. Takes nothing.
  bool find() {
    if (how_ == strategy::pack) {
      for (std::size_t begin = 0, end = 0; begin < sites_.size(); begin = end) {
        while (end < sites_.size() && sites_[end].node == sites_[begin].node) ++end;
        steps_ = 1000;
        if (search(0, begin, end)) return true;
      }
    }
    steps_ = 10'000;
    return search(0, 0, sites_.size());
  }
  const site& place_of(std::size_t bundle) const { return sites_[chosen_[bundle]]; }

 private:
  static bool larger(const bundle& a, const bundle& b) {
    if (a.gpu_units != b.gpu_units) return a.gpu_units > b.gpu_units;
    if (a.cpus != b.cpus) return a.cpus > b.cpus;
    std::int64_t sum = 0;
    for (const quantity& q : a.resources) sum += q.units;
    for (const quantity& q : b.resources) sum -= q.units;
    return sum > 0;
  }
  std::uint64_t key(std::size_t i) const {
    const std::uint64_t there = on_node_[static_cast<std::size_t>(sites_[i].node)];
    return (how_ == strategy::pack ? wanted_.size() - there : there) << 44 | std::uint64_t{on_site_[i]} << 24 | (i + 1);
  }
  bool search(std::size_t k, std::size_t begin, std::size_t end) {
    if (k == wanted_.size()) return true;
    const bundle& b = wanted_[order_[k]];
    for (std::uint64_t last = 0;;) {
      std::uint64_t best = ~std::uint64_t{0};
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint64_t each = key(i);
        if (each > last && each < best && b.fits(*sites_[i].here)) best = each;
      }
      if (best == ~std::uint64_t{0} || steps_ == 0) return false;
      --steps_;
      const std::size_t i = (best & 0xffffff) - 1;
      auto& on_node = on_node_[static_cast<std::size_t>(sites_[i].node)];
      ++on_site_[i], ++on_node;
      const std::uint64_t devices = b.take_from(*sites_[i].here);
      chosen_[order_[k]] = i;
      const bool found = search(k + 1, begin, end);
      b.give_to(*sites_[i].here, devices);
      --on_site_[i], --on_node;
      if (found) return true;
      last = best;
    }
  }

  base::list<site>& sites_;
  const bundles& wanted_;
  strategy how_;
  base::array<std::uint32_t> on_site_;
  base::list<std::uint32_t> on_node_, order_;
  base::list<std::size_t> chosen_;
  unsigned steps_ = 0;
};

/// Ranks that run tasks, ordered by node; their stocks by rank.
inline base::list<site> sites_of(const offers& world, stock* (*at)(void*, std::uint32_t), void* stocks) {
  base::list<site> sites;
  int nodes = 0;
  for (std::size_t r = 0; r < world.size(); ++r) nodes = std::max(nodes, world[r].node + 1);
  base::array<std::uint32_t> first(static_cast<std::size_t>(nodes) + 1);
  for (std::size_t r = 0; r < world.size(); ++r)
    first[static_cast<std::size_t>(world[r].node) + 1] += world[r].executes;
  for (std::size_t n = 1; n < first.size(); ++n) first[n] += first[n - 1];
  sites.resize(first[first.size() - 1], site{nullptr, 0, 0});
  for (std::uint32_t r = 0; r < world.size(); ++r) {
    if (!world[r].executes) continue;
    sites[first[static_cast<std::size_t>(world[r].node)]++] = {at(stocks, r), r, world[r].node};
  }
  return sites;
}

/// Throws unschedulable if the world could not meet the reservation even with nothing taken.
inline void require_possible(const bundles& wanted, strategy how, const offers& world) {
  base::array<stock> stocks(world.size());
  for (std::size_t r = 0; r < world.size(); ++r) stocks[r] = world[r].whole();
  base::list<site> sites = sites_of(
      world, [](void* all, std::uint32_t r) { return &(*static_cast<base::array<stock>*>(all))[r]; }, &stocks);
  if (place_finder(sites, wanted, how).find()) return;
  for (const bundle& b : wanted) {
    request alone;
    static_cast<needs&>(alone) = b;
    if (require_possible(alone, world, "a bundle of this reservation")) {
      throw unschedulable(
          "manta: a bundle of this reservation fits on no rank but 0, which only schedules; set "
          "runtime_options::rank0_tasks");
    }
  }
  throw unschedulable(base::text(
      "manta: this reservation can never be met: each of its {} bundles fits on some rank, but not all of them at "
      "once: {}; the world of size {} offers:{}; ask for less or start more ranks",
      wanted.size(), describe(wanted), world.size(), describe(world)));
}

/// A reservation at the scheduler.
struct reservation {
  struct part {
    bundle wanted;
    std::uint32_t rank = no_index;
    stock free;           ///< the part that neither tasks nor actors in the bundle have taken
    stock without_tasks;  ///< the part that actors in the bundle have not taken
    std::uint64_t devices = 0;
  };
  std::uint64_t id = 0;
  std::uint32_t home_rank = 0, home_index = 0;  ///< the node that is ready when it is met
  strategy how = strategy::pack;
  bool met = false;
  bundles wanted;
  base::array<part> parts;

  reservation(std::uint64_t its_id, strategy its_strategy, bundles&& asked)
      : id(its_id), how(its_strategy), wanted(std::move(asked)), parts(wanted.size()) {}
};

}  // namespace manta::graph
