// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Functions behind HTTP: the smallest server, and the forms that parameters and results have. `examples/serve_double 8000` serves until
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

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

int twice(int x) { return 2 * x; }
double add(double a, double b) { return a + b; }

manta::generator<int> count(int n) {
  for (int i = 0; i < n; ++i) co_yield i;
}

/// Runs on a thread of its own beside the server: the output of a shell command.
struct shell {
  std::string command, output;
  static void* run(void* self) {
    auto& mine = *static_cast<shell*>(self);
    char part[256];
    std::FILE* const pipe = ::popen(mine.command.c_str(), "r");
    while (pipe != nullptr && std::fgets(part, sizeof part, pipe) != nullptr) mine.output += part;
    if (pipe != nullptr) ::pclose(pipe);
    return nullptr;
  }
};

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
    shell all{curl + "-d 21 " + url + "/double; echo; " + curl + "-d '{\"a\":1,\"b\":2.5}' " + url + "/add; echo; " + curl + "-N -d 3 " + url +
                  "/count; " + curl + "-d '\"x\"' " + url + "/double",
              ""};
    pthread_t thread;
    bool done = false;
    if (::pthread_create(&thread, nullptr, &shell::run, &all) != 0) return 1;
    while (!done) {
      http.run_for(std::chrono::milliseconds(50));
      done = ::pthread_tryjoin_np(thread, nullptr) == 0;
    }
    std::cout << all.output << '\n';
    const bool right = all.output ==
                       "42\n3.5\n0\n1\n2\n{\"error\":\"the body: expected an integer from -2147483648 to 2147483647, not the text \\\"x\\\"\"}";
    return std::system("command -v curl > /dev/null") != 0 || right ? 0 : 1;
  });
}
