// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The resources that a rank offers, and the free part of them.
#pragma once

#include "manta/graph/devices.hpp"
#include "manta/graph/quantity.hpp"

namespace manta::graph {

/// Resources of a rank, or of a bundle, that can be given to tasks.
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

/// The resources of one rank, and whether it runs tasks.
struct capacity {
  int cpus = 1;
  gpu_set gpus;
  int node = 0;  ///< -1: the rank has died
  quantities resources;
  bool executes = true;    ///< rank 0 of a larger world only schedules
  bool stands_by = false;  ///< a spare rank, which executes tasks only after it has replaced a dead rank

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

inline std::string describe(int cpus, std::int64_t gpu_units, const quantities& amounts) {
  std::string text = "cpus = " + std::to_string(cpus);
  if (gpu_units > 0) text += ", gpus = " + describe_units(gpu_units);
  if (!amounts.empty()) text += ", " + describe(amounts);
  return text;
}

}  // namespace manta::graph
