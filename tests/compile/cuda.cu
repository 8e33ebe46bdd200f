// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Everything in one .cu file: kernels beside tasks, actors, gangs, streams, Eigen
// and tune. cuda.py compiles, links and runs it; without a device the task with the
// kernel fails, and that failure is what the program expects then.
#include <manta/eigen.hpp>
#include <manta/manta.hpp>
#include <manta/tune.hpp>

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace tune = manta::tune;

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

int square(int x) { return x * x; }
int add(int a, int b) { return a + b; }
double norm(const Eigen::MatrixXd& m) { return m.norm(); }
double trace(Eigen::Ref<const Eigen::MatrixXd> m) { return m.trace(); }
double total(std::span<const double> v) {
  double sum = 0;
  for (double e : v) sum += e;
  return sum;
}
int ranks_of(manta::team team, int n) { return n * team.size(); }

manta::generator<int> count_to(int n) {
  for (int i = 0; i < n; ++i) co_yield i;
}

class counter {
 public:
  explicit counter(int start) : count_(start) {}
  int add(int n) { return count_ += n; }
  int count() const { return count_; }

 private:
  int count_;
};

double loss(const tune::config& c) {
  const double x = c["x"];
  return (x - 1) * (x - 1);
}

int failures = 0;
void expect(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::printf("wrong: %s\n", what);
}

int driver() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
  const std::vector<double> ones(1000, 1.0);
  try {
    expect(manta::async<scaled_sum>(ones, 2.0).get() == 2000, "the kernel's sum");
    expect(devices > 0, "the kernel's task does not fail without a device");
  } catch (const manta::task_failed& failure) {
    expect(devices == 0, failure.what());
  }

  const auto squares = manta::map<square>(std::vector<int>{1, 2, 3});
  expect(manta::reduce<add>(squares).get() == 14, "map and reduce");
  expect(manta::async([](int a, int b) { return a - b; }, squares[2], 4).get() == 5, "a lambda");
  const auto identity = manta::put(Eigen::MatrixXd(Eigen::MatrixXd::Identity(40, 40)));
  expect(std::abs(manta::async<norm>(identity).get() - std::sqrt(40.0)) < 1e-12, "an Eigen matrix");
  expect(manta::async<trace>(identity).get() == 40, "an Eigen view");
  expect(manta::async<total>(ones).get() == 1000, "a span");
  expect(manta::async<ranks_of>({.ranks = 1}, 7).get() == 7, "a gang");
  int sum = 0;
  for (auto& f : manta::async<count_to>(5)) sum += f.get();
  expect(sum == 10, "a stream");
  const auto c = manta::spawn<counter>({.name = "counter"}, 1);
  manta::async<&counter::add>(c, squares[1]);
  expect(manta::async<&counter::count>(c).get() == 5, "an actor");
  const auto found = tune::run<loss>({{"x", tune::uniform(0, 2)}}, {.minimise = "loss", .trials = 8});
  expect(found.best_value() < 1, "a search");
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return manta::run(argc, argv, driver); }
