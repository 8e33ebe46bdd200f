// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The resources that a rank offers, and the free part of them.
#pragma once

#include "manta/base/text.hpp"
#include "manta/graph/devices.hpp"
#include "manta/graph/quantity.hpp"

namespace manta::graph {

/// What a task needs of one rank, or what a bundle takes of it.
struct needs {
  int cpus = 1;
  std::int64_t gpu_units = 0;
  quantities resources;

  /// Calls `visit` with all fields; a field that is missing here does not compile.
  template <class Self, class Visit>
  static void each_field(Self& self, Visit&& visit) {
    auto& [its_cpus, its_gpu_units, its_resources] = self;
    visit(its_cpus, its_gpu_units, its_resources);
  }
  bool operator==(const needs&) const = default;
};

/// Resources of a rank, or of a bundle, that can be given to tasks. The functions leave the cores to their callers: a
/// task may start with fewer than it asks for.
struct stock {
  int cpus = 0;
  quantities named;
  device_stock gpus;

  bool fits(const needs& wanted) const {
    return gpus.fits(wanted.gpu_units) && manta::graph::fits(wanted.resources, named);
  }
  /// Chooses the devices, and returns them.
  std::uint64_t take(const needs& wanted) {
    const std::uint64_t devices = gpus.take(wanted.gpu_units);
    for (const quantity& q : wanted.resources) named[q.name] -= q.units;
    return devices;
  }
  void take(std::uint64_t devices, const needs& wanted) {
    gpus.take(devices, wanted.gpu_units);
    for (const quantity& q : wanted.resources) named[q.name] -= q.units;
  }
  void give(std::uint64_t devices, const needs& wanted) {
    gpus.give(devices, wanted.gpu_units);
    for (const quantity& q : wanted.resources) named[q.name] += q.units;
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

  friend bool operator==(const capacity&, const capacity&) = default;
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

inline std::string describe(const needs& wanted) {
  std::string text = base::text("cpus = {}", wanted.cpus);
  if (wanted.gpu_units > 0) text += ", gpus = " + describe_units(wanted.gpu_units);
  if (!wanted.resources.empty()) text += ", " + describe(wanted.resources);
  return text;
}

}  // namespace manta::graph
