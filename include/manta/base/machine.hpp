// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The resources that the machine and the batch system allow a process: the limits of its control groups (versions 1 and
// 2), memory, visible devices. The functions work on texts, so that tests can use texts of other machines: read(path)
// returns the text of a file ("" if it is missing), get(name) the value of a variable or null.
#pragma once

#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "manta/base/containers.hpp"

namespace manta::base {

/// The text of a file; empty if it cannot be read. For the small files of /proc and /sys.
inline std::string read_file(const std::string& path) {
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  char part[4096];
  for (ssize_t got = 0; (got = ::read(file, part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(got));
  close(file);
  return text;
}

/// The number at the beginning of a text, or `otherwise`.
inline double leading_number(const std::string& text, double otherwise) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end == text.c_str() ? otherwise : value;
}

/// The positive number in a variable, without the unit behind it; 0 if the variable is not set or holds something else.
template <class Get>
double positive_variable(Get&& get, const char* name) {
  const char* text = get(name);
  const double value = text == nullptr ? 0 : leading_number(text, 0);
  return value > 0 ? value : 0;
}

/// Finds the control group of this process in the text of /proc/self/cgroup: for version 1 by the controller's name,
/// for version 2 by "". False if there is none.
inline bool find_cgroup(const std::string& listing, std::string_view controller, std::string& path) {
  for (std::size_t begin = 0; begin < listing.size();) {
    std::size_t end = listing.find('\n', begin);
    if (end == std::string::npos) end = listing.size();
    const std::string_view line(listing.data() + begin, end - begin);
    begin = end + 1;
    const std::size_t first = line.find(':'), second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view names = line.substr(first + 1, second - first - 1);
    bool found = controller.empty() && names.empty();
    for (std::size_t at = 0; !controller.empty() && at < names.size();) {
      std::size_t comma = names.find(',', at);
      if (comma == names.npos) comma = names.size();
      found = found || names.substr(at, comma - at) == controller;
      at = comma + 1;
    }
    if (!found) continue;
    path = line.substr(second + 1);
    return true;
  }
  return false;
}

/// The smallest limit(folder) among a control group's folder and the folders above it, up to the mount point: the limit
/// of an outer group holds for the inner ones. A negative result means no limit. Inside a container the listed path may
/// not exist, but the mount point does.
template <class Limit>
double least_limit(const std::string& mount, std::string path, Limit&& limit) {
  double least = -1;
  for (;;) {
    while (!path.empty() && path.back() == '/') path.pop_back();
    const double each = limit(mount + path);
    if (each >= 0 && (least < 0 || each < least)) least = each;
    if (path.empty()) return least;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

/// Number of processors that the control groups grant, possibly a fraction; negative: no limit.
template <class Read>
double cgroup_cpus(Read&& read) {
  const std::string listing = read("/proc/self/cgroup");
  std::string path;
  double least = -1;
  const auto take = [&](double each) {
    if (each >= 0 && (least < 0 || each < least)) least = each;
  };
  if (find_cgroup(listing, "cpu", path)) {
    for (const char* mount : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"}) {
      take(least_limit(mount, path, [&](const std::string& folder) {
        const double quota = leading_number(read(folder + "/cpu.cfs_quota_us"), -1);
        const double period = leading_number(read(folder + "/cpu.cfs_period_us"), 0);
        return quota > 0 && period > 0 ? quota / period : -1;
      }));
    }
  }
  if (find_cgroup(listing, "", path)) {
    for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
      take(least_limit(mount, path, [&](const std::string& folder) {
        const std::string text = read(folder + "/cpu.max");  // "200000 100000" or "max 100000"
        const double quota = leading_number(text, -1);
        const std::size_t space = text.find(' ');
        const double period = space == std::string::npos ? 100'000 : leading_number(text.substr(space), 0);
        return quota > 0 && period > 0 ? quota / period : -1;
      }));
    }
  }
  return least;
}

/// Bytes of memory that the control groups grant; negative: no limit.
template <class Read>
double cgroup_memory(Read&& read) {
  const std::string listing = read("/proc/self/cgroup");
  std::string path;
  double least = -1;
  const auto look = [&](const char* mount, const char* file) {
    const double each = least_limit(mount, path, [&](const std::string& folder) {
      const double bytes = leading_number(read(folder + file), -1);  // "max" means no limit
      return bytes > 0 && bytes < 1e18 ? bytes : -1;                 // in version 1 a huge number means no limit
    });
    if (each >= 0 && (least < 0 || each < least)) least = each;
  };
  if (find_cgroup(listing, "memory", path)) look("/sys/fs/cgroup/memory", "/memory.limit_in_bytes");
  if (find_cgroup(listing, "", path)) {
    look("/sys/fs/cgroup", "/memory.max");
    look("/sys/fs/cgroup/unified", "/memory.max");
  }
  return least;
}

/// Bytes of the machine's memory, from the text of /proc/meminfo; negative: unknown.
inline double physical_memory(const std::string& meminfo) {
  const std::size_t at = meminfo.find("MemTotal:");
  return at == std::string::npos ? -1 : 1024 * leading_number(meminfo.substr(at + 9), -1.0 / 1024);
}

/// Number of cores of one rank: the number that Slurm gives each task, else an equal share of the cores that the node's
/// ranks may use together. It is at least one, and at most these cores and the quota.
template <class Read, class Get>
int cpus_of_rank(int node_cores, int ranks_on_node, Read&& read, Get&& get) {
  double all = node_cores;
  const double quota = cgroup_cpus(read);
  if (quota >= 0 && quota < all) all = quota;
  const double given = positive_variable(get, "SLURM_CPUS_PER_TASK");
  const double share = given > 0 && given < all ? given : given > 0 ? all : all / ranks_on_node;
  return share >= 1 ? static_cast<int>(share) : 1;
}

/// Bytes of memory of one rank: its share of the smallest known limit of the node, and at most what Slurm gives its
/// cores. 0: no limit is known.
template <class Read, class Get>
double memory_of_rank(int cpus, int ranks_on_node, Read&& read, Get&& get) {
  double node = physical_memory(read("/proc/meminfo"));
  const auto limit = [&](double bytes) {
    if (bytes > 0 && (node < 0 || bytes < node)) node = bytes;
  };
  limit(cgroup_memory(read));
  limit(positive_variable(get, "SLURM_MEM_PER_NODE") * 1048576);
  limit(positive_variable(get, "SLURM_MEM_PER_GPU") * 1048576 * positive_variable(get, "SLURM_GPUS_ON_NODE"));
  double share = node < 0 ? 0 : node / ranks_on_node;
  const double by_cpu = positive_variable(get, "SLURM_MEM_PER_CPU") * 1048576 * cpus;
  if (by_cpu > 0 && (share <= 0 || by_cpu < share)) share = by_cpu;
  return share;
}

/// The folder for values that do not fit in memory: on a disk of the node, because a folder in memory
/// would save nothing.
template <class Get>
std::string spill_folder(Get&& get) {
  constexpr decltype(statfs::f_type) in_memory = 0x01021994;  // tmpfs
  for (const char* name : {"SLURM_TMPDIR", "TMPDIR"}) {
    const char* folder = get(name);
    struct statfs system;
    if (folder != nullptr && statfs(folder, &system) == 0 && system.f_type != in_memory && access(folder, W_OK) == 0) {
      return folder;
    }
  }
  return ".";
}

/// The devices that a process sees, as the environment lists them: "0,1,3", "GPU-8f6a...". `alone`: the batch system
/// gave them to this rank alone, so other ranks have other devices, even with the same list.
struct visible_devices {
  std::string list;
  bool alone = false;
};
template <class Get>
visible_devices find_devices(Get&& get) {
  visible_devices found;
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "SLURM_STEP_GPUS", "SLURM_JOB_GPUS"}) {
    const char* text = get(name);
    if (text == nullptr) continue;
    found.list = text;  // an empty list means no devices
    break;
  }
  found.alone = get("SLURM_GPUS_PER_TASK") != nullptr;
  return found;
}

/// Number of devices in a list. As in CUDA, the entries behind one that names no device ("-1", "NoDevFiles")
/// do not count.
inline int count_devices(const std::string& list) {
  int count = 0;
  for (std::size_t begin = 0; begin < list.size();) {
    std::size_t end = list.find(',', begin);
    if (end == std::string::npos) end = list.size();
    while (begin < end && list[begin] == ' ') ++begin;
    const std::string_view item(list.data() + begin, end - begin);
    const bool number = !item.empty() && item[0] >= '0' && item[0] <= '9';
    if (!number && !item.starts_with("GPU-") && !item.starts_with("MIG-")) break;
    const std::size_t dash = number ? item.find('-') : item.npos;  // Slurm may write 0-3
    count += dash == item.npos ? 1
                               : 1 + static_cast<int>(leading_number(std::string(item.substr(dash + 1)), 0) -
                                                      leading_number(std::string(item), 0));
    begin = end + 1;
  }
  return count;
}

/// One rank's share of the devices that several ranks of a node see: whole devices in turn if there are enough, else an
/// equal part of one device.
struct device_share {
  std::uint64_t whole = 0;  ///< one bit for each whole device
  int part = -1;
  int part_ranks = 1;  ///< number of ranks that share this device
};
inline device_share share_devices(int devices, int rank, int ranks) {
  device_share mine;
  if (devices > 64) devices = 64;
  if (devices <= 0) return mine;
  if (devices >= ranks) {
    for (int i = rank; i < devices; i += ranks) mine.whole |= std::uint64_t{1} << i;
    return mine;
  }
  mine.part = rank % devices;
  mine.part_ranks = ranks / devices + (mine.part < ranks % devices ? 1 : 0);
  if (mine.part_ranks > 1) return mine;
  mine.whole = std::uint64_t{1} << mine.part;
  mine.part = -1;
  return mine;
}

}  // namespace manta::base
