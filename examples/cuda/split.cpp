// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The same as one_file.cu in two parts: kernels and what launches them in
// scale.cu, tasks in this file, which the host's compiler reads, with all of
// C++20 and without nvcc's limits. The usual way for a program of some size.
//
//   nvcc -c scale.cu
//   mpicxx -std=c++20 -DOMPI_SKIP_MPICXX split.cpp scale.o -pthread -L/usr/local/cuda/lib64 -lcudart -o split
//   CUDA_VISIBLE_DEVICES=0,1 mpirun -n 3 ./split
//
// Expected output:
//   8 tasks on the devices that there are: the sums are right
// or, where no rank has a device, what to do about it.
#include <manta/manta.hpp>

#include <cereal/types/vector.hpp>

#include <cstdio>
#include <vector>

#include "scale.hpp"

/// The task asks which device it holds; the function that launches the kernel is told.
std::vector<double> scaled(std::vector<double> v, double factor) {
  return scaled_on(manta::this_task::gpu_ids().at(0), std::move(v), factor);
}

double sum(const std::vector<double>& v) {
  double total = 0;
  for (const double x : v) total += x;
  return total;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    bool some = false;  // whole devices of a rank, as .gpus = 1 needs
    for (const manta::rank_resources& r : manta::capacity()) some = some || r.gpus >= 1;
    if (!some) {
      std::puts(
          "no rank has a device: name those of this node in CUDA_VISIBLE_DEVICES, or start under Slurm with --gpus;\n"
          "one rank more than there are devices: rank 0 runs no tasks");
      return 0;
    }
    const auto ones = manta::put(std::vector<double>(1000, 1.0));
    std::vector<manta::future<double>> sums;
    for (int i = 0; i < 8; ++i) sums.push_back(manta::async<sum>(manta::async<scaled>({.gpus = 1}, ones, 1.0 * i)));
    bool right = true;
    for (int i = 0; i < 8; ++i) right = right && sums[static_cast<std::size_t>(i)].get() == 1000.0 * i;
    std::printf("8 tasks on the devices that there are: the sums are %s\n", right ? "right" : "wrong");
    return right ? 0 : 1;
  });
}
