// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How fast a search is beside one written by hand, and how well alpha_zero plays after some minutes.
//
//   bench_rl_games_manta [repetitions]
//
//     rl_search        thousands of moves of Connect-4 a second on one core: 25 simulations each, a network of 64 and 64,
//                      32 games beside each other
//     rl_search_ratio  to the search by hand, which has no seats, no table and no checks; the median of pairs
//
//   bench_rl_games_manta tictactoe SEED            250 iterations; a row of the table of README.md
//   bench_rl_games_manta connect4 SEED SECONDS     likewise, after as many seconds of training
#include <manta/rl/alpha_zero.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "../common/measure.hpp"

namespace nn = manta::nn;
namespace rl = manta::rl;

namespace {

constexpr int games = 32, simulations = 25, moves = 16;
constexpr double exploration = 2;

nn::network<float> some_network() {
  return rl::detail::make_network(rl::planes_of(2, 6, 7), {.hidden = {64, 64}},
                                  {.outputs = 8, .last = 0.5, .relu = true}, 1);
}

struct run {
  double seconds = 0;
  std::uint64_t sum = 0;  // of the visits of the first columns, so that both are known to have done the same
};

run by_manta(const nn::network<float>& net) {
  rl::planner p("Connect4", net, {.simulations = simulations, .exploration = exploration});
  std::vector<rl::live_game> all(games, rl::live_game("Connect4"));
  for (rl::live_game& g : all) g.begin(rl::random(1));
  for (int i = 0; i < games; ++i) all[static_cast<std::size_t>(i)].play(i % 7);
  std::vector<const rl::live_game*> positions;
  for (const rl::live_game& g : all) positions.push_back(&g);
  const std::vector<rl::random> numbers(games);
  run r;
  const bench::stopwatch w;
  for (int m = 0; m < moves; ++m) {
    const std::vector<rl::searched> found = p.search(positions, numbers);
    for (std::size_t i = 0; i < games; ++i) {
      r.sum += static_cast<std::uint64_t>(found[i].visits[0]);
      if (found[i].is_proven) continue;  // it stays where it is, in both
      all[i].play(found[i].best);
    }
  }
  r.seconds = w.seconds();
  return r;
}

// ---- by hand ------------------------------------------------------------------------------------

struct board {
  std::array<std::uint64_t, 2> pieces{};
  int turn = 0;
  [[nodiscard]] std::uint64_t all() const { return pieces[0] | pieces[1]; }
  [[nodiscard]] bool is_open(int c) const { return ((all() >> static_cast<unsigned>(7 * c + 5)) & 1U) == 0; }
  /// 1: who moves has won; 0: the board is full; -1: the game goes on.
  int move(int c) {
    const auto shift = static_cast<unsigned>(7 * c);
    std::uint64_t& mine = pieces[static_cast<std::size_t>(turn)];
    mine |= (all() + (std::uint64_t(1) << shift)) & (std::uint64_t(0x3f) << shift) & ~all();
    for (const unsigned s : {1U, 7U, 6U, 8U}) {
      const std::uint64_t m = mine & (mine >> s);
      if ((m & (m >> (2 * s))) != 0) return 1;
    }
    if (all() == 0xfdfbf7efdfbfULL) return 0;
    turn = 1 - turn;
    return -1;
  }
  void write(float* to) const {
    const std::uint64_t mine = pieces[static_cast<std::size_t>(turn)], its = pieces[static_cast<std::size_t>(1 - turn)];
    for (unsigned r = 0; r < 6; ++r) {
      for (unsigned c = 0; c < 7; ++c) {
        const unsigned bit = 7 * c + 5 - r;
        *to = static_cast<float>((mine >> bit) & 1U);
        to[42] = static_cast<float>((its >> bit) & 1U);
        ++to;
      }
    }
  }
};

struct plain_node {
  int parent = -1, action = 0, first = -1, count = 0, visits = 0;
  float prior = 1, proven = 0;
  bool is_proven = false;
  double sum = 0;  // for seat 0
  board b;
};

struct plain_tree {
  std::vector<plain_node> nodes;
  int leaf = 0, made = 0;

