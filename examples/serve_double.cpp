// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A function behind HTTP. `serve_double` serves until Ctrl-C or SIGTERM:
//
//   examples/serve_double 8000 &
//   curl -d 21 localhost:8000/double          prints 42
//   curl -N -d 5 localhost:8000/count         prints 0 to 4, each when it is there
#include <manta/manta.hpp>
#include <manta/serve/http.hpp>

#include <cstdlib>

// snippet: double
int twice(int x) { return 2 * x; }
double add(double a, double b) { return a + b; }

manta::generator<int> count(int n) {
  for (int i = 0; i < n; ++i) co_yield i;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [&] {
    manta::serve::http http({.port = argc > 1 ? std::atoi(argv[1]) : 8000});
    http.route<twice>("/double");
    http.route<add>("/add", {.inputs = {"a", "b"}});
    http.route<count>("/count");
    http.run();
  });
}
// end
