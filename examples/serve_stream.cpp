// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Answers in parts: a simulation that is asked for by HTTP sends each of its steps when it is there, as lines of JSON
// or as server-sent events.
//
//   scripts/run serve_stream -n 2 -- 8000
//   curl -N -d '{"position": 1, "steps": 5}' localhost:8000/oscillate
//   curl -N -H 'Accept: text/event-stream' -d '{"position": 1, "steps": 5}' localhost:8000/oscillate
//
// With `check` it asks itself. Expected output (5 lines, then the same as events):
//   {"time":0.1,"position":0.99,"velocity":-0.1}
//   ...
#include <manta/manta.hpp>
#include <manta/serve.hpp>
#include <manta/serve/http.hpp>

#include <algorithm>
#include <iostream>
#include <string>

#include "serve_check.hpp"

// [stream]
struct state {
  double time = 0, position = 0, velocity = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(time), CEREAL_NVP(position), CEREAL_NVP(velocity));
  }
};

manta::generator<state> oscillate(double position, int steps) {
  state s{0, position, 0};
  for (int i = 1; i <= steps; ++i) {
    s.velocity -= .1 * s.position;
    s.position += .1 * s.velocity;
    s.time = .1 * i;
    co_yield s;  // goes to the client while the next step is computed
  }
}
// [end]

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "8000";
  return manta::run(argc, argv, [&] {
    manta::serve::http http({.port = what == "check" ? 0 : std::stoi(what)});
    http.route<oscillate>("/oscillate", {.inputs = {"position", "steps"}});
    if (what != "check") return http.run(), 0;
    if (!has_program("curl")) return 0;
    const std::string ask = "curl -sN --max-time 20 " + http.url() + R"(/oscillate -d '{"position": 1, "steps": 5}')";
    const std::string lines = output_beside(http, ask),
                      events = output_beside(http, ask + " -H 'Accept: text/event-stream'");
    std::cout << lines << events;
    double last = 0;
    int count = 0;
    for (auto s = manta::async<oscillate>(1., 5); auto next = s.next(); ++count)
      last = next->get().position;  // the same steps, by a handle
    std::size_t found = 0;
    for (std::size_t at = 0; (at = events.find("data: {\"time\":", at)) != std::string::npos; ++at) ++found;
    return count == 5 && last < 1 && found == 5 && std::count(lines.begin(), lines.end(), '\n') == 5 &&
                   lines.starts_with("{\"time\":0.1,\"position\":0.99,")
               ? 0
               : 1;
  });
}
