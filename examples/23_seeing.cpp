// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A study whose tasks take different times, one of them much longer than the others.
// What manta has counted is read by the program itself, and written for people.
// 23_seeing.md walks through it.
//
//   MANTA_SUMMARY=1 MANTA_REPORT=report.html scripts/run 23_seeing -n 4
//
// Expected output, with other times:
//   120 tasks of solve, the longest ("mesh 17") took 0.5 s
//   the assembly took 0.1 s
#include <manta/manta.hpp>
#include <manta/statistics.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

/// Stands for a solver: larger meshes take longer.
double solve(int cells) {
  std::this_thread::sleep_for(std::chrono::milliseconds(cells));
  return 1.0 / cells;
}

double sum(const std::vector<double>& parts) {
  double all = 0;
  for (const double part : parts) all += part;
  return all;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    std::vector<manta::future<double>> solutions;
    for (int mesh = 0; mesh < 120; ++mesh) {
      const int cells = mesh == 17 ? 500 : 5 + mesh % 20;
      solutions.push_back(manta::async<&solve>({.name = "mesh " + std::to_string(mesh)}, cells));
    }
    const std::vector<double> parts = manta::get(solutions);

    // [phase]
    {
      const manta::phase assembly("assembly");  // until the end of this block
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      manta::async<&sum>(parts).get();
    }
    // [end]

    // [statistics]
    const manta::statistics now = manta::statistics_now();
    const manta::function_statistics& slowest = now.functions[0];  // most seconds first
    const manta::long_task& longest = slowest.longest[0];
    std::printf("%llu tasks of %s, the longest (\"%s\") took %.1f s\n", static_cast<unsigned long long>(slowest.tasks),
                slowest.name.c_str(), longest.name.c_str(), longest.seconds);
    const manta::phase_statistics& assembly = now.phases[0];
    std::printf("the %s took %.1f s\n", assembly.name.c_str(), assembly.end - assembly.begin);
    // [end]
    return slowest.tasks == 120 && longest.name == "mesh 17" ? 0 : 1;
  });
}
