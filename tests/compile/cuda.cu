// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A kernel beside all that program.hpp has, in one .cu file. cuda.py compiles,
// links and runs it; without a device the task with the kernel fails, and that
// failure is what the program expects then.
#include "program.hpp"

#include <stdexcept>
#include <string>

namespace {

__global__ void scale(double* x, int n, double factor) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] *= factor;
}

void check(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(code));
}

double scaled_sum(std::vector<double> v, double factor) {
  const std::vector<int>& devices = manta::this_task::gpu_ids();
  if (!devices.empty()) check(cudaSetDevice(devices.front()));
  const std::size_t bytes = v.size() * sizeof(double);
  double* x = nullptr;
  check(cudaMalloc(&x, bytes));
  check(cudaMemcpy(x, v.data(), bytes, cudaMemcpyHostToDevice));
  const int n = static_cast<int>(v.size());
  scale<<<(n + 255) / 256, 256>>>(x, n, factor);
  check(cudaMemcpy(v.data(), x, bytes, cudaMemcpyDeviceToHost));
  check(cudaFree(x));
  double sum = 0;
  for (double e : v) sum += e;
  return sum;
}

int driver() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
  try {
    expect(manta::async<scaled_sum>(std::vector<double>(1000, 1.0), 2.0).get() == 2000, "the kernel's sum");
    expect(devices > 0, "the kernel's task does not fail without a device");
  } catch (const manta::task_failed& failure) {
    expect(devices == 0, failure.what());
  }
  try_everything();
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return manta::run(argc, argv, driver); }
