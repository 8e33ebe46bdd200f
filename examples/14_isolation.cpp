// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A library that crashes for some inputs, and hangs for others: with isolate each
// call runs in a child process of its rank, and what goes wrong there is an
// exception. The sweep goes on, and an actor comes back from its checkpoint.
// 14_isolation.md walks through it.
//
//   scripts/run 14_isolation -n 4        or        manta-run -n 4 ./14_isolation
//
// Expected output:
//   16 cases: 13 right, 2 crashed, 1 left; one without end was ended
//   the model has taken 8 steps and crashed twice
//   a program has sorted two numbers: 9
//   10
#include <manta/manta.hpp>
#include <manta/program.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

// [legacy]
/// Somebody else's code.
int legacy_square(int x) {
  if (x % 7 == 6) std::abort();
  if (x == 11) std::exit(3);
  for (volatile bool lost = x == 100; lost;) {
  }
  return x * x;
}
// [end]

// [model]
class model {
 public:
  int step() { return ++steps_; }
  void step_badly() {
    steps_ = -1000;
    std::abort();
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(steps_);
  }

 private:
  int steps_ = 0;
};
// [end]

// [why]
/// Signal or exit, the sizes of the arguments, where in the code; empty if it went well.
template <class T>
std::string why_not(const manta::future<T>& f) {
  try {
    f.get();
    return {};
  } catch (const manta::task_failed& e) {
    return e.details().what;
  }
}
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [sweep]
    std::vector<manta::future<int>> squares;
    for (int x = 0; x < 16; ++x) squares.push_back(manta::async<legacy_square>({.isolate = true}, x));
    // [end]
    int right = 0;
    for (int x = 0; x < 16; ++x) right += why_not(squares[static_cast<std::size_t>(x)]).empty();
    const auto count = [&squares](const char* text) {
      return std::count_if(squares.begin(), squares.end(),
                           [text](const auto& f) { return why_not(f).find(text) != std::string::npos; });
    };
    // [endless]
    const auto endless =
        manta::async<legacy_square>({.deadline = std::chrono::milliseconds(300), .isolate = true}, 100);
    const bool ended = why_not(endless).find("its deadline was over") != std::string::npos;
    // [end]
    std::printf("16 cases: %d right, %d crashed, %d left; one without end %s\n", right,
                static_cast<int>(count("SIGABRT")), static_cast<int>(count("exit(3)")), ended ? "was ended" : "?");

    // [spawn]
    const auto m = manta::spawn<model>({.restarts = 2, .checkpoint_every = 3, .isolate = true});
    int steps = 0;
    for (int i = 0; i < 8; ++i) {
      if (i % 4 == 1) (void)why_not(manta::async<&model::step_badly>(m));
      steps = manta::async<&model::step>(m).get();
    }
    // [end]
    std::printf("the model has taken %d steps and crashed twice\n", steps);

    const auto sorted = manta::async([] {
      // [program]
      const manta::program_result r =
          manta::run_program({"sort", "-n"}, {.input = "10\n9\n", .timeout = std::chrono::minutes(1)});
      // [end]
      return r ? r.output : r.text();
    });
    std::printf("a program has sorted two numbers: %s", sorted.get().c_str());
    const bool all = right == 13 && count("SIGABRT") == 2 && count("exit(3)") == 1 && ended && steps == 8;
    return all && sorted.get() == "9\n10\n" ? 0 : 1;
  });
}
