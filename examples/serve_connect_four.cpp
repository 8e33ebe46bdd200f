// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Connect-4 against AlphaZero, in the terminal or over HTTP.
//
//   scripts/run serve_connect_four -n 2 -- train 300       learns for five minutes: connect_four.policy
//   scripts/run serve_connect_four -- play                 you begin; type a column, 0 to 6
//   scripts/run serve_connect_four -- 8000                 serves until Ctrl-C or SIGTERM
//
//   curl -d '[3, 3, 2]' localhost:8000/move                the answer to these moves: a column
//
// `examples/serve_connect_four check` trains for a moment, asks itself for a move, and ends: how the test suite runs it.
//
// Expected output of check:
//   after 0 1 0 1 0 1 column 0 wins, and the answer is 0
#include <manta/rl/alpha_zero.hpp>
#include <manta/serve.hpp>
#include <manta/serve/http.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <vector>

namespace rl = manta::rl;
namespace serve = manta::serve;

namespace {

constexpr const char* file = "connect_four.policy";

/// A search by the network of a training.
rl::planner searcher(const rl::trained_policy& p, int simulations) {
  return {"Connect4", p.network(), {.simulations = simulations}};
}

// [learn]
rl::trained_policy learn(double seconds) {
  rl::alpha_zero algorithm("Connect4", {.workers = manta::size(), .seed = 1, .simulations = 50});
  const auto begin = std::chrono::steady_clock::now();
  do {
    std::cerr << algorithm.train() << '\n';
  } while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds);
  return algorithm.trained();
}
// [end]

int play_in_terminal(rl::planner p) {
  // [person]
  rl::live_game g("Connect4");
  g.begin(rl::random());
  while (!g.is_over()) {
    std::cout << g.text();
    int column = -1;
    if (g.mover() == 1) {
      column = p.act(g);
    } else if (!(std::cin >> column)) {
      return 0;
    }
    if (column < 0 || column > 6 || g.mask(g.mover())[static_cast<std::size_t>(column)] == 0) continue;
    g.play(column);
  }
  // [end]
  std::cout << g.text() << (g.total(0) > 0 ? "you have won\n" : g.total(0) < 0 ? "you have lost\n" : "a draw\n");
  return 0;
}

int answer_over_http(const rl::planner& p, const std::string& port) {
  // [serve]
  auto moves = serve::deploy<serve::batched<&rl::planner::answer>>({.name = "connect_four", .max_batch = 32}, p);
  if (port == "check") {
    const int best = moves(std::vector<int>{0, 1, 0, 1, 0, 1}).get();  // a handle, for programs
    std::cout << "after 0 1 0 1 0 1 column 0 wins, and the answer is " << best << '\n';
    return best == 0 ? 0 : 1;
  }
  serve::http http({.port = std::stoi(port)});
  http.route("/move", moves);
  http.run();
  // [end]
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "play";
  return manta::run(argc, argv, [&] {
    if (what == "check") return answer_over_http(searcher(learn(0), 50), what);
    if (what == "train") {
      learn(argc > 2 ? std::stod(argv[2]) : 300).save(file);
      return 0;
    }
    const rl::planner p = searcher(rl::load_policy(file), 400);
    return what == "play" ? play_in_terminal(p) : answer_over_http(p, what);
  });
}
