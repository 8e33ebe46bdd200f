// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Tasks that fail, hang or crash, to be kept and run again: one word of the command line says which. kept.sh starts it.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <manta/manta.hpp>
#include <manta/this_task.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

struct material {
  std::string name;
  double density = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, density);
  }
};

int twice(int n) { return 2 * n; }
std::vector<double> numbers(int n) {
  std::vector<double> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0.5);
  return all;
}

/// Says all that it was given, and what it is. Takes one input away.
int solve(int n, const material& of, int doubled, std::vector<double> many, const std::vector<double>& few) {
  const double sum = std::accumulate(many.begin(), many.end(), 0.0);
  std::printf("solve %d %s %g %d %g %zu, id %llu, seed %llu, attempt %d, %s\n", n, of.name.c_str(), of.density, doubled,
              sum, few.size(), static_cast<unsigned long long>(manta::this_task::id()),
              static_cast<unsigned long long>(manta::this_task::seed()), manta::this_task::attempt(),
              manta::this_task::name().c_str());
  std::fflush(stdout);
  many.clear();
  const int nested = manta::async<twice>(n).get();
  if (std::getenv("IS_MENDED") != nullptr) return nested;
  throw std::runtime_error("no convergence");
}

int passes_at_last(int n) {
  if (manta::this_task::attempt() == 0) throw std::runtime_error("the first attempt");
  return n;
}
int takes_future(manta::future<int> f) { throw std::runtime_error(f.ready() ? "ready" : "not ready"); }
int hangs(int n) {
  std::printf("hangs %d\n", n);
  std::fflush(stdout);
  if (std::getenv("IS_MENDED") != nullptr) return n;
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}
int crashes(int n) {
  std::printf("crashes %d\n", n);
  std::fflush(stdout);
  if (std::getenv("IS_MENDED") == nullptr) std::abort();
  return n;
}

struct gauge {
  int read() { throw std::runtime_error("no pressure"); }
};

int fails() {
  const auto few = manta::async<numbers>(10);
  const auto f = manta::async<solve>({.name = "steel", .retries = 1}, 7, material{"iron", 7.9}, manta::async<twice>(21),
                                     manta::async<numbers>(100'000), few);
  manta::async<passes_at_last>({.retries = 1}, 1).get();
  const auto valve = manta::spawn<gauge>();
  manta::async<&gauge::read>(valve).wait();
  const auto unkept = manta::async<takes_future>(manta::async<twice>(1));
  unkept.wait();
  try {
    (void)unkept.get();
  } catch (const manta::task_failed&) {
  }
  try {
    (void)f.get();
  } catch (const manta::task_failed& e) {
    return std::string(e.what()).find("no convergence") != std::string::npos ? 0 : 2;
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  return manta::run(argc, argv, [&] {
    if (mode == "fails") return fails();
    if (mode == "hangs") return manta::async<hangs>(5).get();
    if (mode == "crashes") return manta::async<crashes>({.isolate = true}, 6).get();
    return 3;
  });
}
