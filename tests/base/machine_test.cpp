// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What is read out of the texts of other machines: control groups of both
// versions, memory, the batch system's variables, lists of devices.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "manta/base/machine.hpp"

using namespace manta::base;

namespace {

/// A machine made of texts.
struct machine {
  std::map<std::string, std::string> files, variables;

  auto read() const {
    return [this](const std::string& path) {
      const auto at = files.find(path);
      return at == files.end() ? std::string() : at->second;
    };
  }
  auto get() const {
    return [this](const char* name) -> const char* {
      const auto at = variables.find(name);
      return at == variables.end() ? nullptr : at->second.c_str();
    };
  }

  int cpus(int node_cores, int ranks_on_node) const { return cpus_of_rank(node_cores, ranks_on_node, read(), get()); }
  double quota() const { return cgroup_cpus(read()); }
  double group_memory() const { return cgroup_memory(read()); }
  double memory(int cpus, int ranks_on_node) const { return memory_of_rank(cpus, ranks_on_node, read(), get()); }
  visible_devices devices() const { return find_devices(get()); }
};

constexpr double gib = 1024.0 * 1024 * 1024;

}  // namespace

TEST_CASE("without limits a rank has its share of the node's cores, and at least one") {
  CHECK(machine{}.cpus(16, 4) == 4);
  CHECK(machine{}.cpus(16, 3) == 5);
  CHECK(machine{}.cpus(2, 8) == 1);
}

TEST_CASE("a quota of version 2 counts, that of an outer group too") {
  machine m;
  m.files["/proc/self/cgroup"] = "0::/user.slice/job_7/step_0\n";
  CHECK(m.quota() < 0);
  m.files["/sys/fs/cgroup/user.slice/job_7/step_0/cpu.max"] = "max 100000\n";
  CHECK(m.quota() < 0);
  m.files["/sys/fs/cgroup/user.slice/job_7/cpu.max"] = "600000 100000\n";
  CHECK(m.quota() == 6);
  CHECK(m.cpus(16, 2) == 3);
  m.files["/sys/fs/cgroup/cpu.max"] = "150000 100000";
  CHECK(m.quota() == 1.5);
  CHECK(m.cpus(16, 1) == 1);
  CHECK(m.cpus(16, 4) == 1);
}

TEST_CASE("a quota of version 1 counts, wherever the controller is mounted") {
  for (const std::string mount : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"}) {
    machine m;
    m.files["/proc/self/cgroup"] = "9:name=systemd:/x\n4:cpuset:/y\n3:cpu,cpuacct:/docker/abc\n0::/\n";
    m.files[mount + "/docker/abc/cpu.cfs_quota_us"] = "-1\n";
    m.files[mount + "/docker/abc/cpu.cfs_period_us"] = "100000\n";
    CHECK(m.quota() < 0);
    m.files[mount + "/docker/abc/cpu.cfs_quota_us"] = "250000\n";
    CHECK(m.quota() == 2.5);
  }
}

TEST_CASE("inside a container, where the listed path does not exist, the mount point's limit counts") {
  machine m;
  m.files["/proc/self/cgroup"] = "3:cpu:/docker/abc\n2:memory:/docker/abc\n";
  m.files["/sys/fs/cgroup/cpu/cpu.cfs_quota_us"] = "400000";
  m.files["/sys/fs/cgroup/cpu/cpu.cfs_period_us"] = "100000";
  m.files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "1073741824";
  CHECK(m.quota() == 4);
  CHECK(m.group_memory() == gib);
}

TEST_CASE("Slurm's cpus for each task are taken, but never more than there are") {
  machine m;
  m.variables["SLURM_CPUS_PER_TASK"] = "3";
  CHECK(m.cpus(16, 8) == 3);
  m.variables["SLURM_CPUS_PER_TASK"] = "32";
  CHECK(m.cpus(16, 8) == 16);
  m.variables["SLURM_CPUS_PER_TASK"] = "many";
  CHECK(m.cpus(16, 8) == 2);
}

