// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A run with a dashboard, for dashboard_test.py, which makes the file of the first argument when the run is to end.
#include <unistd.h>

#include <chrono>
#include <manta/dashboard.hpp>
#include <manta/manta.hpp>
#include <manta/run_viewer.hpp>
#include <string>
#include <thread>

namespace mesh {

/// Calls nothing of manta until the file is there.
[[gnu::noinline]] int wait_for_file(const std::string& file) {
  while (::access(file.c_str(), F_OK) != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return 1;
}
[[gnu::noinline]] int refine(const std::string& file) { return wait_for_file(file); }
int next(int n) { return n + 1; }

}  // namespace mesh

bool is_shown_already() {
  try {
    const manta::run_viewer another;
    return false;
  } catch (const manta::error&) {
    return true;
  }
}

int main(int argc, char** argv) {
  const std::string file = argc > 1 ? argv[1] : "";
  const std::string token = argc > 2 ? argv[2] : "";
  return manta::run(argc, argv, [&] {
    const manta::dashboard page({.token = token});
    if (!is_shown_already()) return 2;
    if (manta::size() == 1) return manta::async<mesh::refine>({.name = "mesh 17"}, file).get() - 1;
    const auto slow = manta::async<mesh::refine>({.name = "mesh 17"}, file);
    int sum = 0;
    while (!slow.ready()) {
      sum += manta::async<mesh::next>(sum).get() - sum;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return slow.get() - 1;
  });
}