  static double value(const plain_node& n, int seat, double otherwise) {
    const double sign = seat == 0 ? 1 : -1;
    return n.is_proven ? sign * static_cast<double>(n.proven) : n.visits > 0 ? sign * n.sum / n.visits : otherwise;
  }
  void begin(const board& b) {
    nodes.assign(1, plain_node());
    nodes[0].b = b;
    leaf = made = 0;
  }
  int choose(const plain_node& n) const {
    const double factor = exploration * std::sqrt(static_cast<double>(n.visits)), unknown = value(n, n.b.turn, 0);
    int best = n.first;
    double highest = -1e300;
    for (int c = n.first; c < n.first + n.count; ++c) {
      const plain_node& k = nodes[static_cast<std::size_t>(c)];
      const double v = value(k, n.b.turn, unknown);
      if (k.is_proven && v <= -1) continue;
      const double score = v + factor * static_cast<double>(k.prior) / (1 + k.visits);
      if (score > highest) highest = score, best = c;
    }
    return best;
  }
  bool advance() {
    if (nodes[0].visits == 0) return true;
    while (made < simulations && !nodes[0].is_proven) {
      int at = 0;
      while (nodes[static_cast<std::size_t>(at)].count > 0 && !nodes[static_cast<std::size_t>(at)].is_proven)
        at = choose(nodes[static_cast<std::size_t>(at)]);
      ++made;
      plain_node& n = nodes[static_cast<std::size_t>(at)];
      if (!n.is_proven) {
        n.b = nodes[static_cast<std::size_t>(n.parent)].b;
        const int result = n.b.move(n.action);
        if (result < 0) {
          leaf = at;
          return true;
        }
        n.is_proven = true;
        n.proven = result == 0 ? 0.F : n.b.turn == 0 ? 1.F : -1.F;
      }
      back_up(at, static_cast<double>(n.proven));
    }
    return false;
  }
  void take(const float* y) {
    const int first = static_cast<int>(nodes.size());
    const board b = nodes[static_cast<std::size_t>(leaf)].b;
    float highest = -1e30F, sum = 0;
    for (int c = 0; c < 7; ++c) {
      if (b.is_open(c)) highest = std::max(highest, y[c]);
    }
    for (int c = 0; c < 7; ++c) {
      if (!b.is_open(c)) continue;
      plain_node k;
      k.parent = leaf;
      k.action = c;
      k.prior = std::exp(y[c] - highest);
      sum += k.prior;
      nodes.push_back(k);
    }
    plain_node& n = nodes[static_cast<std::size_t>(leaf)];
    n.first = first;
    n.count = static_cast<int>(nodes.size()) - first;
    double best = -2;
    bool all = true;
    for (int c = first; c < first + n.count; ++c) {
      plain_node& k = nodes[static_cast<std::size_t>(c)];
      k.prior /= sum;
      board next = b;
      const int result = next.move(k.action);
      if (result >= 0) {
        k.is_proven = true;
        k.proven = result == 0 ? 0.F : b.turn == 0 ? 1.F : -1.F;
        best = std::max(best, value(k, b.turn, 0));
      }
      all = all && k.is_proven;
    }
    n.is_proven = all || best >= 1;
    if (n.is_proven) n.proven = static_cast<float>(b.turn == 0 ? best : -best);
    const double v = std::tanh(static_cast<double>(y[7]));
    back_up(leaf, b.turn == 0 ? v : -v);
  }
  void back_up(int from, double v) {
    bool proves = nodes[static_cast<std::size_t>(from)].is_proven;
    for (int at = from; at >= 0; at = nodes[static_cast<std::size_t>(at)].parent) {
      plain_node& n = nodes[static_cast<std::size_t>(at)];
      ++n.visits;
      if (at != from && proves) {
        double best = -2;
        bool all = true;
        for (int c = n.first; c < n.first + n.count; ++c) {
          const plain_node& k = nodes[static_cast<std::size_t>(c)];
          if (k.is_proven) best = std::max(best, value(k, n.b.turn, 0));
          all = all && k.is_proven;
        }
        proves = n.is_proven = all || best >= 1;
        if (proves) n.proven = static_cast<float>(n.b.turn == 0 ? best : -best);
      }
      if (proves) v = static_cast<double>(n.proven);
      n.sum += v;
    }
  }
};

run by_hand(const nn::network<float>& shared) {
  nn::network<float> net = shared;
  std::array<plain_tree, games> trees;
  std::array<board, games> boards;
  for (int i = 0; i < games; ++i) boards[static_cast<std::size_t>(i)].move(i % 7);
  nn::matrix<float> x(84, games);
  run r;
  const bench::stopwatch w;
  for (int m = 0; m < moves; ++m) {
    std::vector<std::size_t> running, waiting;
    for (std::size_t i = 0; i < games; ++i) {
      trees[i].begin(boards[i]);
      running.push_back(i);
    }
    while (!running.empty()) {
      waiting.clear();
      for (const std::size_t i : running) {
        if (!trees[i].advance()) continue;
        trees[i].nodes[static_cast<std::size_t>(trees[i].leaf)].b.write(
            x.col(static_cast<Eigen::Index>(waiting.size())).data());
        waiting.push_back(i);
      }
      const nn::matrix<float>& y = net.forward(x);
      for (std::size_t k = 0; k < waiting.size(); ++k)
        trees[waiting[k]].take(y.col(static_cast<Eigen::Index>(k)).data());
      running.swap(waiting);
    }
    for (std::size_t i = 0; i < games; ++i) {
      const std::vector<plain_node>& nodes = trees[i].nodes;
      int best = nodes[0].first;
      double most = -1;
      for (int c = nodes[0].first; c < nodes[0].first + nodes[0].count; ++c) {
        const plain_node& k = nodes[static_cast<std::size_t>(c)];
        if (k.action == 0) r.sum += static_cast<std::uint64_t>(k.visits);
        const bool loses = k.is_proven && plain_tree::value(k, nodes[0].b.turn, 0) <= -1;
        const double score = k.visits + static_cast<double>(k.prior) / 2 + (loses ? 0 : simulations + 1);
        if (score > most) most = score, best = c;
      }
      if (!nodes[0].is_proven) boards[i].move(nodes[static_cast<std::size_t>(best)].action);
    }
  }
  r.seconds = w.seconds();
  return r;
}

int measure_speed(int argc, char** argv) {
  const nn::network<float> net = some_network();
  std::vector<double> rates, ratios;
  for (int i = 0; i <= bench::repetitions(argc, argv); ++i) {
    const run a = by_manta(net), b = by_hand(net);
    if (a.sum != b.sum) return bench::failed("rl_search", "the search by hand has found something else");
    if (i == 0) continue;  // warm-up
    rates.push_back(games * moves / a.seconds / 1000);
    ratios.push_back(b.seconds / a.seconds);
  }
  std::ranges::sort(ratios);
  for (const double rate : rates) bench::report("rl_search", "manta", rate, "k/s");
  bench::report("rl_search_ratio", "manta", ratios[ratios.size() / 2], "x");
  return 0;
}

// ---- how well it plays --------------------------------------------------------------------------

/// Draws among the moves of tic-tac-toe that are best if both play on without mistakes.
struct perfect : rl::seat_player {
  static int value(const rl::live_game& g) {  // for the seat that acts
    static std::map<std::string, int> known;
    const std::string key = g.text();
    if (const auto found = known.find(key); found != known.end()) return found->second;
    int best = -1;
    for (const int v : values(g)) best = std::max(best, v);
    return known[key] = best;
  }
  /// Of each move; -2: it is not allowed.
  static std::array<int, 9> values(const rl::live_game& g) {
    std::array<int, 9> all;
    const int seat = g.mover();
    for (int a = 0; a < 9; ++a) {
      all[static_cast<std::size_t>(a)] = -2;
      if (g.mask(seat)[static_cast<std::size_t>(a)] == 0) continue;
      rl::live_game next = g;
      next.play(a);
      all[static_cast<std::size_t>(a)] = next.is_over() ? static_cast<int>(next.total(seat)) : -value(next);
    }
    return all;
  }
  void act(const rl::live_game& now, int, rl::random& numbers, std::span<float> action) override {
    const std::array<int, 9> all = values(now);
    const int best = *std::ranges::max_element(all);
    std::vector<int> good;
    for (int a = 0; a < 9; ++a) {
      if (all[static_cast<std::size_t>(a)] == best) good.push_back(a);
    }
    action[0] = static_cast<float>(good[static_cast<std::size_t>(numbers.index(static_cast<int>(good.size())))]);
  }
};

int judge_tic_tac_toe(std::uint64_t seed) {
  const bench::stopwatch w;
  rl::alpha_zero a("TicTacToe", {.workers = 2, .seed = seed});
  for (int i = 0; i < 250; ++i) (void)a.train();
  const double seconds = w.seconds();
  const rl::planner p = a.trained(25);
  const rl::match best = rl::play("TicTacToe", p, rl::own<perfect>(), 500, {.seed = 1}),
                  chance = rl::play("TicTacToe", p, {}, 500, {.seed = 2});
  std::printf(
      "tictactoe, seed %llu, %.0f s: lost %d of 500 games against a perfect player, won %d of 500 against chance\n",
      static_cast<unsigned long long>(seed), seconds, best.lost, chance.won);
  return best.lost == 0 && chance.won >= 450 ? 0 : 1;
}

/// Whether the seat that acts can force a win with at most this many of its own moves.
bool can_force(const rl::live_game& g, int own_moves) {
  const int me = g.mover();
  for (int a = 0; a < 7; ++a) {
    if (g.mask(me)[static_cast<std::size_t>(a)] == 0) continue;
    rl::live_game next = g;
    next.play(a);
    if (next.is_over()) {
      if (next.total(me) > 0) return true;
      continue;
    }
    if (own_moves == 1) continue;
    bool holds = true;
    for (int b = 0; b < 7 && holds; ++b) {
      if (next.mask(1 - me)[static_cast<std::size_t>(b)] == 0) continue;
      rl::live_game later = next;
      later.play(b);
      holds = !later.is_over() && can_force(later, own_moves - 1);
    }
    if (holds) return true;
  }
  return false;
}

/// Positions of games by chance in which who acts can win by force in one or in two moves of its own.
std::vector<rl::live_game> forced_wins(int count) {
  std::vector<rl::live_game> found;
  for (std::uint64_t n = 0; std::ssize(found) < count; ++n) {
    rl::random numbers(2026, n);
    rl::live_game g("Connect4");
    g.begin(rl::random());
    for (int length = 6 + numbers.index(20); length > 0 && !g.is_over(); --length)
      g.play(rl::detail::pick(g.mask(g.mover()), numbers));
    if (g.is_over()) continue;
    const bool wants_two = std::ssize(found) % 4 != 0;  // three of four
    if (can_force(g, wants_two ? 2 : 1) && !(wants_two && can_force(g, 1))) found.push_back(std::move(g));
  }
  return found;
}

/// How many are played so that the win is still forced, in as few moves or by what the search has proven.
int wins_found(rl::planner p) {
  int count = 0;
  for (rl::live_game& g : forced_wins(200)) {
    const int me = g.mover();
    const rl::searched found = p.search(g);
    g.play(found.best);
    bool holds = (found.is_proven && found.value == 1) || (g.is_over() && g.total(me) > 0);
    if (!holds && !g.is_over()) {
      holds = true;
      for (int b = 0; b < 7 && holds; ++b) {
        if (g.mask(1 - me)[static_cast<std::size_t>(b)] == 0) continue;
        rl::live_game later = g;
        later.play(b);
        holds = !later.is_over() && can_force(later, 1);
      }
    }
    count += holds;
  }
  return count;
}

int judge_connect_four(std::uint64_t seed, double seconds) {
  const bench::stopwatch w;
  rl::alpha_zero a(
      "Connect4",
      {.workers = 2, .seed = seed, .simulations = 50, .replay_size = 100'000, .model = {.hidden = {128, 128}}});
  rl::report r;
  double next = 60;
  while (w.seconds() < seconds) {
    r = a.train();
    if (w.seconds() < next) continue;
    next += 60;
    std::cerr << r << ", " << w.seconds() << " s\n";
  }
  const int found = wins_found(a.trained(200));
  const rl::match m = rl::play("Connect4", a.trained(100),
                               rl::planner("Connect4", {.simulations = 400, .rollouts = true}), 200, {.seed = 1});
  std::printf(
      "connect4, seed %llu, %.0f s, %llu games: %d of 200 forced wins found by 200 simulations; with 100, against "
      "400 with rollouts: %d won, %d drawn, %d lost\n",
      static_cast<unsigned long long>(seed), seconds, static_cast<unsigned long long>(r.episodes), found, m.won,
      m.drawn, m.lost);
  a.trained().save("connect4-" + std::to_string(seed) + ".policy");
  return found == 200 && m.score() >= 0.8 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const auto seed = static_cast<std::uint64_t>(argc > 2 ? std::atoi(argv[2]) : 1);
  if (what == "tictactoe") return manta::run(argc, argv, [&] { return judge_tic_tac_toe(seed); });
  if (what == "connect4")
    return manta::run(argc, argv, [&] { return judge_connect_four(seed, argc > 3 ? std::atof(argv[3]) : 900); });
  return measure_speed(argc, argv);
}