TEST_CASE("memory is the share of the least limit that is known") {
  machine m;
  CHECK(m.memory(1, 1) == 0);
  m.files["/proc/meminfo"] = "MemTotal:       16777216 kB\nMemFree:        100 kB\n";
  CHECK(m.memory(1, 4) == 4 * gib);
  m.files["/proc/self/cgroup"] = "0::/job\n";
  m.files["/sys/fs/cgroup/job/memory.max"] = "max\n";
  CHECK(m.memory(1, 4) == 4 * gib);
  m.files["/sys/fs/cgroup/job/memory.max"] = "8589934592\n";
  CHECK(m.memory(1, 4) == 2 * gib);
  m.variables["SLURM_MEM_PER_NODE"] = "4096";
  CHECK(m.memory(1, 4) == gib);
  m.variables["SLURM_MEM_PER_NODE"] = "0";  // Slurm's word for all of it
  CHECK(m.memory(1, 4) == 2 * gib);
  m.variables["SLURM_MEM_PER_CPU"] = "512";
  CHECK(m.memory(2, 4) == gib);
  CHECK(m.memory(16, 4) == 2 * gib);
  m.variables["SLURM_MEM_PER_GPU"] = "2048";
  CHECK(m.memory(16, 4) == 2 * gib);
  m.variables["SLURM_GPUS_ON_NODE"] = "2";
  CHECK(m.memory(16, 4) == gib);
}

TEST_CASE("a huge limit of version 1 means none") {
  machine m;
  m.files["/proc/self/cgroup"] = "2:memory:/\n";
  m.files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "9223372036854771712";
  CHECK(m.group_memory() < 0);
}

TEST_CASE("lists of devices are counted as CUDA reads them") {
  CHECK(count_devices("") == 0);
  CHECK(count_devices("0") == 1);
  CHECK(count_devices("2,0, 1") == 3);
  CHECK(count_devices("GPU-8f6a,MIG-12/1/0") == 2);
  CHECK(count_devices("0,-1,1") == 1);
  CHECK(count_devices("NoDevFiles") == 0);
  CHECK(count_devices("0-3,6") == 5);
}

TEST_CASE("the first variable that is set says which devices there are") {
  machine m;
  CHECK(m.devices().list == "");
  m.variables["SLURM_JOB_GPUS"] = "0,1,2,3";
  CHECK(m.devices().list == "0,1,2,3");
  m.variables["ROCR_VISIBLE_DEVICES"] = "1";
  CHECK(m.devices().list == "1");
  m.variables["CUDA_VISIBLE_DEVICES"] = "";  // set and empty: none
  CHECK(m.devices().list == "");
  CHECK_FALSE(m.devices().alone);
  m.variables["SLURM_GPUS_PER_TASK"] = "1";
  CHECK(m.devices().alone);
}

TEST_CASE("ranks that see the same devices share them out, whole while there are enough") {
  CHECK(share_devices(4, 0, 2).whole == 0b0101);
  CHECK(share_devices(4, 1, 2).whole == 0b1010);
  CHECK(share_devices(0, 0, 2).whole == 0);
  CHECK(share_devices(3, 2, 3).whole == 0b100);
  const device_share third = share_devices(2, 4, 5);  // 0 2 4 on the first, 1 3 on the second
  CHECK(third.whole == 0);
  CHECK(third.part == 0);
  CHECK(third.part_ranks == 3);
  CHECK(share_devices(2, 3, 5).part_ranks == 2);
  CHECK(share_devices(2, 2, 3).part_ranks == 2);
  CHECK(share_devices(2, 1, 3).whole == 0b10);  // alone on it
  CHECK(share_devices(100, 0, 1).whole == ~std::uint64_t{0});
  for (int devices = 1; devices < 8; ++devices) {
    for (int ranks = 1; ranks < 20; ++ranks) {
      double sum = 0;
      for (int r = 0; r < ranks; ++r) {
        const device_share s = share_devices(devices, r, ranks);
        sum += __builtin_popcountll(s.whole) + (s.part >= 0 ? 1.0 / s.part_ranks : 0);
      }
      CHECK(sum == doctest::Approx(devices));
    }
  }
}
