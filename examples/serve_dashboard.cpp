// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A study that can be watched in a browser while it runs: it prints the address of a page, where a click on a task
// shows in which functions it is. 23_seeing.md walks through it.
//
//   scripts/run serve_dashboard -n 4 60      for 60 seconds
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <manta/dashboard.hpp>
#include <manta/manta.hpp>

double solve(int mesh, double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  return mesh;
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.2;
  return manta::run(argc, argv, [&] {
    // [dashboard]
    const manta::dashboard page;  // in the driver; prints "manta: dashboard at http://127.0.0.1:43817/?token=.."
    // [end]
    std::vector<manta::future<double>> meshes;
    for (int i = 0; i < 10; ++i) {
      meshes.push_back(manta::async<solve>({.name = "mesh " + std::to_string(i)}, i, seconds / 10));
    }
    double sum = 0;
    for (const double each : manta::get(meshes)) sum += each;
    std::printf("the sum is %g\n", sum);
    return sum == 45 && page.port() > 0 ? 0 : 1;
  });
}
