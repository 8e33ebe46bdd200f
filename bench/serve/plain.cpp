// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A server for beside.py: its own answer, and one through a replica, without log and request ids.
//
//   bench_serve_plain PORT
//   POST /own       the server's own answer
//   POST /replica   through a deployment's replica: on this rank in a world of one, else on another one
//   POST /stream    values of a deployed generator, as many as the body says
#include <manta/manta.hpp>
#include <manta/serve.hpp>
#include <manta/serve/http.hpp>

#include <string>

namespace {
int same(int x) { return x; }
manta::generator<int> count(int n) {
  for (int i = 0; i < n; ++i) co_yield i;
}
}  // namespace

int main(int argc, char** argv) {
  const int port = argc > 1 ? std::stoi(argv[1]) : 8000;
  return manta::run(argc, argv, [port] {
    namespace serve = manta::serve;
    serve::http http({.port = port, .request_ids = false});
    const int zero = port - port;
    http.route("/own", [zero](int x) { return x + zero; });
    http.route("/replica", serve::deploy<same>({.name = "same", .max_queue = 10'000}));
    http.route("/stream", serve::deploy<count>({.name = "count"}));
    http.run();
  });
}
