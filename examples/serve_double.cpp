// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Functions behind HTTP: the smallest server, and the forms that parameters and results have. `scripts/run serve_double -- 8000` serves until
// Ctrl-C or SIGTERM:
//
//   curl -d 21 localhost:8000/double                       prints 42
//   curl -d '{"a": 1, "b": 2.5}' localhost:8000/add        prints 3.5; -d '[1, 2.5]' too
//   curl -N -d 3 localhost:8000/count                      prints 0, 1, 2, each when it is there
//
// `examples/serve_double check` asks itself by curl, compares the answers, and ends: how the test suite runs it.
#include <manta/manta.hpp>
#include <manta/serve.hpp>
#include <manta/serve/http.hpp>

#include <iostream>
#include <string>

#include "serve_check.hpp"

int twice(int x) { return 2 * x; }
double add(double a, double b) { return a + b; }

manta::generator<int> count(int n) {
  for (int i = 0; i < n; ++i) co_yield i;
}

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "8000";
  return manta::run(argc, argv, [&] {
    const bool check = what == "check";
    // [double]
    auto doubled = manta::serve::deploy<twice>({.name = "double", .replicas = 2});
    manta::serve::http http({.port = check ? 0 : std::stoi(what)});
    http.route("/double", doubled);
    http.route<add>("/add", {.inputs = {"a", "b"}});  // each request is a task
    http.route<count>("/count");                      // a line for each value
    if (!check) return http.run(), 0;
    // [end]
    const std::string curl = "curl -s --max-time 20 ", url = http.url();
    const std::string answers = output_beside(
        http, curl + "-d 21 " + url + "/double; echo; " + curl + "-d '{\"a\":1,\"b\":2.5}' " + url + "/add; echo; " +
                  curl + "-N -d 3 " + url + "/count; " + curl + "-d '\"x\"' " + url + "/double");
    std::cout << answers << '\n';
    const bool right =
        answers ==
        "42\n3.5\n0\n1\n2\n{\"error\":\"the body: expected an integer from -2147483648 to 2147483647, not the text \\\"x\\\"\"}";
    return !has_program("curl") || right ? 0 : 1;
  });
}
