// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Errors: an exception in a task arrives where its value is asked for, and says
// what failed where. Own exception types arrive as themselves, and a program
// whose tasks all wait for each other is told so. 04_errors.md walks through it.
//
//   scripts/run 04_errors -n 4        or        manta-run -n 4 ./04_errors
//
// Expected output (rank and host vary):
//   manta: task 'solve' failed on rank 1 (node17) with std::runtime_error: no convergence for 3; not run because of it:
//   'twice' the function 'solve' threw std::runtime_error on rank 1 4 of 5 solved the mesh has a hole at 7 nobody
//   completes this promise
#include <manta/manta.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

// [throw]
double solve(int parameter) {
  if (parameter == 3) throw std::runtime_error("no convergence for 3");
  return 0.5 * parameter;
}
double twice(double x) { return 2 * x; }
// [end]

// [own]
struct bad_mesh : std::exception {
  int at = 0;
  const char* what() const noexcept override { return "the mesh has a hole"; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(at);
  }
};
// [end]

int check_mesh(int size) {
  bad_mesh hole;
  hole.at = size;
  if (size > 5) throw hole;
  return size;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    std::string what;
    // [catch]
    auto x = manta::async<solve>(3);
    auto y = manta::async<twice>(x);  // does not run, and fails with the same cause
    try {
      y.get();
    } catch (const manta::task_failed& e) {
      std::puts(e.what());
      std::printf("the function '%s' threw %s on rank %d\n", e.details().function.c_str(), e.details().type.c_str(),
                  e.details().rank);
      what = e.details().what;
    }
    // [end]
    bool right = what == "no convergence for 3";

    // [many]
    std::vector<manta::future<double>> all;
    for (int parameter = 1; parameter <= 5; ++parameter) all.push_back(manta::async<solve>(parameter));
    int solved = 0;
    for (const auto& f : manta::as_completed(all)) {  // failed ones too, each as it ends
      try {
        f.get();
        ++solved;
      } catch (const manta::task_failed&) {
      }
    }
    std::printf("%d of %zu solved\n", solved, all.size());
    // [end]
    right = right && solved == 4;

    // [rethrow]
    manta::rethrow_as<bad_mesh>();  // anywhere in the program: it holds on all ranks
    try {
      manta::async<check_mesh>(7).get();
    } catch (const bad_mesh& hole) {
      std::printf("%s at %d\n", hole.what(), hole.at);
    }
    // [end]

    bool noticed = false;
    // [deadlock]
    manta::promise<int> never;
    try {
      never.get_future().get();
    } catch (const manta::deadlock&) {
      std::puts("nobody completes this promise");
      noticed = true;
    }
    // [end]
    never.set_value(0);
    return right && noticed ? 0 : 1;
  });
}
