// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The kernel and the function around it; nothing of manta, so that nvcc has
// little to read, and the function can be used and tested without manta.
#include "scale.hpp"

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

}  // namespace

std::vector<double> scaled_on(int device, std::vector<double> v, double factor) {
  check(cudaSetDevice(device));
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
