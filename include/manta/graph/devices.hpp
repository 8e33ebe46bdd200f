// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Devices of a rank. The scheduler distinguishes them, so that each task knows which ones it holds.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "manta/base/containers.hpp"
#include "manta/base/error.hpp"
#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/graph/quantity.hpp"

namespace manta::graph {

/// Devices that a rank may use. A device is named by its place in the order of the devices that the process sees. The
/// ranks of a node that see the same devices share them: whole devices, or one device in parts.
struct gpu_set {
  static constexpr int most = 64;  ///< number of places; further devices are not used
  static constexpr std::int64_t whole_device = static_cast<std::int64_t>(quantity_units);

  std::uint64_t whole = 0;      ///< one bit for each device that belongs to this rank alone
  int part = -1;                ///< the device that this rank shares with other ranks
  std::int64_t part_units = 0;  ///< this rank's part of that device

  int whole_count() const { return __builtin_popcountll(whole); }
  std::int64_t units() const { return whole_count() * whole_device + part_units; }
  bool can_fit(std::int64_t wanted) const {
    return wanted <= whole_device ? (wanted <= part_units || whole != 0 || wanted == 0)
                                  : whole_count() * whole_device >= wanted;
  }
  friend bool operator==(const gpu_set&, const gpu_set&) = default;
};

/// The free parts of some devices. A request for at most one device is met by one device, the fullest that fits; a
/// larger request is met by whole devices.
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
  /// Takes devices for a request that fits; returns one bit for each.
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

/// Converts a number of devices to units. Throws if it is no possible number.
inline std::int64_t gpu_units(double gpus, const char* where) {
  const double units = gpus * quantity_units;
  if (!base::is_nan(gpus) && gpus > gpu_set::most) {
    throw unschedulable(base::text("manta: {} = {} is more than the 64 devices that a rank can have", where, gpus));
  }
  if (base::is_nan(gpus) || gpus < 0 || (gpus > 1 && gpus != std::floor(gpus)) || (gpus > 0 && units < 1)) {
    throw error(base::text(
        "manta: {} = {} is no number of devices; give a part of one device (0.25) or a whole number up to 64", where,
        gpus));
  }
  return std::llround(units);
}

}  // namespace manta::graph
