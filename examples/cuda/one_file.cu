// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A task with a kernel, everything in one .cu file: the task holds one device
// (`.gpus = 1`) while it runs, and asks which one it has.
//
//   nvcc -std=c++20 -ccbin mpicxx -DOMPI_SKIP_MPICXX -Xcompiler -pthread one_file.cu -o one_file
//   CUDA_VISIBLE_DEVICES=0,1 mpirun -n 3 ./one_file
//
// Expected output:
//   8 tasks on the devices that there are: the sums are right
// or, where no rank has a device, what to do about it.
//
// In a .cu file a lambda cannot be a template argument, neither `async<[](int x) { ... }>` nor the name of a constexpr
// lambda: nvcc hands the host's compiler a text that is no C++ any more. Name a function: async<f>(...), map<f>(...).
// A lambda as an ordinary argument, async([](int x) { ... }, 3), is fine.
#include <manta/manta.hpp>

#include <cereal/types/vector.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

__global__ void scale(double* x, int n, double factor) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] *= factor;
}

void check(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(code));
}

/// A task as any other: an exception fails it, and arrives where its future is read.
std::vector<double> scaled(std::vector<double> v, double factor) {
  check(cudaSetDevice(manta::this_task::gpu_ids().at(0)));
  const std::size_t bytes = v.size() * sizeof(double);
  double* x = nullptr;
  check(cudaMalloc(&x, bytes));
  check(cudaMemcpy(x, v.data(), bytes, cudaMemcpyHostToDevice));
  const int n = static_cast<int>(v.size());
  scale<<<(n + 255) / 256, 256>>>(x, n, factor);
  check(cudaGetLastError());
  check(cudaMemcpy(v.data(), x, bytes, cudaMemcpyDeviceToHost));
  check(cudaFree(x));
  return v;
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
      std::puts("no rank has a device: name those of this node in CUDA_VISIBLE_DEVICES, or start under Slurm with --gpus;\n"
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
